package act

import (
	"strconv"
	"time"

	"troupe/schema"
)

// Lanes is an executor for several parts of a robot. It gathers what the executor came
// to, in order, until somebody carries it out.
type Lanes struct {
	*Executor
	Outs    []Effect
	entries int64
}

// NextEntry names the next entry; all of them are counted together.
func (l *Lanes) NextEntry(prefix string) string {
	l.entries++
	return prefix + "-" + strconv.FormatInt(l.entries, 10)
}

// Push, Tick, Pause, Cancel, Gate and SetUnitDisabled are those of the executor.
func (l *Lanes) Push(to Lane, e Entry) (refused *Refusal) {
	l.Outs, refused = l.Executor.Push(to, e, l.Outs)
	return refused
}

func (l *Lanes) Tick(now time.Duration) { l.Outs = l.Executor.Tick(now, l.Outs) }

func (l *Lanes) Pause(of Lane, how Pausing, now time.Duration) {
	l.Outs = l.Executor.Pause(of, how, now, l.Outs)
}

func (l *Lanes) Cancel(of Lane, entry string, why schema.Reason) {
	l.Outs = l.Executor.Cancel(of, entry, why, l.Outs)
}

func (l *Lanes) Gate(g Gate) { l.Outs = l.Executor.Gate(g, l.Outs) }

func (l *Lanes) SetUnitDisabled(unit string, disabled bool) {
	l.Outs = l.Executor.SetUnitDisabled(unit, disabled, l.Outs)
}
