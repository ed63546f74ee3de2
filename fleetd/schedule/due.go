package schedule

import (
	"fmt"
	"time"
)

// Grace is how late an instant may run without being missed: a new leader takes over within it.
const Grace = time.Minute

// Bounds of what is done for instants that fleetd missed. A schedule for every minute misses half a million in a year.
const (
	missedWithin = 31 * 24 * time.Hour // of instants before that, only the first is listed
	missedAtMost = 50
)

// Due is what is to be done now.
type Due struct {
	Run    time.Time       // this instant runs; zero = none
	Missed []MissedInstant // these do not, in order
	Next   time.Time       // the next instant after now; zero = never again
}

// MissedInstant is an instant that is not run, with the reason.
type MissedInstant struct {
	At  time.Time
	Why string
}

// Due decides about all instants from pending, the one that was computed last, up to now: at most the newest of them runs.
// Nothing is due if pending is in the future, as after the clock was set back.
func (t Timer) Due(pending, now time.Time) (d Due) {
	if pending.IsZero() || pending.After(now) {
		return Due{Next: pending}
	}
	all := []time.Time{pending}
	after, left := pending, 0
	if early := now.Add(-missedWithin); after.Before(early) {
		after = early
	}
	for {
		i := t.Next(after)
		if i.At.IsZero() || i.At.After(now) {
			d.Next = i.At
			break
		}
		after = i.At
		if all = append(all, i.At); len(all) > missedAtMost { // keep the first and the newest
			all = append(all[:1], all[2:]...)
			left++
		}
	}
	newest := all[len(all)-1]
	late := now.Sub(newest)
	runs := late <= Grace || t.missed == RunOnce && late <= t.within
	for i, at := range all {
		if i == len(all)-1 && runs {
			d.Run = at
			break
		}
		d.Missed = append(d.Missed, MissedInstant{at, t.whyMissed(now.Sub(at), runs)})
	}
	if left > 0 && len(d.Missed) > 0 {
		d.Missed[0].Why += fmt.Sprintf("; %d later ones that were missed, too, are not listed", left)
	}
	return d
}

func (t Timer) whyMissed(late time.Duration, laterRuns bool) string {
	why := fmt.Sprintf("fleetd came to it %v late", late.Round(time.Second))
	switch {
	case laterRuns:
		return why + ", when a later one was due"
	case t.missed == RunOnce && late > t.within:
		return why + fmt.Sprintf("; missed ones are run up to %v late", t.within)
	case t.missed == RunOnce:
		return why + "; only the newest missed one is run"
	}
	return why + "; missed ones are skipped"
}
