package server_test

import (
	"testing"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema"
)

func TestRobotWithReservedNameIsRefused(t *testing.T) {
	ca := brokertest.NewCA(t)
	b := brokertest.Start(t, usersOf(ca, "op7 operator "+someHash+"\nhall-fleetd fleetd\nr3 robot\n"), ca.Configure)
	for name, want := range map[string]byte{"fleetd": 5, "fleetd-b": 5, "admin": 5, "op1": 5, "op7": 5, "hall-fleetd": 5, "r3": 0, "r4": 0,
		"op12": 0} {
		if c, code := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: name}, ca.IssueClient(schema.RoleRobot, name)); code != want {
			t.Errorf("a robot with a certificate for %s: code %d, want %d", name, code, want)
		} else if c != nil {
			c.Close()
		}
	}
	if _, code := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "r3"}, ca.IssueClient(schema.RoleFleetd, "r3")); code != 5 {
		t.Errorf("a fleetd certificate with the name of a robot: code %d", code)
	}
}

func TestNewUserDisconnectsRobotOfSameName(t *testing.T) {
	ca := brokertest.NewCA(t)
	b := brokertest.Start(t, usersOf(ca, "obs observer\n"), ca.Configure)
	robot, code := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "ann"}, ca.IssueClient(schema.RoleRobot, "ann"))
	if code != 0 {
		t.Fatalf("code %d", code)
	}
	ca.Write("users", []byte("obs observer\nann operator "+someHash+"\n"))
	robot.Lost()
}

// Sessions are kept by client id, which begins with the user name. A client with the same
// name in another role is a different client.
func TestSessionOfAnotherRoleIsNotTakenOver(t *testing.T) {
	ca := brokertest.NewCA(t)
	b := brokertest.Start(t, ca.Configure, func(c *server.Config) { c.RobotConnects = 5 })
	own := ca.IssueClient(schema.RoleFleetd, "hall")
	fleetd, code := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "hall"}, own)
	if code != 0 {
		t.Fatalf("code %d", code)
	}
	fleetd.Subscribe("troupe/v1/clients/hall/notice")
	for range 3 {
		if _, code := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "hall"}, ca.IssueClient(schema.RoleRobot, "hall")); code != 5 {
			t.Fatalf("a robot with the name of fleetd: code %d", code)
		}
	}
	n, problems := schema.Decode[schema.Notice](fleetd.Expect("troupe/v1/clients/hall/notice").Payload)
	if len(problems) > 0 || n.Reason != schema.ReasonForbidden {
		t.Errorf("fleetd got notice %+v", n)
	}
	if got := b.Status()["connects_under_anothers_name"]; got != 3 {
		t.Errorf("%d counted", got)
	}
	fleetd.Ping()
	again, code := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "hall"}, own)
	if code != 0 {
		t.Fatalf("fleetd reconnects: code %d", code)
	}
	fleetd.Lost()
	again.Close()
}
