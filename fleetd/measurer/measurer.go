// Package measurer keeps measurements of robots: it gathers what they report, and as the leader writes the minutes that are
// over, moves those of past hours into small rows, and says how many it wrote. Every instance gathers, so that after a change
// of the leader no minute lacks that was over before.
package measurer

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"troupe/fleetd/measure"
	"troupe/fleetd/store"
)

const (
	// writeEvery is how often minutes are written that wait, and rowsAtOnce how many then at least: the minutes of a large
	// fleet end all at once, and are written over some seconds.
	writeEvery = time.Second
	rowsAtOnce = 250
	// inTheMinute is in how many writes the minutes of the largest fleet are written.
	inTheMinute = 30
	// maxWaiting bounds the minutes that wait for the database. Beyond it the oldest are dropped and counted.
	maxWaiting = 30_000
	// keepFor is how long a follower keeps minutes, in case the leader ends before it has written them.
	keepFor = 3 * time.Minute
	// foldEvery is how often the leader looks for hours that are over, and foldAfter how long after an hour it moves the minutes
	// of it: the last ones may still come.
	foldEvery = time.Minute
	foldAfter = 5 * time.Minute
	// hoursAtOnce bounds the hours of one look: after a clock that was wrong there may be many.
	hoursAtOnce = 48
	// lastWrite bounds the write at shutdown.
	lastWrite = 2 * time.Second
)

// Measurer gathers and writes measurements.
type Measurer struct {
	deps             Deps
	written, dropped atomic.Int64

	mu      sync.Mutex // a leaf: never held during a call
	state   *measure.State
	waiting []measure.Minute

	folded time.Time // owned by Run: when it looked for hours that are over
}

// Deps is what a Measurer needs.
type Deps struct {
	Now func() time.Time
	// Leads reports whether this instance leads, and AnotherLeads whether another one does.
	Leads, AnotherLeads func() bool
	Failed              func(what string, err error) // records a failure of the database
	Adopted             func(robot string) bool
}

// New makes a measurer.
func New(d Deps) *Measurer { return &Measurer{deps: d, state: measure.NewState()} }

// Written is how many minutes of robots this instance wrote, and Dropped how many it dropped because the database did not take
// them for long.
func (m *Measurer) Written() int64 { return m.written.Load() }
func (m *Measurer) Dropped() int64 { return m.dropped.Load() }

// Observe takes in what a robot reported. It does not block.
func (m *Measurer) Observe(ev measure.Event, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	measure.Step(m.state, now, ev)
}

// WantsSpeed reports whether the speed of a robot would count now: robots send more than are needed.
func (m *Measurer) WantsSpeed(robot string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state.WantsSpeed(robot, now)
}

// Run writes until ctx ends.
func (m *Measurer) Run(ctx context.Context, db *store.Store) {
	each := time.NewTicker(writeEvery)
	defer each.Stop()
	for {
		select {
		case <-ctx.Done():
			m.tick(m.deps.Now().Add(time.Minute)) // also the minute that is not over
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWrite)
			for m.write(last, db) && m.count() > 0 {
			}
			cancel()
			return
		case <-each.C:
			now := m.deps.Now()
			m.tick(now)
			m.write(ctx, db)
			if now.Sub(m.folded) >= foldEvery || now.Before(m.folded) {
				m.folded = now
				m.fold(ctx, db, now)
			}
		}
	}
}

// tick takes the minutes that are over.
func (m *Measurer) tick(now time.Time) {
	m.mu.Lock()
	over := measure.Step(m.state, now, measure.Tick{})
	m.mu.Unlock()
	over = slices.DeleteFunc(over, func(row measure.Minute) bool {
		if m.deps.Adopted(row.Robot) {
			return false
		}
		m.Observe(measure.Gone{Robot: row.Robot}, now)
		return true
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = append(m.waiting, over...)
	m.bound()
}

func (m *Measurer) bound() {
	if over := len(m.waiting) - maxWaiting; over > 0 {
		m.dropped.Add(int64(over))
		m.waiting = slices.Delete(m.waiting, 0, over)
	}
}

func (m *Measurer) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiting)
}

// write writes some of the minutes that wait, the oldest first, and reports whether the database took them.
func (m *Measurer) write(ctx context.Context, db *store.Store) bool {
	if !m.deps.Leads() {
		if m.deps.AnotherLeads() {
			m.forget(m.deps.Now().Add(-keepFor))
		}
		return false
	}
	some := m.take()
	if len(some) == 0 {
		return true
	}
	n, err := db.AddMeasurements(ctx, some)
	if err != nil {
		m.giveBack(some)
		m.deps.Failed("measurements not saved", err)
		return false
	}
	m.written.Add(n)
	return true
}

// take takes the oldest minutes that wait. Two of one robot and minute, as after the clock was set back, are not taken
// together: one statement cannot write both.
func (m *Measurer) take() []measure.Minute {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := min(len(m.waiting), max(rowsAtOnce, len(m.waiting)/inTheMinute))
	type key struct {
		robot string
		start int64
	}
	taken := map[key]bool{}
	for i, row := range m.waiting[:n] {
		if k := (key{row.Robot, row.Start}); taken[k] {
			n = i
			break
		} else {
			taken[k] = true
		}
	}
	some := slices.Clone(m.waiting[:n])
	m.waiting = slices.Delete(m.waiting, 0, n)
	return some
}

func (m *Measurer) giveBack(some []measure.Minute) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = append(some, m.waiting...)
	m.bound()
}

// forget drops the minutes that began before then: the leader has written them.
func (m *Measurer) forget(then time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = slices.DeleteFunc(m.waiting, func(row measure.Minute) bool { return row.Start < then.Unix() })
}

// fold moves the minutes of hours that are over. After each transaction it pauses for as long as that took, so that at least
// half of the database's time is left to others.
func (m *Measurer) fold(ctx context.Context, db *store.Store, now time.Time) {
	began := m.deps.Now()
	pause := func() bool {
		timer := time.NewTimer(max(0, m.deps.Now().Sub(began)))
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
		}
		began = m.deps.Now()
		return m.deps.Leads()
	}
	for range hoursAtOnce {
		if !m.deps.Leads() || ctx.Err() != nil {
			return
		}
		n, err := db.FoldMeasurements(ctx, now.Add(-foldAfter).Truncate(time.Hour), pause)
		if err != nil && ctx.Err() == nil {
			m.deps.Failed("measurements of past hours not moved", err)
		}
		if err != nil || n == 0 {
			return
		}
	}
}
