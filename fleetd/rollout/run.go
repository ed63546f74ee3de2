package rollout

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Run is a rollout with its robots in memory. Step, Assigned and Decide change it; after an error of the transaction it
// is made again from rows.
type Run struct {
	Rollout Rollout

	robots  []Robot // by wave and place
	index   map[string]int
	first   []int // of each wave: its first robot
	next    []int // of each wave: no robot before this one is PLANNED
	watched []int // robots that facts may change, without those that are PLANNED
	changed []int // robots whose rows are to be saved
	dirty   []bool
	offers  []time.Time // of the last minute, oldest first
	notes   []Note
	row     bool // the row of the rollout or of a wave is to be saved
}

// NewRun makes a Run from rows; the robots in any order. Without robots only decisions other than OnRetry are possible.
func NewRun(r Rollout, robots []Robot) *Run {
	run := &Run{Rollout: r, robots: slices.Clone(robots), index: make(map[string]int, len(robots)), dirty: make([]bool, len(robots))}
	run.Rollout.Waves = cloneWaves(r.Waves)
	slices.SortFunc(run.robots, func(a, b Robot) int { return cmp.Or(cmp.Compare(a.Wave, b.Wave), cmp.Compare(a.Place, b.Place)) })
	run.first = make([]int, len(r.Waves)+1)
	for i, b := range run.robots {
		run.index[b.ID] = i
		run.first[b.Wave+1] = i + 1
		if b.State != Planned && mayChange(b.State) {
			run.watched = append(run.watched, i)
		}
		if !b.OfferedAt.IsZero() {
			run.offers = append(run.offers, b.OfferedAt)
		}
	}
	for w := range r.Waves {
		run.first[w+1] = max(run.first[w+1], run.first[w])
	}
	run.next = slices.Clone(run.first[:len(r.Waves)])
	slices.SortFunc(run.offers, time.Time.Compare)
	return run
}

func cloneWaves(waves []Wave) []Wave {
	out := slices.Clone(waves)
	for i := range out {
		if out[i].Counts = maps.Clone(out[i].Counts); out[i].Counts == nil {
			out[i].Counts = map[RobotState]int{}
		}
	}
	return out
}

// Robots returns the rows by wave and place; they must not be changed.
func (r *Run) Robots() []Robot { return r.robots }

// Robot returns the row of a robot.
func (r *Run) Robot(id string) (Robot, bool) {
	i, ok := r.index[id]
	if !ok {
		return Robot{}, false
	}
	return r.robots[i], true
}

// Updated reports whether the robot got the content and had it active, whatever came of it: its health is that of the
// updated robots, and all others are the rest.
func (r *Run) Updated(id string) bool {
	i, ok := r.index[id]
	return ok && r.robots[i].updated()
}

func (b *Robot) updated() bool {
	return !b.ActiveAt.IsZero() && (b.State == Active || b.State == Confirmed || b.State.HasFailed())
}

// mayChange reports whether facts may change a robot of this state, as long as the rollout is open: a robot that failed
// may report the content active later.
func mayChange(s RobotState) bool { return s.Open() || s.HasFailed() }

// move changes the state of the rollout, and reports whether the table allows it. Without a reason it has that of the
// table.
func (r *Run) move(on Event, why string, now time.Time) bool {
	row, ok := Table.Next(r.Rollout.State, on)
	if !ok {
		return false
	}
	o := &r.Rollout
	o.State, o.Why, r.row = row.To, cmp.Or(why, row.Why), true
	o.EndedAt = time.Time{}
	if on == OnStart {
		o.StartedAt = now
	}
	if o.State.Over() && o.State != Aborted {
		o.EndedAt = now
	}
	return true
}

// moveWave changes the state of a wave, if the table allows it.
func (r *Run) moveWave(w *Wave, on Event, why string, now time.Time) bool {
	row, ok := WaveTable.Next(w.State, on)
	if !ok {
		return false
	}
	w.State, w.Why, r.row = row.To, cmp.Or(why, row.Why), true
	switch row.To {
	case WaveRunning:
		if w.EndedAt = (time.Time{}); w.StartedAt.IsZero() {
			w.StartedAt = now
		}
	case WaveSoaking:
		if w.SoakFrom.IsZero() {
			w.SoakFrom = now
		}
	default:
		w.EndedAt = now
	}
	return true
}

// moveRobot changes the state of a robot and the counts of its wave, if the table allows it.
func (r *Run) moveRobot(i int, on Event, why string, now time.Time) bool {
	b := &r.robots[i]
	row, ok := RobotTable.Next(b.State, on)
	if !ok {
		return false
	}
	counts := r.Rollout.Waves[b.Wave].Counts
	if counts[b.State]--; counts[b.State] == 0 {
		delete(counts, b.State)
	}
	counts[row.To]++
	if watched := b.State != Planned && mayChange(b.State); !watched && row.To != Planned && mayChange(row.To) {
		r.watched = append(r.watched, i)
	}
	b.State, b.Why, b.Group, b.ChangedAt = row.To, cmp.Or(why, row.Why), "", now
	r.change(i)
	return true
}

// change marks the row of a robot to be saved.
func (r *Run) change(i int) {
	if !r.dirty[i] {
		r.dirty[i] = true
		r.changed = append(r.changed, i)
	}
}

// note records a decision for the audit.
func (r *Run) note(on Event, why, by string) {
	r.notes = append(r.notes, Note{What: on, Why: why, By: by, Wave: r.Rollout.Wave})
}

// take returns what has changed, and forgets it.
func (r *Run) take() Changes {
	c := Changes{Rollout: r.Rollout, Row: r.row, Notes: r.notes}
	c.Rollout.Waves = cloneWaves(r.Rollout.Waves)
	if len(r.changed) > 0 {
		c.Robots = make([]Robot, 0, len(r.changed))
		slices.Sort(r.changed)
		for _, i := range r.changed {
			c.Robots = append(c.Robots, r.robots[i])
			r.dirty[i] = false
		}
	}
	r.changed, r.notes, r.row = r.changed[:0], nil, false
	return c
}
