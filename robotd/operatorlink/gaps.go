package operatorlink

import "time"

const (
	// stall is the shortest gap between two steps of the robot's loop that counts as
	// a stall; the loop normally runs at least twice as often.
	stall = 500 * time.Millisecond
	// burstWindow is how long after a gap delayed messages may still arrive.
	burstWindow = time.Second
	// maxGaps is enough: the gaps that ended within burstWindow get shorter from one to
	// the next, and all but the first lie completely within burstWindow.
	maxGaps = 4
)

// Gaps bounds the delay of a message that does not contain its time of sending.
// After the robot or its connection hung, the messages sent meanwhile arrive in a
// burst and may be as old as the gap was long.
//
// A gap is a stall of the robot's own loop, or a silence of the connection while
// heartbeats are due. Without heartbeats an idle connection cannot be distinguished
// from one that hangs, so only stalls of the loop count. The zero value is ready to
// use.
type Gaps struct {
	steppedAt     time.Duration // when the loop last ran
	arrivedAt     time.Duration // when the last message arrived over the connection
	heartbeatsDue bool          // heartbeats are expected over this connection
	suspectAt     time.Duration // the first arrival after a silence without a heartbeat since; 0 = none

	recent [maxGaps]gap // longest and oldest first
	n      int
}

// gap is a period in which the robot received nothing.
type gap struct{ length, end time.Duration }

// Stepped records that the robot's loop is running.
func (g *Gaps) Stepped(now time.Duration) {
	if length := now - g.steppedAt; length >= stall {
		g.add(gap{length, now})
	}
	g.steppedAt = now
}

// Opened starts a connection. Heartbeats are due only after the first one arrived
// over it or fleetd's presence is online.
func (g *Gaps) Opened(now time.Duration) { g.arrivedAt, g.heartbeatsDue, g.suspectAt = now, false, 0 }

// Expect says that heartbeats are due although none may have arrived over this
// connection yet, because fleetd's presence is online. If fleetd hangs, one message
// wrongly counts as late.
func (g *Gaps) Expect() {
	if !g.heartbeatsDue {
		g.heartbeatsDue, g.suspectAt = true, 0
	}
}

// Closed says that no heartbeats are due, because the connection or fleetd ended.
func (g *Gaps) Closed() { g.heartbeatsDue, g.suspectAt = false, 0 }

// Arrived records a message over the connection, before the message is processed.
// If messages arrive without heartbeats, the sender of the heartbeats is gone and
// the connection works, so heartbeats are no longer due.
func (g *Gaps) Arrived(now time.Duration, heartbeat bool, c Config) {
	if g.suspectAt != 0 && now-g.suspectAt > c.late() {
		g.heartbeatsDue = false
	}
	if length := now - g.arrivedAt; g.heartbeatsDue && length > c.late() {
		g.add(gap{length, now})
		if g.suspectAt == 0 {
			g.suspectAt = now
		}
	}
	g.arrivedAt = now
	if heartbeat {
		g.heartbeatsDue, g.suspectAt = true, 0
	}
}

// Longest returns the longest possible delay of a message that arrives now.
func (g *Gaps) Longest(now time.Duration) time.Duration {
	for _, one := range g.recent[:g.n] {
		if now-one.end < burstWindow {
			return one.length
		}
	}
	return 0
}

// add appends a gap and drops those that ended too long ago or are shorter.
func (g *Gaps) add(new gap) {
	kept := 0
	for _, one := range g.recent[:g.n] {
		if one.length > new.length && new.end-one.end < burstWindow && kept < maxGaps-1 {
			g.recent[kept] = one
			kept++
		}
	}
	g.recent[kept] = new
	g.n = kept + 1
}
