package report

import (
	"time"

	"troupe/robotd/driver"
)

const (
	// MissedAfter is how many periods late a Tick misses its deadline: half of the time
	// after which units that are not fed stop by themselves.
	MissedAfter = driver.WatchdogTicks / 2
	// missedEvery is how often an event reports missed deadlines.
	missedEvery = 10 * time.Second
)

// late are the missed deadlines that no event has reported yet.
type late struct {
	count    int64
	worst    time.Duration
	reported time.Duration // when an event did last; 0 = never
}

type missed struct {
	LateMS int64 `json:"late_ms"`
	Count  int64 `json:"count"`
}

// Ticked notes by how much a Tick was late. The first missed deadline is reported at once,
// those that follow together.
func (t Step) Ticked(by time.Duration) {
	l := &t.late
	if by >= MissedAfter*t.cfg.Tick {
		l.count++
		l.worst = max(l.worst, by)
	}
	if l.count == 0 || l.reported > 0 && t.Now.Mono < l.reported+missedEvery {
		return
	}
	t.Event("deadline_missed", "robot", "", "", missed{l.worst.Milliseconds(), l.count})
	*l = late{reported: t.Now.Mono}
}
