package perform

import (
	"cmp"
	"slices"

	"troupe/robotd/act"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/interrupt"
	"troupe/schema"
)

// pendingRequest is one request for an act, from its acceptance to its answer. The requests of
// one interrupt are performed one after the other in its lane.
type pendingRequest struct {
	entry     string // of the lane
	key       command.Key
	cancelled bool        // its act has to end
	by        command.Key // that cancelled it
	script    script      // of one that waits: the files of its act, and what was left out
}

// dropRequest removes a request that is answered. If it is the one that was performed, the next follows with its script.
func (h *runningHandler) dropRequest(i int) {
	h.requests = slices.Delete(h.requests, i, i+1)
	if i == 0 && len(h.requests) > 0 {
		h.script, h.detail = h.requests[0].script, ""
	}
}

// performs returns the id of the lane's entry that the handler performs now.
func (h *runningHandler) performs() string {
	if len(h.requests) > 0 {
		return h.requests[0].entry
	}
	return cmp.Or(h.entry, h.id)
}

// joinHandler queues a requested act behind those that were requested before.
func (t Step) joinHandler(e interrupt.Entry, requested *requestedAct) {
	i := slices.IndexFunc(t.runningHandlers, func(h runningHandler) bool { return h.id == e.ID })
	if requested == nil || i < 0 {
		return
	}
	h, does := &t.runningHandlers[i], requested.Entry
	does.ID, does.Clear = t.Lanes.NextEntry("asked"), false
	asked := pendingRequest{entry: does.ID, key: requested.key, script: script{files: requested.files}}
	if refused := t.pushFitting(handlerLane(h.handler), &asked.script, &does); refused != nil {
		t.Out.Refuse(requested.key, refused.Reason, refused.Pointer, refused.Detail)
		return
	}
	h.requests = append(h.requests, asked)
	if h.actsOver { // the one before is over, but its interrupt has not ended yet
		t.answerFirst(h, h.failed)
		h.actsOver, h.ending, h.failed = false, false, ""
	}
	t.Out.Do(effect.Reply{To: requested.key, Verdict: schema.Verdict{Status: schema.StatusAccepted}, StartsMotion: does.Act.Moves()})
}

// answerFirst answers the command of the act that has ended, and continues with the next.
func (t Step) answerFirst(h *runningHandler, failed schema.Reason) {
	r := schema.Verdict{Status: schema.StatusSucceeded, Reason: failed, Detail: cmp.Or(h.detail, h.leftOut())}
	if failed != "" {
		r.Status = schema.StatusFailed
	}
	t.Out.Reply(h.requests[0].key, r)
	h.dropRequest(0)
}

// requestedActEnded takes the end of a requested act after which others of the same interrupt
// continue. The end of the last one ends the interrupt, and is answered then.
func (t Step) requestedActEnded(o *act.Effect) bool {
	for i := range t.runningHandlers {
		h := &t.runningHandlers[i]
		j := slices.IndexFunc(h.requests, func(a pendingRequest) bool { return a.entry == o.Entry })
		if j < 0 || len(h.requests) == 1 {
			continue
		}
		if a := h.requests[j]; o.Outcome == act.EntryCancelled {
			t.Out.Reply(a.key, schema.Verdict{Status: schema.StatusCancelled, Reason: o.Reason, Refs: a.by.Refs()})
			h.dropRequest(j)
			return true
		}
		t.answerFirst(h, failure(o))
		return true
	}
	return false
}

// cancelMarked ends the acts whose requests were cancelled: the interrupt with them, if
// nothing else waits in it.
func (t Step) cancelMarked() {
	for i := range t.runningHandlers {
		h := &t.runningHandlers[i]
		marked := 0
		for _, a := range h.requests {
			if a.cancelled {
				marked++
			}
		}
		switch {
		case marked == 0:
		case marked == len(h.requests) && !h.ending:
			h.ending = true
			t.toInterrupts.Add(interruptInput{Input: interrupt.Input{What: interrupt.Cancel, ID: h.id, Reason: schema.ReasonCancelled}})
		case marked < len(h.requests):
			for _, a := range slices.Clone(h.requests) {
				if a.cancelled {
					t.Lanes.Cancel(handlerLane(h.handler), a.entry, schema.ReasonCancelled)
				}
			}
		}
	}
}

// isStale reports whether the end of an interrupt was decided before another request
// joined it.
func (t Step) isStale(in interrupt.Input) bool {
	return (in.What == interrupt.Done || in.What == interrupt.Error) &&
		slices.ContainsFunc(t.runningHandlers, func(h runningHandler) bool { return h.id == in.ID && !h.ending })
}

// failure returns why an act failed; empty if it did not.
func failure(o *act.Effect) schema.Reason {
	if o.Outcome == act.EntryFailed {
		return o.Reason
	}
	return ""
}
