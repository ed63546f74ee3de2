package operatorlink

import (
	"slices"
	"testing"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

const epoch schema.Time = 1_800_000_000_000

// rig is a robot that receives heartbeats. Its own clock is an hour slow.
type rig struct {
	s      State
	now    time.Duration
	alerts []schema.Alert
	log    []string

	indifferent bool // the loss of the link would change nothing
	saysChanged bool // the log has each change of the state
}

func newRig() *rig { return &rig{s: New(Defaults())} }

func (r *rig) clock() clock.Now { return clock.Now{Mono: r.now, Wall: epoch.Add(r.now - time.Hour)} }

// do makes a step, and logs the alerts, events and reconnects that it wants.
func (r *rig) do(part func(Step)) {
	var out effect.List
	part(Step{State: &r.s, Now: r.clock(), Alerts: r.alerts, Indifferent: r.indifferent, Out: &out})
	for i := range out.Len() {
		switch e := out.At(i).(type) {
		case effect.RaiseAlert:
			if !slices.ContainsFunc(r.alerts, func(a schema.Alert) bool { return a.Type == e.Kind && a.Source == e.Source }) {
				r.alerts = append(r.alerts, schema.Alert{Type: e.Kind, Source: e.Source})
				r.log = append(r.log, "raise "+e.Kind+" "+e.Source)
			}
		case effect.ClearAlert:
			if n := len(r.alerts); n > 0 {
				r.alerts = slices.DeleteFunc(r.alerts, func(a schema.Alert) bool { return a.Type == e.Kind && a.Source == e.Source })
				if len(r.alerts) < n {
					r.log = append(r.log, "clear "+e.Kind+" "+e.Source)
				}
			}
		case effect.Event:
			r.log = append(r.log, "event "+e.Kind)
		case effect.StateChanged:
			if r.saysChanged {
				r.log = append(r.log, "changed")
			}
		case effect.Reconnect:
			r.log = append(r.log, "renew")
		}
	}
}

// beat takes a heartbeat of client, whose clock is wrong by wrong.
func (r *rig) beat(client string, wrong time.Duration) {
	r.do(func(t Step) {
		t.Received(event.Heartbeat{Client: client, Beat: schema.FleetHeartbeat{Session: "of-" + client, Seq: 7, TS: epoch.Add(r.now + wrong)}})
	})
}

// wait passes time, in steps of a second.
func (r *rig) wait(d time.Duration) {
	for end := r.now + d; r.now < end; {
		r.now += time.Second
		r.do(func(t Step) { t.CheckLink(); t.CheckConnection(false) })
	}
}

func (r *rig) expect(t *testing.T, what string, want ...string) {
	t.Helper()
	if !slices.Equal(r.log, want) {
		t.Errorf("%s: %q, want %q", what, r.log, want)
	}
	r.log = nil
}

func TestLostLinkIsReportedOnceAndClearedByAHeartbeat(t *testing.T) {
	r := newRig()
	r.wait(time.Minute)
	r.expect(t, "no heartbeat since boot")
	r.beat("fleetd", 0)
	r.wait(20 * time.Second)
	r.expect(t, "silence", "raise link_lost link", "event link_lost")
	if lost, since := r.s.Lost(r.clock()); !lost || since < 15*time.Second {
		t.Errorf("lost %v, for %v", lost, since)
	}
	r.beat("fleetd", 0)
	r.expect(t, "a heartbeat", "clear link_lost link", "event link_restored")
}

func TestConsoleAtTheRobotKeepsUpTheLinkAndTellsNothingElse(t *testing.T) {
	r := newRig()
	r.do(func(t Step) { t.Connected() })
	r.s.FleetdPresence(r.clock(), schema.Presence{State: schema.PresenceOnline})
	for range 20 {
		r.do(func(t Step) {
			t.Received(event.Heartbeat{Client: "console", FromConsole: true, Beat: schema.FleetHeartbeat{Session: "c", Seq: 9, TS: epoch}})
		})
		r.wait(time.Second)
	}
	if d := r.s.Link(r.clock(), ""); d.State != schema.LinkUp || d.Client != "console" {
		t.Errorf("the link is %s by %q", d.State, d.Client)
	}
	if _, known := r.s.FleetTime(r.clock()); known {
		t.Error("the robot took the fleet's time from a console")
	}
	if by := r.s.Asker("console", "ann"); by == "ann" {
		t.Error("the robot trusts the name that a console gives")
	}
	r.expect(t, "fleetd is online and silent: the connection is half-open", "renew")
}

func TestRobotsOwnClockCountsForNothingOnceTheFleetsTimeIsKnown(t *testing.T) {
	r := newRig()
	r.now = time.Second
	r.beat("fleetd", 0)
	if at, known := r.s.FleetTime(r.clock()); !known || at != epoch.Add(r.now) {
		t.Errorf("fleet time %v, %v", at, known)
	}
	if off, known := r.s.Offset(r.clock()); !known || off != time.Hour {
		t.Errorf("offset %v, %v", off, known)
	}
	var h schema.Heartbeat
	r.now += 2 * time.Second
	r.s.Fill(&h, r.clock())
	if want := (schema.HeartbeatClock{OffsetMS: time.Hour.Milliseconds(), Known: true}); h.Clock != want || h.Link.FleetSeq != 7 ||
		h.Link.FleetAgeMS != 2000 || h.Link.Client != "fleetd" {
		t.Errorf("the robot's heartbeat says %+v, %+v", h.Clock, h.Link)
	}
}

func TestInstanceWithAnotherClockHasAnAlertUntilItAgreesOrIsForgotten(t *testing.T) {
	both := func(r *rig, wrong time.Duration) {
		for range 12 {
			r.beat("fleetd", 0)
			r.beat("fleetd-2", wrong)
			r.wait(time.Second)
		}
	}
	r := newRig()
	both(r, time.Minute)
	r.expect(t, "a minute ahead", "raise clock_differs fleetd-2")
	both(r, 0)
	r.expect(t, "its clock was set", "clear clock_differs fleetd-2")
	both(r, time.Minute)
	r.log = nil
	for range 100 {
		r.beat("fleetd", 0)
		r.wait(time.Second)
	}
	r.expect(t, "it is gone", "clear clock_differs fleetd-2")
}

func TestNameOfAPersonIsTrustedFromAFleetdInstanceOnly(t *testing.T) {
	r := newRig()
	if by := r.s.Asker("fleetd", "ann"); by == "ann" {
		t.Error("before its first heartbeat a client is no fleetd instance")
	}
	r.beat("fleetd", 0)
	for client, want := range map[string]string{"fleetd": "ann", "op1": schema.Asker("op1", "ann")} {
		if by := r.s.Asker(client, "ann"); by != want {
			t.Errorf("%s: %q, want %q", client, by, want)
		}
	}
}

func TestEndOfAnOldSessionEndsNoInstance(t *testing.T) {
	r := newRig()
	r.beat("fleetd", 0)
	for session, gone := range map[string]bool{"of-fleetd": true, "older": false} {
		if client, ok := r.s.FleetdPresence(r.clock(), schema.Presence{Session: session, State: schema.PresenceOffline}); ok != gone || gone &&
			client != "fleetd" {
			t.Errorf("session %s: %q, %v", session, client, ok)
		}
	}
}

func TestCommandIsAsLateAsTheGapBeforeItOrItsWait(t *testing.T) {
	for _, x := range []struct {
		what     string
		stalled  time.Duration // when the loop stopped until the command arrived; 0 = it ran
		last     event.Event   // the last message before it, at 2 s
		read     time.Duration // when the command was read; 0 = not said
		wantLate time.Duration
	}{
		{what: "no gap"},
		{what: "it waited inside robotd", read: 7 * time.Second, wantLate: 3 * time.Second},
		{what: "the loop stalled", stalled: 6 * time.Second, wantLate: 4 * time.Second},
		{what: "it ends a silence after a heartbeat", last: event.Heartbeat{}, wantLate: 8 * time.Second},
		{what: "it ends a silence after fleetd came online", last: event.FleetdPresence{Presence: schema.Presence{State: schema.PresenceOnline}},
			wantLate: 8 * time.Second},
		{what: "it ends a silence without fleetd", last: event.Delivered{}},
	} {
		r := newRig()
		r.do(func(t Step) { t.Connected() })
		for r.now < 10*time.Second {
			r.now += 200 * time.Millisecond
			if x.last != nil && r.now == 2*time.Second {
				r.s.NoteArrival(r.clock(), x.last)
				if p, is := x.last.(event.FleetdPresence); is {
					r.s.FleetdPresence(r.clock(), p.Presence)
				}
			}
			if x.stalled == 0 || r.now <= x.stalled {
				r.s.NoteArrival(r.clock(), event.Tick{})
			}
		}
		cmd := event.Command{Read: x.read}
		r.s.NoteArrival(r.clock(), cmd)
		if got := r.s.Late(r.clock(), cmd); got != x.wantLate {
			t.Errorf("%s: %v, want %v", x.what, got, x.wantLate)
		}
	}
}

// The page at the robot says nothing about the connection to the broker.
func TestPageIsNoMessageOverTheConnection(t *testing.T) {
	r := newRig()
	r.do(Step.Connected)
	r.s.NoteArrival(r.clock(), event.Heartbeat{Client: "fleetd"})
	r.beat("fleetd", 0)
	for range 8 { // while fleetd is silent
		r.now += time.Second
		r.s.NoteArrival(r.clock(), event.Tick{})
		r.s.NoteArrival(r.clock(), event.Heartbeat{Client: schema.LocalClient, FromConsole: true})
		r.s.NoteArrival(r.clock(), event.Command{Client: schema.LocalClient})
		if late := r.s.Late(r.clock(), event.Command{Client: schema.LocalClient}); late != 0 {
			t.Fatalf("a command of the page may be %v late", late)
		}
	}
	r.s.NoteArrival(r.clock(), event.Command{Client: "op1"})
	if late := r.s.Late(r.clock(), event.Command{Client: "op1"}); late != 8*time.Second {
		t.Errorf("a command that ends 8 s of silence may be %v late", late)
	}
}

// TestLossThatChangesNothingIsToldWhenItLasts: late heartbeats of a robot at rest cost no message; a link that gets better, and one
// on which the robot depends, is told at once.
func TestLossThatChangesNothingIsToldWhenItLasts(t *testing.T) {
	r := newRig()
	r.indifferent, r.saysChanged = true, true
	r.beat("fleetd", 0)
	r.expect(t, "the first heartbeat", "changed")
	r.wait(7 * time.Second)
	if lost, _ := r.s.Lost(r.clock()); !lost || r.s.Told() {
		t.Fatalf("after 7 s lost is %v and told %v", lost, r.s.Told())
	}
	r.beat("fleetd", 0)
	r.wait(time.Second)
	r.beat("fleetd", 0)
	r.expect(t, "a loss of 7 s")

	r.wait(10 * time.Second)
	r.expect(t, "a loss that lasts", "changed", "raise link_lost link", "event link_lost")
	r.beat("fleetd", 0)
	r.expect(t, "a heartbeat", "changed", "clear link_lost link", "event link_restored")
	r.wait(time.Second)
	r.beat("fleetd", 0)
	r.expect(t, "heartbeats in time", "changed")

	r.wait(6 * time.Second)
	r.expect(t, "a loss that the robot has not told yet")
	r.indifferent = false // it is to perform
	r.wait(time.Second)
	r.expect(t, "a loss on which the robot depends", "changed", "raise link_lost link", "event link_lost")
}
