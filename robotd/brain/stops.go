package brain

import (
	"troupe/robotd/clock"
	"troupe/robotd/desired"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/latch"
	"troupe/schema"
)

func (t *step) toLatches(do func(latch.Step)) {
	f := latch.Facts{Robot: t.cfg.ID, FleetID: t.desired.FleetID(), Labels: t.cfg.Labels, Labelled: t.desired.Configured()}
	t.runAndCarryOut(func() { do(latch.Step{State: &t.latches, Facts: f, People: &t.link, Now: t.now, Out: &t.list}) })
}

// stopDocument takes a document that latches stops.
func (t *step) stopDocument(ev event.StopDocument) {
	var v desired.Verification
	t.toLatches(func(s latch.Step) {
		if w, signed := s.Subject(ev); signed {
			t.toDesired(func(d desired.Step) { v = d.VerifyStops(w, ev.Sig) })
		}
		s.Document(ev, v.Refused, v.Detail)
	})
}

// liveStop takes a live stop.
func (t *step) liveStop(ev event.LiveStop) {
	applies := false
	if t.toLatches(func(s latch.Step) { applies = s.LiveStop(ev) }); applies && ev.Retained {
		t.requests.NoteRetainedStop(ev.Client)
	}
}

// persistStops saves what changed in this step. Answers that waited for the disk follow a
// state that shows the robot as it is now.
func (t *step) persistStops() {
	if !t.report.Clean() && t.latches.CanAnswer() {
		t.changed(effect.FlushNow)
	}
	t.toLatches(latch.Step.Persist)
}

// answerStops answers live stops.
func (t *step) answerStops() {
	if !t.latches.LiveStopsWait() || t.Pending() {
		return
	}
	current := t.AckState()
	a := latch.Answer{Session: t.report.Session(), StateSeq: t.report.StateSeq(), Current: &current}
	t.toLatches(func(l latch.Step) { l.AnswerLiveStops(a) })
}

// restoreStops restores the stops that were latched before the restart.
func (t *step) restoreStops(m Memory) {
	t.toLatches(func(s latch.Step) {
		if pending, ok := s.Restore(m.Memory); ok {
			t.safety.Restore(t.now, pending)
		}
	})
}

// Latch adds a stop of a person at the robot to the memory, before New begins with it. It returns
// the value that the disk has to keep as with SaveLatches, and all stops that are latched then.
func (m *Memory) Latch(now clock.Now, id, why string) (value []byte, latched []schema.StopLatch) {
	m.Latches, latched = latch.LatchBeforeStart(now, m.Memory, id, why)
	return m.Latches, latched
}
