package life

import (
	"time"

	"troupe/robotd/signal"
	"troupe/schema/cond"
	"troupe/schema/score"
)

// activity is one of the set, and where it stands.
type activity struct {
	*score.Activity
	when            *cond.Condition // nil = it starts only on request
	needs, cooldown time.Duration   // how long the condition has to hold, and how long it rests after its end

	watch signal.Watch
	hold  cond.Hold
	held  bool // the condition is true, for long enough
	past
}

// past is the history of an activity. It outlasts the replacement of the set.
type past struct {
	starts, ends   int64
	started, ended time.Duration // the last time
	total          time.Duration
	failed         bool // the last time
}

// takeSet takes the fleet's activities.
func (s *State) takeSet(set *score.Activities) {
	old := s.activities
	s.set, s.activities, s.dirty, s.next = set, nil, true, ""
	s.chosen = s.chosen[:0]
	if set == nil {
		return
	}
	s.activities = make([]activity, len(set.Activities))
	for i := range set.Activities {
		a := &set.Activities[i]
		n := activity{Activity: a, needs: duration(a.Launch.For), cooldown: duration(a.Launch.Cooldown)}
		if a.Launch.When != "" {
			n.when, _ = cond.Parse(a.Launch.When) // valid, or the set would not have been accepted
		}
		n.watch = signal.NewWatch(n.when)
		if k := indexOf(old, a.ID); k >= 0 {
			n.past = old[k].past
		}
		s.activities[i] = n
	}
	s.hide()
}

func duration(text string) time.Duration {
	d, _ := time.ParseDuration(text)
	return d
}

func indexOf(list []activity, id string) int {
	for i := range list {
		if list[i].ID == id {
			return i
		}
	}
	return -1
}

// named returns an activity of the set, or nil.
func (s *State) named(id string) *activity {
	if i := indexOf(s.activities, id); i >= 0 {
		return &s.activities[i]
	}
	return nil
}
