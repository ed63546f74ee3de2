package brain

import (
	"slices"

	"troupe/robotd/desired"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/latch"
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/robotd/stops"
	"troupe/schema"
	"troupe/schema/sign"
	"troupe/schema/verb"
)

// Requested stops: where they come from, and what they end.

// stopDocumentKind is the kind in signatures of documents that latch stops.
var stopDocumentKind = map[latch.Source]sign.Subject{latch.Robot: {Kind: sign.Stop}, latch.Fleet: {Kind: sign.FleetStop}}

func (t *step) latchFactsNow() latch.Facts {
	return latch.Facts{Robot: t.cfg.ID, FleetID: t.desired.FleetID(), Labels: t.cfg.Labels, Labelled: t.desired.Configured()}
}

// stopDocument takes a document that latches stops.
func (t *step) stopDocument(ev event.StopDocument) {
	doc := ev.Document
	w, v := stopDocumentKind[doc.From], desired.Verified{}
	if doc.Problem == "" {
		if w.FleetID, w.Rev, w.Counter, w.Document = doc.FleetID, doc.Rev, ev.Counter, ev.Digest; doc.From == latch.Robot {
			w.Robot = t.cfg.ID
		}
		t.toDesired(func(d desired.Step) { v = d.Verify(w, ev.Sig, nil, nil) })
	}
	switch v.Refused {
	case "":
		t.toDesired(func(d desired.Step) { d.NoteStops(v) })
	case schema.ReasonStaleRevision:
		doc.Verification = latch.Replayed
	default:
		doc.Verification = latch.Unverified
	}
	d := t.latching(doc, ev.N)
	t.endOutdated(d)
	if d.Ignored == "" && doc.Verification == latch.Unverified {
		d.Ignored, d.Detail = v.Refused, v.Detail
	}
	if d.Ignored != "" {
		t.recordEvent(string(d.Ignored), "safety", string(ev.From)+" stop", "", effect.Described{Reason: d.Ignored, Detail: d.Detail})
	}
}

// stopCalled takes a live stop. Commands that are older do not happen after it.
func (t *step) stopCalled(ev event.LiveStop) {
	r, anew := schema.ReadStop(ev.Client, ev.Payload)
	if !latch.Applies(r, t.latchFactsNow()) {
		return
	}
	t.stopped = max(t.stopped, ev.N)
	l := stops.Asked(t.now, r.ID, r.Level, t.beats.Asker(ev.Client, r.By), r.Why, anew)
	l.All = len(r.Robots) == 0 && len(r.Labels) == 0
	d := t.latching(l, ev.N)
	t.stepRequests(request.Stopped{Detail: "a stop came before it was begun"})
	t.stops.NoteLiveStop(ev.Client, r.ID, d)
	if ev.Retained {
		t.answers.NoteAlert(request.Alert{Reason: schema.ReasonRetainedCommand, Client: ev.Client, Verb: verb.LiveStop,
			Detail: "a stop was retained on the broker; it was obeyed and holds this robot again at each connection until it is removed"})
	}
}

// endOutdated ends commands that wait for the disk: they were sent before the stop, or
// before its release. A document that only records a latched stop ends none.
func (t *step) endOutdated(d latch.Decision) {
	if slices.ContainsFunc(d.Transitions, func(t latch.Transition) bool { return t.Latched() || t.Released() }) {
		t.stepRequests(request.Stopped{Detail: "a stop was held or released before it was begun"})
	}
}

// stopOrdered latches a stop that arrived as a command with an id.
func (t *step) stopOrdered(o request.Perform, why string) {
	a, _ := o.Args.(verb.Stop)
	if a.Latch == "" {
		return
	}
	level := safety.Verb(o.Verb.Name).Level()
	id, anew := a.Latch, false
	if !schema.ValidRequestID(id) {
		id, anew = o.Client, true
	}
	t.latching(stops.Asked(t.now, id, level, t.beats.Asker(o.Client, o.By), why, anew), 0)
}

// resetHere releases the stops that fleetd has not latched, because a person at the robot
// reset them.
func (t *step) resetHere() { t.latching(latch.Reset{}, 0) }

// latching gives the latches one input. n is its number among the received messages:
// messages with a lower number are older than a stop or its release.
func (t *step) latching(in latch.Input, n uint64) latch.Decision {
	from := t.list.Len()
	d := stops.Step(&t.stops, t.now, t.latchFactsNow(), in, &t.list)
	t.settle(from)
	if slices.ContainsFunc(d.Transitions, func(t latch.Transition) bool { return t.Latched() || t.Released() }) {
		t.stopped = max(t.stopped, n)
	}
	return d
}

// persistStops saves what changed in this step. Answers that waited for the disk follow a
// state that shows the robot as it is now.
func (t *step) persistStops() {
	if !t.report.Clean() && t.stops.Answers() {
		t.changed(effect.FlushNow)
	}
	t.collect(func() { t.stops.Persist(t.now, &t.list) })
}

// answerStops answers live stops.
func (t *step) answerStops() {
	if !t.stops.LiveStopsWait() || t.Pending() {
		return
	}
	from, current := t.list.Len(), t.Current()
	t.stops.AnswerLiveStops(t.now, stops.Answer{Session: t.report.Session(), StateSeq: t.report.StateSeq(), Current: &current}, &t.list)
	t.settle(from)
}

// restoreStops restores the stops that were latched before the restart.
func (t *step) restoreStops(m Memory) {
	from := t.list.Len()
	held, ok := t.stops.Restore(t.now, t.latchFactsNow(), stops.Memory{
		Kept: m.Latches, Old: [2]string{m.Values[stops.SafetyKey], m.Values[stops.LatchesKey]},
		Missing: m.LatchesLost, Lost: m.Lost, Refused: m.Refused,
	}, &t.list)
	if ok {
		t.safety = safety.BootPending(t.now.Mono, held)
	}
	t.settle(from)
}
