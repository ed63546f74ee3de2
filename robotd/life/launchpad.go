package life

import (
	"slices"
	"time"

	"troupe/robotd/effect"
	"troupe/schema"
)

// suggestEvery is the shortest time between two events about suggestions.
const suggestEvery = time.Second

// seen is the facts as they were when the launchpad chose.
type seen struct {
	changes                                                 int64
	paused, interrupts, preempts, charging, moving, guarded bool
}

// announced is what the newest event about suggestions said.
type announced struct {
	names []string
	at    time.Duration
	any   bool
}

// suggested is the data of events about suggestions, and next that of the next activity.
type (
	suggested struct {
		Activities []string `json:"activities"`
	}
	nextActivity struct {
		Activity string `json:"activity,omitempty"`
	}
)

// Launch lets the launchpad choose, and gives its first choice the focus unless a rule prevents it.
// It chooses only when something has changed on which the choice depends.
func (t Step) Launch() {
	if t.again { // at most one transition in a step
		return
	}
	now := seen{t.Signals.Changes(), t.Paused, t.Interrupts, t.Preempts, t.Charging, t.Signals.Moving, t.safeguarded()}
	if !t.dirty && now == t.seen && (t.due == 0 || t.Now.Mono < t.due) {
		return
	}
	t.seen, t.dirty, t.due = now, false, 0
	t.choose()
	t.suggest()
	if len(t.chosen) == 0 {
		t.setNext("")
		return
	}
	a := &t.activities[t.chosen[0]]
	t.setNext(a.ID)
	if prevents(LaunchBlocks, t, a) != nil || !t.can(focusEvent(a)) {
		return
	}
	t.stop(schema.ReasonSuperseded)
	t.enter(focusEvent(a), "", a.ID)
	t.start(a, "launchpad")
}

// choose lists the candidates, the first choice first.
func (t Step) choose() {
	t.chosen = t.chosen[:0]
	if !t.launchpadOn {
		return
	}
	t.chose++
	for i := range t.activities {
		a := &t.activities[i]
		if a.when == nil {
			continue
		}
		t.evaluate(a)
		if prevents(CandidateBlocks, t, a) == nil && prevents(Permissions, t, a) == nil {
			t.chosen = append(t.chosen, i)
		}
		if rests := a.restsUntil(); a.held && rests > t.Now.Mono {
			t.due = sooner(t.due, rests)
		}
	}
	slices.SortFunc(t.chosen, t.compare)
}

func (s *State) compare(i, k int) int {
	for n := range Preferences {
		if c := Preferences[n].Compare(&s.activities[i], &s.activities[k]); c != 0 {
			return c
		}
	}
	return 0
}

// evaluate notes whether the condition of an activity is true, for long enough.
func (t Step) evaluate(a *activity) {
	truth := a.watch.True(t.Now.Mono, &t.Signals.Values)
	held := a.hold.Step(t.Now.Mono, truth, a.needs)
	if held != a.held {
		a.held = held
		t.Out.Changed(effect.FlushSoon)
	}
	if truth && !held {
		t.due = sooner(t.due, t.Now.Mono+a.needs-a.hold.TrueFor(t.Now.Mono))
	}
	t.due = sooner(t.due, a.watch.Due())
}

// setNext notes which activity is the first choice.
func (t Step) setNext(id string) {
	if id == t.next {
		return
	}
	t.next = id
	t.Out.Changed(effect.FlushSoon)
	t.Out.Event("life_next", "life", "launchpad", "", nextActivity{id})
}

// suggest reports the candidates when they have changed, at most once in suggestEvery.
func (t Step) suggest() {
	n := min(len(t.chosen), schema.MaxLifeSuggestions)
	same := n == len(t.announced.names)
	for i := 0; same && i < n; i++ {
		same = t.activities[t.chosen[i]].ID == t.announced.names[i]
	}
	if same {
		return
	}
	if at := t.announced.at + suggestEvery; t.announced.any && t.Now.Mono < at {
		t.due = sooner(t.due, at)
		return
	}
	t.announced = announced{t.suggestions(), t.Now.Mono, true}
	t.Out.Changed(effect.FlushSoon)
	t.Out.Event("life_suggestion", "life", "launchpad", "", suggested{t.announced.names})
}

// suggestions names the candidates, the first choice first.
func (s *State) suggestions() []string {
	list := make([]string, 0, min(len(s.chosen), schema.MaxLifeSuggestions))
	for _, i := range s.chosen[:cap(list)] {
		list = append(list, s.activities[i].ID)
	}
	return list
}
