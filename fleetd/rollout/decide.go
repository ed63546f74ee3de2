package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"troupe/schema"
)

// Decision is what a person decides about a rollout.
type Decision struct {
	On        Event // one of ofPeople
	By, Why   string
	Digest    string    // of OnApprove: of the content that is approved
	NotBefore time.Time // of OnSchedule
}

// NeedsRobots reports whether Decide needs the robots of a rollout in this state.
func (d Decision) NeedsRobots(s State) bool {
	return d.On == OnRetry || d.On == OnAbort || d.On == OnRollback && s == RollbackIncomplete
}

// ofPeople are the events that people decide, as they are named for them.
var ofPeople = []Event{OnApprove, OnSchedule, OnStart, OnPause, OnResume, OnRetry, OnAbort, OnRollback}

// Possible lists what a person can decide now.
func (r Rollout) Possible() []Event {
	return slices.DeleteFunc(Table.Accepts(r.State), func(on Event) bool { return !slices.Contains(ofPeople, on) })
}

// Decide applies a person's decision, or says everything that is against it. What follows for the robots is up to the
// next Step, which is due at once.
func Decide(r *Run, d Decision, now time.Time) (Changes, []schema.Problem) {
	if found := r.refusals(d, now); len(found) > 0 {
		return Changes{}, found
	}
	o := &r.Rollout
	why, before := d.Why, o.State
	r.move(d.On, why, now)
	switch d.On {
	case OnApprove:
		o.ApprovedBy, o.ApprovedAt = d.By, now
		if !o.NotBefore.IsZero() {
			r.move(OnSchedule, why, now)
		}
	case OnSchedule:
		o.NotBefore = d.NotBefore
	case OnResume:
		r.waive(now)
	case OnRetry:
		r.retryFailed(now)
	case OnAbort:
		r.cancel(now)
	case OnRollback:
		if before == RollbackIncomplete {
			r.restoreAgain(now)
		}
	}
	o.NextAt = now
	r.note(d.On, why, d.By)
	return r.take(), nil
}

func (r *Run) refusals(d Decision, now time.Time) (found []schema.Problem) {
	o := r.Rollout
	add := func(at, code, detail, hint string) { found = append(found, schema.NewProblem(at, code, detail, hint)) }
	possible := o.Possible()
	if !slices.Contains(possible, d.On) {
		hint := "nothing can be decided about it any more; plan another one"
		if len(possible) > 0 {
			names := make([]string, len(possible))
			for i, on := range possible {
				names[i] = string(on)
			}
			hint = "possible now: " + strings.Join(names, ", ")
		}
		add("", CodeWrongState, fmt.Sprintf("%s is not possible: the rollout is %s (%s)", d.On, o.State, o.Why), hint)
	}
	switch d.On {
	case OnApprove:
		if d.By == o.CreatedBy {
			add("", CodeOwnRollout, "the person who made a rollout cannot approve it", "ask somebody else who has the right approve")
		}
		switch d.Digest {
		case o.Digest:
		case "":
			add("/digest", CodeMissing, "the approval names no content", "read the plan, and send its digest")
		default:
			add("/digest", CodeDigestChanged,
				"the rollout has another content: "+o.Content.String()+" with the digest "+o.Digest, "read the plan, and send its digest")
		}
	case OnSchedule:
		if !d.NotBefore.After(now) {
			add("/not_before", CodeBadValue, "it is not in the future", "write a later time, or start the rollout")
		}
	case OnRetry:
		if o.Failures() == 0 {
			add("", CodeNothingFailed, "no robot of this rollout has failed", "resume it, if it is paused")
		}
	}
	return found
}

// Failures is the number of robots that failed.
func (r Rollout) Failures() (n int) {
	for _, w := range r.Waves {
		n += w.failures()
	}
	return n
}

func (w Wave) failures() (n int) {
	for _, s := range Failures {
		n += w.Counts[s]
	}
	return n
}

// waive lets waves go on that failed or could not be decided: what a person has seen does not stop the rollout again.
func (r *Run) waive(now time.Time) {
	for i := range r.Rollout.Waves {
		w := &r.Rollout.Waves[i]
		if r.moveWave(w, OnWaveResume, "", now) {
			w.Gate.AcceptedFailures, w.Gate.Waived = w.failures(), true
		}
	}
}

// retryFailed plans the failed robots again.
func (r *Run) retryFailed(now time.Time) {
	for i := range r.robots {
		b := &r.robots[i]
		if !r.moveRobot(i, OnRetryRobot, "", now) {
			continue
		}
		b.Tries, b.Phase, b.RetryAt, b.RetryFor, b.Spent, b.SpentAt = 0, "", time.Time{}, 0, 0, time.Time{}
		w := &r.Rollout.Waves[b.Wave]
		if r.moveWave(w, OnWaveRetry, "", now) {
			w.SoakFrom = time.Time{}
		}
		w.Gate.AcceptedFailures, w.Gate.Waived = 0, false // what was accepted was another try
		r.next[b.Wave] = min(r.next[b.Wave], i)
	}
}

// Supersede takes robots that a rollout waits for out of it, because something else decides what they have.
func Supersede(r *Run, robots []string, why string, now time.Time) Changes {
	for _, id := range robots {
		if i, ok := r.index[id]; ok && r.robots[i].State.Open() {
			r.moveRobot(i, OnSupersede, why, now)
		}
	}
	r.Rollout.NextAt = now
	return r.take()
}

// restoreAgain lets Step give robots what they had before, which could not have it.
func (r *Run) restoreAgain(now time.Time) {
	for i := range r.robots {
		if b := &r.robots[i]; b.State == NotRestored && b.Had != nil {
			b.RetryAt = now
			r.change(i)
		}
	}
}
