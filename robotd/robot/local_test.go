package robot

import (
	"fmt"
	"slices"
	"testing"

	"troupe/broker/link"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// A client of the broker that calls itself local is obeyed, under another name.
func TestNoClientOfTheBrokerPassesForThePage(t *testing.T) {
	l, _ := bareLoop(t, driver.Body{})
	p := &mqttTranslator{ns: schema.DefaultNamespace, id: "r1", loop: l, ctx: t.Context(), log: l.log}
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

// A story that performs for long does not push the events of a fault off the page.
func TestEventsOfRoundsLeaveRoomForOthers(t *testing.T) {
	l := &local{}
	put := func(kind string) {
		l.happened(effect.SaveEvent{Payload: fmt.Appendf(nil, `{"ts":"2026-05-17T08:30:00Z","type":%q}`, kind)})
	}
	for range 3 {
		put("safety_changed")
	}
	for range 100 {
		put("act_started")
		put("act_ended")
	}
	count := func(kind string) (n int) {
		for _, e := range l.events {
			if e.Type == kind {
				n++
			}
		}
		return n
	}
	if count("safety_changed") != 3 || len(l.events) != 3+routineShown || l.events[len(l.events)-1].Type != "act_ended" {
		t.Errorf("kept %+v", l.events)
	}
	for range 100 {
		put("alert_raised")
	}
	if len(l.events) != eventsShown || slices.ContainsFunc(l.events, func(e schema.Event) bool { return e.Type != "alert_raised" }) {
		t.Errorf("kept %d: %+v", len(l.events), l.events)
	}
}
