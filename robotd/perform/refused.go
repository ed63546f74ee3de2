package perform

import (
	"slices"
	"time"

	"troupe/robotd/interrupt"
	"troupe/schema"
)

// Refused requests of the robot's own are reported at once, and then at most once in
// refusedEvery for the same request and reason, with their count. Of more than maxRefused
// different ones the oldest is reported early.
const (
	refusedEvery = 10 * time.Second
	maxRefused   = 16
)

// refusals counts the refusals of one request for one reason, and says when they were last
// reported.
type refusals struct {
	refused
	at    time.Duration // when they were last reported
	count int64         // since then
}

// refused is the data of the event.
type refused struct {
	Handler     string        `json:"handler"`
	Interrupter string        `json:"interrupter"`
	Reason      schema.Reason `json:"reason"`
	Detail      string        `json:"detail,omitempty"`
	Count       int64         `json:"count"`
}

// ownRefused takes the refusal of a request that no command made.
func (t Step) ownRefused(in interrupt.Input, a schema.Verdict) {
	i := slices.IndexFunc(t.refusals, func(r refusals) bool {
		return r.Handler == in.Handler && r.Interrupter == in.Interrupter && r.Reason == a.Reason
	})
	if i >= 0 {
		t.refusals[i].count++
		t.refusals[i].Detail = a.Detail
		return
	}
	if len(t.refusals) >= maxRefused {
		t.reportRefused(&t.refusals[0])
		t.refusals = slices.Delete(t.refusals, 0, 1)
	}
	t.refusals = append(t.refusals, refusals{refused: refused{in.Handler, in.Interrupter, a.Reason, a.Detail, 0}, count: 1})
	t.reportRefused(&t.refusals[len(t.refusals)-1])
}

// reportCounted reports the refusals that were counted since their last report.
func (t Step) reportCounted() {
	for i := 0; i < len(t.refusals); {
		switch r := &t.refusals[i]; {
		case t.Now.Mono < r.at+refusedEvery:
			i++
		case r.count == 0:
			t.refusals = slices.Delete(t.refusals, i, i+1)
		default:
			t.reportRefused(r)
			i++
		}
	}
}

func (t Step) reportRefused(r *refusals) {
	if r.count > 0 {
		r.Count, r.count, r.at = r.count, 0, t.Now.Mono
		t.Out.Event("interrupt_refused", r.Interrupter, string(r.Reason), "", r.refused)
	}
}
