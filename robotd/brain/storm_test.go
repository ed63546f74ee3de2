package brain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/act"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/interrupt"
	"troupe/schema"
)

// TestStormOfRequestsLeavesNothing has every interrupter ask for everything, a thousand
// times a second for ten seconds.
func TestStormOfRequestsLeavesNothing(t *testing.T) {
	r := newRig(t)
	r.answers = map[string]httpAnswer{}
	r.boot()
	r.give(event.Connected{Session: "s"})
	r.give(event.DesiredConfig{Document: schema.DesiredConfig{Rev: 1, FleetID: "fleetd", Values: map[string]jsontext.Value{
		"interrupts.handlers": jsontext.Value(`[{"handler":"ask","http":{"url":"http://desk/"}},{"handler":"alarm","actions":[{"type":"face","start_ms":0,"face":"sad"}],"preempt":true}]`),
		"interrupts.rules": jsontext.Value(`[{"rule":"a","on":"touch","interrupter":"touch","handler":"attend"},{"rule":"b","on":"press","interrupter":"screen","handler":"service"},
			{"rule":"c","on":"press","interrupter":"ai","handler":"ask"},{"rule":"d","on":"people","when":"since_s(\"touch\") < 1.0","interrupter":"ai","handler":"alarm"}]`),
	}, TS: epoch}})
	r.until(time.Second)
	r.boot()
	r.give(event.Connected{Session: "s2"})
	pin := stories["tour"]
	r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
	r.until(r.now + time.Second)
	command := func(what, payload string) {
		group, verb, _ := strings.Cut(what, "/")
		r.give(event.Command{Client: "op1", Group: group, Verb: verb, Payload: []byte(payload)})
	}
	command("mode/set", "ato")
	command("safety/enable", "")
	r.until(r.now + time.Second)

	events, started, ended := map[string]int{}, 0, 0
	r.watch = func(_ event.Event, out []effect.Effect) {
		for _, e := range out {
			switch e := e.(type) {
			case effect.LogTransition: // events may be dropped, the log is not
				if e.Machine == "interrupt" && e.To == string(interrupt.Running) {
					started++
				} else if e.Machine == "interrupt" && e.From == string(interrupt.Running) {
					ended++
				}
			case effect.SaveEvent:
				ev, _ := schema.Decode[schema.Event](e.Payload)
				events[ev.Type]++
			}
		}
	}
	sense := func(s driver.Signal, name string, on bool, level float64) {
		r.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: s, Name: name, On: on, Level: level}})
	}
	for i := range 10_000 {
		switch n := i / 10; i % 10 {
		case 0:
			sense(driver.Touch, fmt.Sprint("area", n%50), n%3 > 0, 0)
		case 1:
			sense(driver.Press, fmt.Sprint("button", n%50), true, 0)
		case 2:
			sense(driver.People, "", false, float64(n%2))
		case 3:
			sense(driver.Sound, "", n%2 == 0, 60)
		case 4:
			r.give(event.Reported{Event: driver.Event{Kind: driver.Battery, Unit: "battery", Level: float64(n%20) / 20}})
		case 5:
			command("interrupt/request", `service`)
		case 6:
			command("act/perform", `{"args":{"act":"greet"}}`)
		case 7:
			command("interrupt/request", `{"args":{"handler":"ask","interrupter":"ai"}}`)
		case 8:
			command("interrupt/request", `{"args":{"handler":"power","interrupter":"power"}}`)
		case 9:
			command("interrupt/request", `{"args":{"handler":"attend","interrupter":"touch"}}`)
		}
		r.until(r.now + time.Millisecond)
	}
	sense(driver.People, "", false, 0)
	for n := range 50 {
		sense(driver.Touch, fmt.Sprint("area", n), false, 0)
	}
	r.give(event.Reported{Event: driver.Event{Kind: driver.Battery, Unit: "battery", Level: 0.95}})
	for _, e := range r.called { // the answers come at last, of calls that are over too
		r.give(event.Called{ID: e.ID})
	}
	r.until(r.now + 15*time.Minute)

	if r.s.safety.At != schema.SafetyEnabled {
		t.Errorf("the robot is %s", r.s.safety.At)
	}
	if started < 20 || started != ended || events["interrupt_refused"] == 0 {
		t.Errorf("%d interrupts started, %d ended, events: %v", started, ended, events)
	}
	if n := len(r.s.perform.InterruptState().Running()) + r.s.perform.RunningHandlers(); n > 0 {
		t.Errorf("interrupts are left: %+v", r.s.perform.InterruptState().Running())
	}
	if held := r.s.perform.Auto().Held(); len(held) > 0 {
		t.Errorf("pauses are left: %+v", held)
	}
	for _, h := range r.s.cfg.Interrupts.Handlers {
		if !r.s.lanes.Idle(act.Lane(h.ID)) {
			t.Errorf("the lane of %s is not idle", h.ID)
		}
	}
	if r.s.Pending() || r.s.requests.Open() > 0 || len(r.s.signals.List()) > 0 {
		t.Errorf("inputs wait: %v, commands are open: %d, signals: %v", r.s.Pending(), r.s.requests.Open(), r.s.signals.List())
	}
}
