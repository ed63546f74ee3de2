package brain

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/robotd/auto"
	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// TestOversizedDocumentIsReducedByRules crowds the state until it has to leave
// things out: what is for people first, then the oldest alerts, never half a
// document.
func TestOversizedDocumentIsReducedByRules(t *testing.T) {
	limit := schema.TopicOf(schema.TopicState).MaxBytes
	for _, crowd := range []int{0, 10, 40, 120, 400} {
		r := newRig(t)
		r.cfg.Mode.Boot = schema.ModeAto
		r.boot()
		pin := stories["talk"]
		r.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
		r.until(time.Second)
		turn := step{State: r.s, now: r.wall()}
		for i := range crowd {
			turn.raise(effect.RaiseAlert{Kind: "crowd", Level: schema.AlertWarn, Source: fmt.Sprint("source", i),
				Detail: strings.Repeat("what happened ", 8), Hint: strings.Repeat("what to do ", 8)})
			r.give(event.Command{Client: fmt.Sprint("c", i), Group: "auto", Verb: "pause", Payload: []byte(strings.Repeat("why ", 60))})
			r.until(r.now)
		}
		var got []byte
		r.sent = func(p effect.Publish) {
			if p.Topic == schema.TopicState {
				got = p.Payload
			}
		}
		r.give(event.Connected{Session: "s"})
		d, problems := schema.DecodeStrict[schema.State](got)
		if len(problems) > 0 || len(got) > limit {
			t.Fatalf("with a crowd of %d the state has %d of %d bytes: %v", crowd, len(got), limit, problems)
		}
		if want := crowd >= 40; d.Truncated != want {
			t.Errorf("with a crowd of %d: truncated is %v, want %v (%d bytes)", crowd, d.Truncated, want, len(got))
		}
		if n := len(d.Alerts); crowd > 0 && n > 0 && d.Alerts[n-1].Source != fmt.Sprint("source", crowd-1) {
			t.Errorf("with a crowd of %d the newest alert is from %s", crowd, d.Alerts[n-1].Source)
		}
		if want := min(crowd, auto.MaxOperatorPauses); d.Auto.PauseCount != want {
			t.Errorf("with a crowd of %d: %d pauses, want %d", crowd, d.Auto.PauseCount, want)
		}
	}
}

// TestEventsAreCountedWhenTheyAreTooMany records a hundred events at one moment.
func TestEventsAreCountedWhenTheyAreTooMany(t *testing.T) {
	r := newRig(t)
	r.boot()
	r.until(10 * time.Second)
	if got := recorded(r, "link_restored", 100); len(got) != config.EventBurst {
		t.Errorf("of 100 events at once %d were published, want %d", len(got), config.EventBurst)
	}
	if got := recorded(r, "safety_changed", 3); len(got) != 4 || got[1].Level != schema.EventSafety {
		t.Errorf("events of safety, beyond the rate: %+v", got)
	}
	r.now += 2 * time.Second
	got := recorded(r, "link_restored", 50)
	r.now += 2 * time.Second
	if got = append(got, recorded(r, "link_restored", 1)...); len(got) != 22 || got[20].Type != "events_dropped" || string(got[20].Data) != `{"count":30,"types":{"link_restored":30}}` {
		t.Errorf("after 50 more, 2 s later: %+v", got)
	}
	if d := r.s.report.Dropped(); d != 110 {
		t.Errorf("%d events are counted as dropped, want 110", d)
	}
}

// TestEventsOfActsLeaveRoomForOthers lets acts end a hundred times a second.
func TestEventsOfActsLeaveRoomForOthers(t *testing.T) {
	r := newRig(t)
	r.boot()
	r.until(10 * time.Second)
	published := map[string]int{}
	for range 60 {
		for range 100 {
			for _, e := range recorded(r, "act_ended", 1) {
				published[e.Type]++
			}
			r.now += 10 * time.Millisecond
		}
		for _, e := range recorded(r, "link_restored", 10) {
			published[e.Type]++
		}
	}
	if n := published["link_restored"]; n != 600 {
		t.Errorf("of 600 other events %d were published", n)
	}
	if n := published["act_ended"]; n < 300 || n > 310 { // a quarter of 20 a second
		t.Errorf("in 60 s %d events of acts were published, want 5 a second", n)
	}
	if n := published["events_dropped"]; n == 0 || n > 61 {
		t.Errorf("in 60 s %d events said that others were dropped", n)
	}
}

// recorded records n events and returns what was saved.
func recorded(r *rig, kind string, n int) (saved []schema.Event) {
	turn := step{State: r.s, now: r.wall()}
	for range n {
		turn.recordEvent(kind, "test", "", "", nil)
	}
	for _, e := range turn.out {
		if save, ok := e.(effect.SaveEvent); ok {
			ev, _ := schema.Decode[schema.Event](save.Payload)
			saved = append(saved, ev)
		}
	}
	return saved
}
