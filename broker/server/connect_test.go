package server_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"troupe/broker/access"
	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema/argon2id"
)

func TestConnectIdentityRules(t *testing.T) {
	b := start(t)
	for _, c := range []struct {
		why     string
		connect brokertest.ConnectPacket
		code    byte
	}{
		{"a robot with its name as id", brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}, 0},
		{"a robot's blob connection", brokertest.ConnectPacket{Name: "r1", ClientID: "r1.blob"}, 0},
		{"robotd doctor beside it", brokertest.ConnectPacket{Name: "r1", ClientID: "r1.doctor"}, 0},
		{"a person with their name as id", brokertest.ConnectPacket{Name: "op1", ClientID: "op1"}, 0},
		{"a person with a suffix", brokertest.ConnectPacket{Name: "obs", ClientID: "obs.1"}, 0},
		{"a person without an id", brokertest.ConnectPacket{Name: "op1"}, 0},
		{"a client without a name", brokertest.ConnectPacket{}, 0},
		{"a client without a name with a robot's id", brokertest.ConnectPacket{ClientID: "r1"}, 0}, // gets another id, see below
		{"a person with a persistent session", brokertest.ConnectPacket{Name: "op2", ClientID: "op2", Keep: true}, 0},

		{"a person with another person's id", brokertest.ConnectPacket{Name: "op2", ClientID: "op1"}, 2},
		{"a person with a robot's id", brokertest.ConnectPacket{Name: "op2", ClientID: "r1"}, 2},
		{"an id of which the name is a prefix", brokertest.ConnectPacket{Name: "op1", ClientID: "op11"}, 2},
		{"a robot without an id", brokertest.ConnectPacket{Name: "r1"}, 2},
		{"a robot with a suffix", brokertest.ConnectPacket{Name: "r1", ClientID: "r1.x"}, 2},
		{"a robot with a persistent session", brokertest.ConnectPacket{Name: "r1", ClientID: "r1", Keep: true}, 2},
		{"an id with a wildcard", brokertest.ConnectPacket{Name: "op1", ClientID: "op1.+"}, 2},
		{"an id with upper case", brokertest.ConnectPacket{Name: "op1", ClientID: "op1.A"}, 2},
		{"an id with a control character", brokertest.ConnectPacket{Name: "op1", ClientID: "op1.\x01"}, 2},
		{"a name with a wildcard", brokertest.ConnectPacket{Name: "#", ClientID: "#"}, 4},
		{"a name with a slash", brokertest.ConnectPacket{Name: "a/b", ClientID: "a/b"}, 4},
		{"no keep-alive", brokertest.ConnectPacket{Name: "r1", ClientID: "r1", NoKeepAlive: true}, 2},
		{"a keep-alive of an hour", brokertest.ConnectPacket{Name: "r1", ClientID: "r1", KeepAlive: 3600}, 2},
		{"MQTT 5", brokertest.ConnectPacket{Name: "r1", ClientID: "r1", Protocol: 5}, 0x84},
		{"MQTT 3.1", brokertest.ConnectPacket{Name: "r1", ClientID: "r1", Protocol: 3}, 1},
	} {
		got, code := brokertest.TryConnect(t, b.Dial, c.connect)
		if code != c.code {
			t.Errorf("%s: code %d, want %d", c.why, code, c.code)
		}
		if got != nil {
			got.Close()
		}
	}
}

func TestSessionCannotBeTakenWithAnotherName(t *testing.T) {
	b := start(t)
	robot := b.Client(t, "r1")
	for _, h := range []brokertest.ConnectPacket{{ClientID: "r1"}, {Name: "op1", ClientID: "r1"}, {Name: "r2", ClientID: "r1"}, {Name: "r1", ClientID: "r1", Protocol: 5}} {
		if c, _ := brokertest.TryConnect(t, b.Dial, h); c != nil {
			c.Ping()
		}
	}
	robot.Ping() // still connected
}

// The connection that remains must also receive.
func TestOneConnectionPerIDRemainsAndReceives(t *testing.T) {
	b := start(t, func(c *server.Config) { c.RobotConnects = 1000 })
	fleetd := b.Client(t, "fleetd")
	for round := range 60 {
		var wg sync.WaitGroup
		clients := make([]*brokertest.Client, 8)
		for i := range clients {
			wg.Add(1)
			go func() {
				defer wg.Done()
				clients[i], _ = brokertest.TryConnect(t, b.Dial, brokertest.ConnectPacket{Name: "r1", ClientID: "r1"})
				if clients[i] != nil && i%2 == 0 {
					clients[i].Cut()
				}
			}()
		}
		wg.Wait()
		last := b.Client(t, "r1")
		last.Subscribe(r1 + "cmd/#")
		fleetd.Publish(r1+"cmd/fleetd/safety/stop", fmt.Sprint(round))
		last.Expect(r1 + "cmd/#")
		for _, c := range clients {
			if c != nil {
				c.Lost()
			}
		}
		if n := b.Status()["clients"]; n > 2 {
			t.Fatalf("round %d: %d clients", round, n)
		}
	}
}

func TestPasswordsAreChecked(t *testing.T) {
	hash := argon2id.HashPassword("secret", [16]byte{1})
	users, err := access.ParseUsers(strings.NewReader("r1 robot " + hash.String() + "\nop1 operator\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, func(c *server.Config) { c.Dev, c.Users = false, &users })
	for _, c := range []struct {
		connect brokertest.ConnectPacket
		code    byte
	}{
		{brokertest.ConnectPacket{Name: "r1", ClientID: "r1", Password: "secret"}, 0},
		{brokertest.ConnectPacket{Name: "op1", ClientID: "op1"}, 0}, // in-process; see TestNameWithoutProofIsRefusedFromOtherMachines
		{brokertest.ConnectPacket{Name: "r1", ClientID: "r1", Password: "Secret"}, 4},
		{brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}, 4},
		{brokertest.ConnectPacket{Name: "r2", ClientID: "r2"}, 4},
		{brokertest.ConnectPacket{}, 4},
	} {
		got, code := brokertest.TryConnect(t, b.Dial, c.connect)
		if code != c.code {
			t.Errorf("%+v: code %d, want %d", c.connect, code, c.code)
		}
		if got != nil {
			got.Close()
		}
	}
	if n := b.Status()["passwords_wrong"]; n != 2 {
		t.Errorf("%d wrong passwords counted", n)
	}
}

func TestEmptyUsersFileAdmitsNobody(t *testing.T) {
	users, err := access.ParseUsers(strings.NewReader("# no users yet\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, func(c *server.Config) { c.Dev, c.Users = false, &users })
	for _, name := range []string{"", "admin", "fleetd", "r1"} {
		if _, code := brokertest.TryConnect(t, b.Dial, brokertest.ConnectPacket{Name: name, ClientID: name}); code == 0 {
			t.Errorf("%q may connect", name)
		}
	}
}
