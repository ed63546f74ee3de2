package server_test

import (
	"testing"

	"troupe/broker/brokertest"
)

func TestConsoleReachesItsRobotOnly(t *testing.T) {
	b := start(t)
	console, own, other, fleetd := b.Client(t, "console-r1"), b.Client(t, "r1"), b.Client(t, "r2"), b.Client(t, "fleetd")
	own.Subscribe("troupe/v1/robots/r1/cmd/#", "troupe/v1/robots/r1/heartbeat/+", "troupe/v1/fleet/heartbeat/+")
	other.Subscribe("troupe/v1/robots/r2/cmd/#", "troupe/v1/robots/r2/heartbeat/+", "troupe/v1/fleet/heartbeat/+",
		"troupe/v1/fleet/cmd/+/stop")
	console.Subscribe("troupe/v1/#")
	for _, topic := range []string{
		"robots/r2/cmd/console-r1/mode/set", "robots/r2/cmd/console-r1/safety/stop", "robots/r1/cmd/op1/mode/set",
		"robots/r1/cmd/console-r1/sys/adopt",
		"robots/r2/heartbeat/console-r1", "fleet/heartbeat/console-r1", "fleet/cmd/console-r1/stop", "robots/r1/state", "robots/r1/desired/mode",
	} {
		console.Publish("troupe/v1/"+topic, "{}")
	}
	console.Publish(r1+"heartbeat/console-r1", "{}")
	own.Expect(r1 + "heartbeat/console-r1")
	console.Publish(r1+"cmd/console-r1/safety/stop", "")
	if m := own.Expect("#"); m.Topic != r1+"cmd/console-r1/safety/stop" {
		t.Errorf("the console's robot got %v", m)
	}
	other.Ping()
	if got := other.Inbox("#"); len(got) > 0 {
		t.Errorf("another robot got %v", got)
	}
	other.Retain("troupe/v1/robots/r2/state", "{}")
	own.Retain(r1+"state", "{}")
	console.Expect(r1 + "state")
	fleetd.Retain(r1+"desired/mode", "{}")
	console.Expect(r1 + "desired/mode")
	if got := console.Inbox("troupe/v1/robots/r2/#"); len(got) > 0 {
		t.Errorf("the console reads of another robot: %v", got)
	}
}

func TestReassignedConsoleIsDisconnected(t *testing.T) {
	ca := brokertest.NewCA(t)
	b := brokertest.Start(t, usersOf(ca, "panel console:r1\ndoor console:r2\n"))
	panel := b.Client(t, "panel")
	door := b.Client(t, "door")
	ca.Write("users", []byte("panel console:r2\ndoor console:r2\n"))
	panel.Lost()
	door.Ping()
}
