package robot

import (
	"testing"

	"troupe/broker/link"
	"troupe/robotd/driver"
	"troupe/robotd/event"
	"troupe/schema"
)

// A client of the broker that calls itself local is obeyed, under another name.
func TestNoClientOfTheBrokerPassesForThePage(t *testing.T) {
	l, _ := bareLoop(t, driver.Body{})
	p := &mqttAdapter{ns: schema.DefaultNamespace, id: "r1", loop: l, ctx: t.Context(), log: l.log}
	p.arrived(link.Message{Topic: "troupe/v1/robots/r1/cmd/local/safety/stop"})
	if ev := (<-l.stops).(event.Command); ev.Client != "local.mqtt" {
		t.Errorf("a stop comes from %s", ev.Client)
	}
	p.arrived(link.Message{Topic: "troupe/v1/robots/r1/cmd/local/sys/ping"})
	if ev := (<-l.events).(event.Command); ev.Client != "local.mqtt" {
		t.Errorf("a ping comes from %s", ev.Client)
	}
	p.arrived(link.Message{Topic: "troupe/v1/robots/r1/heartbeat/local", Payload: []byte(`{"ts":"2026-05-17T08:30:00Z","session":"s","seq":1}`)})
	if ev := (<-l.events).(event.Heartbeat); ev.Client != "local.mqtt" {
		t.Errorf("a heartbeat comes from %s", ev.Client)
	}
}
