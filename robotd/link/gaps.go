package link

import "time"

const (
	// stall is a pause between two steps of the robot's loop that it never makes by
	// itself: it looks around twice as often.
	stall = 500 * time.Millisecond
	// settled is how long after a gap the messages that it held up may still arrive.
	settled = time.Second
	// maxGaps is more than fit: of the gaps within settled each is shorter than the one
	// before it and, but for the first, lies within settled.
	maxGaps = 4
)

// Gaps bounds how late a message arrives that does not say when it was sent. The
// robot may have hung, or its line: then what was sent meanwhile arrives in a burst,
// and may be as old as the gap was long.
//
// A gap is a stall of the robot's own loop, or a silence of the connection while
// heartbeats are due. Where nobody sends heartbeats, a silent line and a hung one look
// the same, and only the loop counts. The zero value has seen no gap.
type Gaps struct {
	stepped time.Duration // when the loop ran last
	arrived time.Duration // when anything arrived over the connection last
	due     bool          // heartbeats come over this connection, or should
	doubted time.Duration // the first arrival after which they should have come again; 0 = none

	recent [maxGaps]gap // the longest first, the newest last
	n      int
}

// gap is a time in which the robot received nothing.
type gap struct{ length, end time.Duration }

// Stepped notes that the robot's loop runs.
func (g *Gaps) Stepped(now time.Duration) {
	if length := now - g.stepped; length >= stall {
		g.add(gap{length, now})
	}
	g.stepped = now
}

// Opened begins a connection. No heartbeat is due before the first one came over it,
// or fleetd said that it is there.
func (g *Gaps) Opened(now time.Duration) { g.arrived, g.due, g.doubted = now, false, 0 }

// Expect says that heartbeats are due, though none may have come over this connection
// yet: fleetd says that it is there. If it hangs, one message is taken to be late.
func (g *Gaps) Expect() {
	if !g.due {
		g.due, g.doubted = true, 0
	}
}

// Closed says that no heartbeats are to be expected: the connection ended, or fleetd
// did.
func (g *Gaps) Closed() { g.due, g.doubted = false, 0 }

// Arrived notes a message over the connection, before it is judged. When messages
// arrive and heartbeats do not, whoever sent those is gone, and the line works.
func (g *Gaps) Arrived(now time.Duration, heartbeat bool, c Config) {
	if g.doubted != 0 && now-g.doubted > c.late() {
		g.due = false
	}
	if length := now - g.arrived; g.due && length > c.late() {
		g.add(gap{length, now})
		if g.doubted == 0 {
			g.doubted = now
		}
	}
	g.arrived = now
	if heartbeat {
		g.due, g.doubted = true, 0
	}
}

// Longest is how late a message may be that arrives now.
func (g *Gaps) Longest(now time.Duration) time.Duration {
	for _, one := range g.recent[:g.n] {
		if now-one.end < settled {
			return one.length
		}
	}
	return 0
}

// add forgets the gaps that are over, and those that are shorter than the new one.
func (g *Gaps) add(new gap) {
	kept := 0
	for _, one := range g.recent[:g.n] {
		if one.length > new.length && new.end-one.end < settled && kept < maxGaps-1 {
			g.recent[kept] = one
			kept++
		}
	}
	g.recent[kept] = new
	g.n = kept + 1
}
