package brain

import (
	"time"

	"troupe/robotd/link"
	"troupe/schema"
)

// heard takes an operator's sign of life, and learns the fleet's time from it.
func (t *turn) heard(ev Heard) {
	t.reached(link.Heard(&t.link, t.now.Mono, t.cfg.Link, ev.Client))
	t.fleetSeq = ev.Beat.Seq
	t.clock.learn(t.now, ev.Beat.TS)
}

// reach looks at the silence that lasts.
func (t *turn) reach() {
	t.reached(link.Tick(&t.link, t.now.Mono, t.cfg.Link))
	t.undispute()
	if t.ears.Deaf(t.link, t.now.Mono, t.cfg.Link) {
		t.do(Renew{Why: "the desk says that it is there, and its heartbeats do not come"})
	}
}

func (t *turn) reached(d link.Decision) {
	if !d.Changed {
		return
	}
	t.dirty(soon)
	t.note("link", string(d.From), string(d.To), d.Why, d.Silence.String())
	switch {
	case d.To == schema.LinkLost:
		t.raise("link_lost", schema.AlertWarn, "link", "no operator can reach the robot", "see whether the desk and the network are up")
		t.tell("link_lost", "link", string(d.On), "", changed{From: string(d.From), To: string(d.To)})
	case d.From == schema.LinkLost:
		t.clear("link_lost", "link")
		t.tell("link_restored", "link", string(d.On), "", changed{From: string(d.From), To: string(d.To)})
	}
}

// linkLost answers since how long nobody can be relied on to reach the robot.
func (t *turn) linkLost() (bool, time.Duration) {
	return t.link.At == schema.LinkLost, link.LostFor(t.link, t.now.Mono, t.cfg.Link)
}

// clockWindow is how many heartbeats the robot judges the fleet's clock by.
const clockWindow = 8

// clock estimates how far the fleet's clock is from the robot's. Of the last
// heartbeats the one that travelled fastest is the best witness: it has the
// greatest difference, for a delay only makes the fleet look earlier.
type clock struct {
	seen [clockWindow]time.Duration // fleet time minus time since boot
	n    int
}

func (c *clock) learn(now Now, fleet schema.Time) {
	c.seen[c.n%clockWindow] = time.Duration(fleet)*time.Millisecond - now.Mono
	c.n++
}

// fleet is the fleet's time now, when it is known.
func (c *clock) fleet(now Now) (schema.Time, bool) {
	if c.n == 0 {
		return 0, false
	}
	best := c.seen[0]
	for _, s := range c.seen[1:min(c.n, clockWindow)] {
		best = max(best, s)
	}
	return schema.Time((best + now.Mono) / time.Millisecond), true
}

// clockOffset is the fleet's time minus the robot's.
func (t *turn) clockOffset() (time.Duration, bool) {
	fleet, ok := t.clock.fleet(t.now)
	return fleet.Sub(t.now.Wall), ok
}
