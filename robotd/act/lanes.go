package act

import (
	"strconv"
	"time"

	"troupe/schema"
)

// Lanes is an executor that several parts of a robot share. It collects the effects of the
// executor, in order, until the robot's step carries them out.
type Lanes struct {
	*Executor
	Effects []Effect
	entries int64
}

// NextEntry returns an id for the next entry. One counter serves all parts.
func (l *Lanes) NextEntry(prefix string) string {
	l.entries++
	return prefix + "-" + strconv.FormatInt(l.entries, 10)
}

// Push, Tick, Pause, Cancel, Gate and SetUnitDisabled call those of the executor and collect
// the effects.
func (l *Lanes) Push(to Lane, e Entry) (refused *Refusal) {
	l.Effects, refused = l.Executor.Push(to, e, l.Effects)
	return refused
}

func (l *Lanes) Tick(now time.Duration) { l.Effects = l.Executor.Tick(now, l.Effects) }

func (l *Lanes) Pause(of Lane, how Pausing, now time.Duration) {
	l.Effects = l.Executor.Pause(of, how, now, l.Effects)
}

func (l *Lanes) Cancel(of Lane, entry string, why schema.Reason) {
	l.Effects = l.Executor.Cancel(of, entry, why, l.Effects)
}

func (l *Lanes) Gate(g Gate) { l.Effects = l.Executor.Gate(g, l.Effects) }

func (l *Lanes) SetUnitDisabled(unit, why string) {
	l.Effects = l.Executor.SetUnitDisabled(unit, why, l.Effects)
}
