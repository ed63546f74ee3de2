package server_test

import (
	"fmt"
	"strings"
	"testing"

	"troupe/schema"
)

// The broker keeps no command for later: the sender must learn that nobody received it.
func TestSenderOfCommandToAbsentRobotIsNotified(t *testing.T) {
	b := start(t)
	op := b.Client(t, "op1")
	op.Subscribe("troupe/v1/clients/op1/notice")
	undelivered := func(topic, payload, id string) {
		t.Helper()
		op.Publish(topic, payload)
		if n := notice(t, op); n.Reason != schema.ReasonUndelivered || n.Topic != topic || n.ID != id || n.Count != 1 || n.Detail == "" {
			t.Errorf("%s: notice %+v, want one about %s", payload, n, topic)
		}
	}
	undelivered("troupe/v1/robots/r9/cmd/op1/mode/set", "ato", "") // unknown
	undelivered(r1+"cmd/op1/mode/set", `{"id":"p-8"}`, "p-8")      // known, not connected
	undelivered(r1+"cmd/op1/mode/juggle", `{"id":"p-9","later":1}`, "p-9")
	undelivered(r1+"cmd/op1/mode/set", `{"id":" "}`, "")
	undelivered(r1+"cmd/op1/safety/stop", "{", "")

	robot := b.Client(t, "r1")
	undelivered(r1+"cmd/op1/sys/ping", "", "") // connected, and does not receive commands yet
	robot.Subscribe(r1 + "cmd/#")
	op.Publish(r1+"cmd/op1/mode/set", "ato")
	robot.Expect(r1 + "cmd/op1/mode/set")
	undelivered("troupe/v1/robots/r9/cmd/op1/mode/set", "ato", "") // so there was no notice about r1 before
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

const (
	buttonTopic = "troupe/v1/fleet/cmd/stop1/stop"
	anyButton   = "troupe/v1/fleet/cmd/+/stop"
)

// Every robot that a stop names has to receive it, or else a fleetd, which tells the others.
func TestSenderOfLiveStopThatNobodyReceivesIsNotified(t *testing.T) {
	b := start(t)
	button := b.Client(t, "stop1")
	button.Subscribe("troupe/v1/clients/stop1/notice")
	undelivered := func(payload, id string, parts ...string) {
		t.Helper()
		button.Publish(buttonTopic, payload)
		m := button.Expect("troupe/v1/clients/stop1/notice")
		n, ps := schema.DecodeStrict[schema.Notice](m.Payload)
		if len(ps) > 0 || n.Reason != schema.ReasonUndelivered || n.Topic != buttonTopic || n.Count != 1 || n.ID != id || len(m.Payload) > 1<<10 {
			t.Errorf("%q: notice %s %v, want one about %s", payload, m.Payload, ps, id)
		}
		for _, p := range append(parts, "send it again") {
			if no, without := strings.CutPrefix(p, "!"); without == strings.Contains(n.Detail, no) {
				t.Errorf("%q: detail %q", payload, n.Detail)
			}
		}
	}
	delivered := func(payload string) {
		t.Helper()
		button.Publish(buttonTopic, payload)
		button.Publish("x", "")
		if n := notice(t, button); n.Reason != schema.ReasonForbidden {
			t.Errorf("%q: notice %+v", payload, n)
		}
	}
	admin := b.Client(t, "admin")
	admin.Subscribe(anyButton) // is neither a robot nor fleetd
	undelivered("", "stop1", "no robot and no fleetd")
	undelivered("{{{", "stop1", "no robot and no fleetd")
	undelivered(`{"id":"a1","labels":{"hall":"2"}}`, "a1", "no robot and no fleetd")
	undelivered(`{"id":"a2","robots":["r1"]}`, "a2", "r1")

	robot := b.Client(t, "r1")
	undelivered("", "stop1", "no robot and no fleetd") // does not receive stops yet
	robot.Subscribe(anyButton)
	delivered("")
	delivered(`{"id":"a3","robots":["r1"]}`)
	delivered(`{"id":"a4","labels":{"hall":"2"}}`) // only robots know their labels
	undelivered(`{"id":"a5","robots":["r1","r9"]}`, "a5", "r9", "!r1")
	many := make([]string, 100)
	for i := range many {
		many[i] = fmt.Sprintf(`"robot-%d"`, i)
	}
	undelivered(`{"id":"a6","robots":[`+strings.Join(many[:64], ",")+`]}`, "a6", "robot-0, ", "robot-7", "!robot-8", "and 56 more")

	fleetd := b.Client(t, "fleetd")
	undelivered(`{"id":"a7","robots":["r9"]}`, "a7", "r9")
	fleetd.Subscribe(anyButton, "troupe/v1/clients/fleetd/notice")
	delivered(`{"id":"a8","robots":["r9"]}`)
	robot.Close()
	delivered("")

	fleetd.Close()
	fleetd = b.Client(t, "fleetd")
	fleetd.Subscribe("troupe/v1/clients/fleetd/notice")
	fleetd.Publish("troupe/v1/fleet/cmd/fleetd/stop", "") // fleetd watches presences, so it gets none
	fleetd.Publish("x", "")
	if n := notice(t, fleetd); n.Reason != schema.ReasonForbidden {
		t.Errorf("fleetd got the notice %+v", n)
	}
}
