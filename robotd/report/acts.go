package report

import (
	"slices"

	"troupe/robotd/act"
	"troupe/robotd/effect"
	"troupe/schema"
)

// lastActs bounds the acts that the state lists.
const lastActs = 5

// acts are those that ended last, the newest first.
type acts struct {
	completed []schema.QueuedAct
	failures  []schema.FailedAct
}

// ActCompleted notes an act that was performed to its end.
func (s *State) ActCompleted(id, req string) {
	s.acts.completed = prependBounded(s.acts.completed, schema.QueuedAct{Act: id, ReqID: req})
}

// ActFailed notes an act that did not end well.
func (t Step) ActFailed(id, req string, why schema.Reason, detail string) {
	t.acts.failures = prependBounded(t.acts.failures, schema.FailedAct{Act: id, ReqID: req, Reason: why, Detail: detail})
	t.Event("act_failed", "act", string(why), req, effect.Described{ID: id, Reason: why, Detail: detail})
}

// Began and Ended record the performance of an act.
func (t Step) Began(o *act.Effect) {
	t.Event("act_started", "act", "", o.Req, actPerformance{Act: o.Act, Entry: o.Entry, Lane: o.Lane})
}

func (t Step) Ended(o *act.Effect) {
	if o.Begun {
		t.Event("act_ended", "act", string(o.Reason), o.Req, actPerformanceEnd{
			actPerformance{Act: o.Act, Entry: o.Entry, Lane: o.Lane}, o.Outcome, o.Reason, o.Lasted.Milliseconds(),
		})
	}
}

// actPerformance is the data of act_started.
type actPerformance struct {
	Act   string   `json:"act"`
	Entry string   `json:"entry"`
	Lane  act.Lane `json:"lane"`
}

// actPerformanceEnd is the data of act_ended.
type actPerformanceEnd struct {
	actPerformance
	Outcome act.Outcome   `json:"outcome"`
	Reason  schema.Reason `json:"reason,omitempty"`
	MS      int64         `json:"ms"`
}

// Queue is the part of the state document with the acts that are queued, the running one first, and
// with those that ended last.
func (s *State) Queue(queued []schema.QueuedAct) schema.StateQueue {
	q := schema.StateQueue{Queued: queued, Waiting: []string{}, Completed: []string{},
		Failed: append([]schema.FailedAct{}, s.acts.failures...)}
	for _, c := range s.acts.completed {
		q.Completed = append(q.Completed, c.Act)
	}
	for i, a := range queued {
		if i == 0 {
			q.Current = a.Act
		} else {
			q.Waiting = append(q.Waiting, a.Act)
		}
	}
	q.CompletedActs = append(q.CompletedActs, s.acts.completed...)
	return q
}

// prependBounded puts v before a list, which keeps at most lastActs.
func prependBounded[T any](list []T, v T) []T {
	return slices.Insert(list[:min(len(list), lastActs-1)], 0, v)
}
