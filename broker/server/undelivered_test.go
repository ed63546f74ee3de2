package server_test

import (
	"testing"

	"troupe/schema"
)

// The broker keeps no command for later: the sender must learn that nobody received it.
func TestSenderOfCommandToAbsentRobotIsNotified(t *testing.T) {
	b := start(t)
	op := b.Client(t, "op1")
	op.Subscribe("troupe/v1/clients/op1/notice")
	undelivered := func(topic string) {
		t.Helper()
		op.Publish(topic, "ato")
		if n := notice(t, op); n.Reason != schema.ReasonUndelivered || n.Topic != topic || n.Count != 1 || n.Detail == "" {
			t.Errorf("notice %+v, want one about %s", n, topic)
		}
	}
	undelivered("troupe/v1/robots/r9/cmd/op1/mode/set") // unknown
	undelivered(r1 + "cmd/op1/mode/set")                // known, not connected
	undelivered(r1 + "cmd/op1/safety/stop")

	robot := b.Client(t, "r1")
	undelivered(r1 + "cmd/op1/sys/ping") // connected, and does not receive commands yet
	robot.Subscribe(r1 + "cmd/#")
	op.Publish(r1+"cmd/op1/mode/set", "ato")
	robot.Expect(r1 + "cmd/op1/mode/set")
	undelivered("troupe/v1/robots/r9/cmd/op1/mode/set") // so there was no notice about r1 before
}

// Somebody who reads the commands of a robot is not the robot.
func TestCommandThatOnlyAnAdministratorReceivesIsUndelivered(t *testing.T) {
	b := start(t)
	admin, op, fleetd := b.Client(t, "admin"), b.Client(t, "op1"), b.Client(t, "fleetd")
	admin.Subscribe("troupe/v1/robots/+/cmd/#")
	op.Subscribe("troupe/v1/clients/op1/notice")
	fleetd.Subscribe("troupe/v1/clients/fleetd/notice")
	fleetd.Publish(r1+"cmd/fleetd/safety/stop", "") // fleetd watches presences, so it gets none
	op.Publish(r1+"cmd/op1/safety/stop", "")
	admin.Expect(r1 + "cmd/op1/safety/stop")
	if n := notice(t, op); n.Reason != schema.ReasonUndelivered {
		t.Errorf("notice %+v", n)
	}
	fleetd.Publish("x", "")
	if n := notice(t, fleetd); n.Reason != schema.ReasonForbidden {
		t.Errorf("fleetd got the notice %+v", n)
	}
}
