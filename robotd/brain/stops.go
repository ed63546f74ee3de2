package brain

import (
	"troupe/robotd/clock"
	"troupe/robotd/desired"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/latch"
	"troupe/robotd/stops"
	"troupe/schema"
)

func (t *step) toStops(do func(stops.Step)) {
	f := latch.Facts{Robot: t.cfg.ID, FleetID: t.desired.FleetID(), Labels: t.cfg.Labels, Labelled: t.desired.Configured()}
	t.runAndCarryOut(func() { do(stops.Step{State: &t.stops, Facts: f, People: &t.link, Now: t.now, Out: &t.list}) })
}

// stopDocument takes a document that latches stops.
func (t *step) stopDocument(ev event.StopDocument) {
	var v desired.Verification
	t.toStops(func(s stops.Step) {
		if w, signed := s.Subject(ev); signed {
			t.toDesired(func(d desired.Step) { v = d.VerifyStops(w, ev.Sig) })
		}
		s.Document(ev, v.Refused, v.Detail)
	})
}

// liveStop takes a live stop.
func (t *step) liveStop(ev event.LiveStop) {
	applies := false
	if t.toStops(func(s stops.Step) { applies = s.LiveStop(ev) }); applies && ev.Retained {
		t.requests.NoteRetainedStop(ev.Client)
	}
}

// persistStops saves what changed in this step. Answers that waited for the disk follow a
// state that shows the robot as it is now.
func (t *step) persistStops() {
	if !t.report.Clean() && t.stops.CanAnswer() {
		t.changed(effect.FlushNow)
	}
	t.toStops(stops.Step.Persist)
}

// answerStops answers live stops.
func (t *step) answerStops() {
	if !t.stops.LiveStopsWait() || t.Pending() {
		return
	}
	current := t.AckState()
	a := stops.Answer{Session: t.report.Session(), StateSeq: t.report.StateSeq(), Current: &current}
	t.toStops(func(s stops.Step) { s.AnswerLiveStops(a) })
}

// restoreStops restores the stops that were latched before the restart.
func (t *step) restoreStops(m Memory) {
	t.toStops(func(s stops.Step) {
		pending, ok := s.Restore(m.stops())
		if ok {
			t.permission.Restore(t.now, pending)
		}
	})
}

// stops is what the disk has of them.
func (m *Memory) stops() stops.Memory {
	return stops.Memory{
		Saved: m.Latches, LatchesLost: m.LatchesLost, Unsaved: m.LatchesUnsaved, Lost: m.Lost, Refused: m.Refused,
	}
}

// Latch adds a stop of a person at the robot to the memory, before New begins with it. It returns
// the value that the disk has to keep as with SaveLatches, and all stops that are latched then.
func (m *Memory) Latch(now clock.Now, id, why string) (value []byte, latched []schema.StopLatch) {
	m.Latches, latched = stops.LatchBeforeStart(now, m.stops(), id, why)
	return m.Latches, latched
}
