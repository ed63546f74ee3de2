package report

import (
	"troupe/robotd/effect"
	"troupe/schema"
)

// lastActs bounds the acts that the state lists.
const lastActs = 5

// acts are those that ended last, the newest last.
type acts struct {
	completed []string
	failures  []schema.Failed
}

// ActCompleted notes an act that was performed to its end.
func (s *State) ActCompleted(id string) { s.acts.completed = lately(s.acts.completed, id) }

// ActFailed notes an act that did not end well.
func (t Step) ActFailed(id string, why schema.Reason, detail string) {
	t.acts.failures = lately(t.acts.failures, schema.Failed{Act: id, Reason: why, Detail: detail})
	t.Event("act_failed", "act", string(why), "", effect.Described{ID: id, Reason: why, Detail: detail})
}

// Acts are those that ended last, as the state shows them.
func (s *State) Acts() schema.StateQueue {
	return schema.StateQueue{Waiting: []string{}, Completed: append([]string{}, s.acts.completed...), Failed: append([]schema.Failed{}, s.acts.failures...)}
}

// lately keeps the newest few, the newest last.
func lately[T any](list []T, v T) []T {
	if len(list) == lastActs {
		list = list[:copy(list, list[1:])]
	}
	return append(list, v)
}
