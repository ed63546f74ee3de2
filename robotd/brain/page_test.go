package brain

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// pageRig is a robot in mnl whose own page is open, and that has no broker. It collects the
// answers to the page.
func pageRig(t *testing.T) (*rig, func(verb, payload string) schema.Ack) {
	r := newRig(t)
	r.boot()
	r.until(300 * time.Millisecond)
	var last schema.Ack
	r.sent = func(p effect.Publish) {
		if p.Param != schema.LocalClient {
			t.Errorf("without a session %s is published", p.Topic)
			return
		}
		last = schema.Ack{}
		if err := json.Unmarshal(p.Payload, &last); err != nil {
			t.Error(err)
		}
	}
	return r, func(verb, payload string) schema.Ack {
		t.Helper()
		last = schema.Ack{}
		group, name, _ := strings.Cut(verb, "/")
		r.give(event.Command{Client: schema.LocalClient, Group: group, Verb: name, Payload: []byte(payload)})
		r.until(r.now + 300*time.Millisecond)
		return last
	}
}

func (r *rig) pageBeats(seconds int) {
	for range seconds {
		r.give(event.Heartbeat{Client: schema.LocalClient, FromConsole: true})
		r.until(r.now + time.Second)
	}
}

func (r *rig) snapshot() (s effect.Snapshot) {
	watch := r.watch
	r.watch = func(_ event.Event, out []effect.Effect) {
		for _, e := range out {
			if found, is := e.(effect.Snapshot); is {
				s = found
			}
		}
	}
	r.give(event.Inspect{})
	r.watch = watch
	return s
}

func TestPageCommandsRobotWithoutBroker(t *testing.T) {
	r, ask := pageRig(t)
	r.pageBeats(2)
	if a := ask("safety/enable", `{"id":"p1","args":{}}`); a.Status != schema.StatusSucceeded || *a.ID != "p1" {
		t.Fatalf("safety/enable was answered %+v", a)
	}
	s := r.snapshot()
	if s.State.Safety.State != schema.SafetyEnabled || s.State.Link.State != schema.LinkUp || s.State.Link.Client != schema.LocalClient ||
		s.State.LastReq.Client != schema.LocalClient {
		t.Errorf("the robot shows %+v, link %+v, last %+v", s.State.Safety, s.State.Link, s.State.LastReq)
	}
	if len(s.Modes) == 0 || s.Caps.Units == nil || s.Volume != 1 || s.Boot == "" || s.Mono == 0 {
		t.Errorf("got %+v", s)
	}
	if a := ask("mode/set", `{"args":{"mode":"dance"}}`); a.Reason != schema.ReasonUnknownMode {
		t.Errorf("mode/set of an unknown mode was answered %+v", a)
	}
	if a := ask("control/acquire", `{"args":{"ttl_ms":5000}}`); a.Status != schema.StatusSucceeded {
		t.Fatalf("control/acquire was answered %+v", a)
	}
	if a := ask("manual/head", `{"args":{"yaw_rad":0.1,"pitch_rad":0}}`); a.Status == schema.StatusRejected {
		t.Errorf("manual/head was answered %+v", a)
	}
	if a := ask("safety/stop", `{"args":{"latch":"local-1"}}`); a.Status != schema.StatusSucceeded {
		t.Errorf("safety/stop was answered %+v", a)
	}
	if a := ask("safety/enable", ``); a.Reason != schema.ReasonLatched {
		t.Errorf("safety/enable of a stopped robot was answered %+v", a)
	}
	if r.give(event.ReleaseStops{}); len(r.snapshot().State.Safety.Latches) != 0 {
		t.Error("the stop is not released")
	}
}

// An open page is an operator; a closed one is a lost link.
func TestClosedPageIsALostLink(t *testing.T) {
	r, _ := pageRig(t)
	r.until(r.now + time.Minute)
	if at := r.snapshot().State; at.Link.State != schema.LinkNever || at.Mode.Active != schema.ModeMnl {
		t.Fatalf("a robot that nobody ever reached is in %s, link %s", at.Mode.Active, at.Link.State)
	}
	r.pageBeats(10)
	if at := r.snapshot().State; at.Link.State != schema.LinkUp || at.Mode.Active != schema.ModeMnl {
		t.Fatalf("with the page open: %s, link %s", at.Mode.Active, at.Link.State)
	}
	r.until(r.now + 6*time.Second)
	if at := r.snapshot().State; at.Link.State != schema.LinkLost || at.Mode.Active != schema.ModeSafe {
		t.Errorf("6 s after it was closed: %s, link %s", at.Mode.Active, at.Link.State)
	}
}

// What fleetd holds is not released at the robot, as with the robot's button.
func TestPageReleasesNoStopOfFleetd(t *testing.T) {
	r, _ := pageRig(t)
	document := schema.DesiredStop{Rev: 1, FleetID: "fleetd", Stops: []schema.StopLatch{{ID: "k1", Level: schema.StopStop, By: "anna",
		Since: epoch}}}
	ev := event.ReadStops(schema.TopicDesiredStop, effect.Encode(&document))
	r.give(ev)
	r.give(event.LiveStop{Client: "wall1"})
	var released []string
	r.watch = func(_ event.Event, effects []effect.Effect) {
		for _, e := range effects {
			save, ok := e.(effect.SaveEvent)
			if happened, problems := schema.Decode[schema.Event](save.Payload); ok && len(problems) == 0 && happened.Type == "stop_released" {
				released = append(released, string(happened.Data))
			}
		}
	}
	r.give(event.ReleaseStops{})
	if at := r.snapshot(); len(at.State.Safety.Latches) != 1 || at.State.Safety.Latches[0].ID != "k1" ||
		!slices.Equal(at.FleetStops, []string{"k1"}) {
		t.Errorf("held by %+v, by the fleet %v", at.State.Safety.Latches, at.FleetStops)
	}
	if len(released) != 1 || !strings.Contains(released[0], `"by":"wall1"`) || !strings.Contains(released[0], `"released_by":"local"`) {
		t.Errorf("events of releases: %v", released)
	}
}

// The end of a connection cancels no command of a person at the robot, who needs none.
func TestLostConnectionCancelsNoCommandOfThePage(t *testing.T) {
	r, ask := pageRig(t)
	sent := r.sent
	r.sent = func(p effect.Publish) {
		if p.Param == schema.LocalClient {
			sent(p)
		}
	}
	r.give(event.Connected{Session: "s1"})
	r.pageBeats(2)
	r.diskHangs = true
	ask("safety/enable", `{"id":"p1"}`)
	r.give(event.Disconnected{Why: "the connection broke"})
	r.answer()
	r.until(r.now + time.Second)
	if at := r.s.safety.At; at != schema.SafetyEnabled {
		t.Errorf("the robot is %s", at)
	}
}
