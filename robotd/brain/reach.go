package brain

import (
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/link"
	"troupe/robotd/report"
	"troupe/schema"
)

// heard takes an operator's sign of life, and of a fleetd instance's also learns the fleet's
// time. Somebody at the robot can stop it, so it has a link; but he speaks neither
// for the fleet nor for its clock.
func (t *step) heard(ev event.Heard) {
	t.reached(link.Heard(&t.link, t.now.Mono, t.cfg.Link, ev.Client))
	if ev.Local {
		return
	}
	t.halfOpen.Heard(t.now.Mono)
	t.fleetSeq = ev.Beat.Seq
	t.fleetds.heard(ev.Client, ev.Beat.Session)
	t.learnTime(ev.Client, ev.Beat.TS)
}

// reach looks at the silence that lasts.
func (t *step) reach() {
	t.reached(link.Tick(&t.link, t.now.Mono, t.cfg.Link))
	t.toReport(report.Step.Undispute)
	if t.halfOpen.Detected(t.now.Mono, t.cfg.Link) {
		t.do(effect.Renew{Why: "fleetd says that it is there, and its heartbeats do not come"})
	}
}

func (t *step) reached(d link.Decision) {
	if !d.Changed {
		return
	}
	t.dirty(effect.FlushSoon)
	t.note("link", string(d.From), string(d.To), d.Why, d.Silence.String())
	switch {
	case d.To == schema.LinkLost:
		t.raise("link_lost", schema.AlertWarn, "link", "no operator can reach the robot", "see whether fleetd and the network are up")
		t.tell("link_lost", "link", string(d.On), "", effect.Transition{From: string(d.From), To: string(d.To)})
	case d.From == schema.LinkLost:
		t.clear("link_lost", "link")
		t.tell("link_restored", "link", string(d.On), "", effect.Transition{From: string(d.From), To: string(d.To)})
	}
}

// linkLost answers since how long nobody can be relied on to reach the robot.
func (t *step) linkLost() (bool, time.Duration) {
	return t.link.At == schema.LinkLost, link.LostFor(t.link, t.now.Mono, t.cfg.Link)
}
