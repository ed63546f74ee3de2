package signal

import (
	"maps"
	"slices"
	"time"

	"troupe/schema/cond"
)

// Watch evaluates a condition when its truth may have changed, and only then.
type Watch struct {
	condition *cond.Condition
	keys      []string
	sinces    []cond.SinceUse

	hidden []string // keys that are missing, whatever their values

	truth bool
	seen  int64         // count of changes when it was evaluated; -1 = never
	due   time.Duration // when time alone may change it; 0 = never
}

// polled is the interval at which a condition is evaluated that uses since_s otherwise than in a
// comparison.
const polled = time.Second

// NewWatch watches a condition; a nil one is always true.
func NewWatch(c *cond.Condition) Watch {
	w := Watch{condition: c, seen: -1, truth: true}
	if c != nil {
		w.keys, w.sinces = c.Keys(), c.Sinces()
	}
	return w
}

// True reports whether the condition is true.
func (w *Watch) True(now time.Duration, v *Values) bool {
	switch {
	case w.condition == nil, w.seen == v.changes && !w.overdue(now):
		return w.truth
	case w.seen < 0 || w.overdue(now) || w.touched(v):
		w.truth = w.condition.Eval(w.Facts(now, v))
		w.due = w.next(now, v)
	}
	w.seen = v.changes
	return w.truth
}

// Hide makes keys missing, and no others; since_s has the key [cond.Since].
func (w *Watch) Hide(keys []string) {
	hidden := w.hidden[:0]
	for _, key := range keys {
		if slices.Contains(w.keys, key) || key == cond.Since && len(w.sinces) > 0 {
			hidden = append(hidden, key)
		}
	}
	w.hidden, w.seen = hidden, -1
}

// Facts are the facts that the condition is evaluated with. They are valid until the next
// call.
func (w *Watch) Facts(now time.Duration, v *Values) cond.Facts {
	facts := v.Facts(now)
	if len(w.hidden) == 0 {
		return facts
	}
	facts = maps.Clone(facts)
	for _, key := range w.hidden {
		delete(facts, key)
	}
	return facts
}

// Due is when time alone may change the truth; 0 = never.
func (w *Watch) Due() time.Duration { return w.due }

func (w *Watch) overdue(now time.Duration) bool { return w.due != 0 && now >= w.due }

// touched reports whether something that the condition names has changed.
func (w *Watch) touched(v *Values) bool {
	for _, key := range w.keys {
		if v.stamps[key].stamp > w.seen {
			return true
		}
	}
	for _, use := range w.sinces {
		if use.Name == "" || v.happened[use.Name].stamp > w.seen {
			return true
		}
	}
	return false
}

func (w *Watch) next(now time.Duration, v *Values) (next time.Duration) {
	for _, use := range w.sinces {
		m, happened := v.happened[use.Name]
		switch at := m.at + use.Limit + time.Millisecond; { // past the limit, for <= and >
		case use.Limit == 0:
			next = sooner(next, now+polled)
		case happened && at > now:
			next = sooner(next, at)
		}
	}
	return next
}
