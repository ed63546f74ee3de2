package brain

import (
	"slices"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/link"
	"troupe/robotd/report"
	"troupe/schema"
)

// heartbeatReceived takes a heartbeat of an operator. Those of a fleetd instance also carry
// the fleet's time. Those of a console at the robot keep up the link, because a person
// there can stop the robot, but they affect neither the fleet's time nor fleetd's presence.
func (t *step) heartbeatReceived(ev event.Heartbeat) {
	t.linkChanged(link.Heartbeat(&t.link, t.now.Mono, t.cfg.Link, ev.Client))
	if ev.Local {
		return
	}
	t.beats.HalfOpen.Heartbeat(t.now.Mono)
	t.beats.Seq = ev.Beat.Seq
	t.beats.Senders.Note(ev.Client, ev.Beat.Session)
	t.learnFleetTime(ev.Client, ev.Beat.TS)
}

// checkLink checks how long no heartbeat has arrived.
func (t *step) checkLink() {
	t.linkChanged(link.Tick(&t.link, t.now.Mono, t.cfg.Link))
	t.toReport(report.Step.Undispute)
	if t.beats.HalfOpen.Detected(t.now.Mono, t.cfg.Link) {
		t.do(effect.Renew{Why: "fleetd says that it is there, and its heartbeats do not come"})
	}
}

func (t *step) linkChanged(d link.Decision) {
	if !d.Changed {
		return
	}
	t.changed(effect.FlushSoon)
	t.log("link", string(d.From), string(d.To), d.Why, d.Silence.String())
	switch {
	case d.To == schema.LinkLost:
		t.raise("link_lost", schema.AlertWarn, "link", "no operator can reach the robot", "see whether fleetd and the network are up")
		t.recordEvent("link_lost", "link", string(d.On), "", effect.Transition{From: string(d.From), To: string(d.To)})
	case d.From == schema.LinkLost:
		t.clear("link_lost", "link")
		t.recordEvent("link_restored", "link", string(d.On), "", effect.Transition{From: string(d.From), To: string(d.To)})
	}
}

// linkLost reports whether the link is lost, and for how long no operator could reach the
// robot.
func (t *step) linkLost() (bool, time.Duration) {
	return t.link.At == schema.LinkLost, link.LostFor(t.link, t.now.Mono, t.cfg.Link)
}

const clockDiffers = "clock_differs" // alert about a fleetd instance

// learnFleetTime takes the fleet's time from a heartbeat. It raises an alert about a fleetd
// instance whose clock differs, because its commands would be too old or in the future.
func (t *step) learnFleetTime(client string, fleet schema.Time) {
	t.clock.Learn(t.now, client, fleet)
	for _, a := range slices.Clone(t.report.Alerts()) {
		if a.Type == clockDiffers && !t.clock.Knows(a.Source) {
			t.clear(a.Type, a.Source)
		}
	}
	if t.clock.Differs(client) {
		t.raise(clockDiffers, schema.AlertWarn, client, "the clock of "+client+" is not the one that the robot goes by", "set the clocks of the fleetd instances by the same source; until then commands with a ts are refused or expire")
		return
	}
	t.clear(clockDiffers, client)
}

// FleetTime is the fleet's time according to the heartbeats since the start.
func (s *State) FleetTime(now clock.Now) (_ time.Time, known bool) {
	fleet, known := s.clock.At(now)
	return fleet.Time(), known
}

// clockOffset is the fleet's time minus the robot's.
func (t *step) clockOffset() (time.Duration, bool) {
	fleet, ok := t.clock.At(t.now)
	return fleet.Sub(t.now.Wall), ok
}

// noteArrival notes, before ev is judged, when the loop ran and when a message arrived: a
// message that arrives right after a gap in either may be as old as the gap.
func (t *step) noteArrival(ev event.Event) {
	t.beats.Gaps.Stepped(t.now.Mono)
	switch ev.(type) {
	case event.Heartbeat:
		t.beats.Gaps.Arrived(t.now.Mono, true, t.cfg.Link)
	case event.Command, event.Frame, event.StopDocument, event.LiveStop, event.DesiredStory, event.DesiredSet, event.DesiredConfig, event.DesiredMode, event.PresenceSeen, event.FleetdPresence, event.MessageDropped, event.Delivered:
		t.beats.Gaps.Arrived(t.now.Mono, false, t.cfg.Link)
	}
}

// late is how long ago a command may have been sent: it was delayed on the network, or here
// after it was read.
func (t *step) late(ev event.Command) time.Duration {
	late := t.beats.Gaps.Longest(t.now.Mono)
	if ev.Read > 0 {
		late = max(late, t.now.Mono-ev.Read)
	}
	return late
}

// fleetdSeen notes that a fleetd instance is gone; a client that had control through it has
// lost it. The end of a session that is not the newest one changes nothing.
func (t *step) fleetdSeen(p schema.Presence) {
	if p.State == schema.PresenceOnline {
		return
	}
	if client, ok := t.beats.Senders.Of(p.Session); ok {
		t.manual.Gone(client)
	}
}
