package brain

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/latch"
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/schema"
)

// What keeps the robot from moving has to outlast a restart. It is kept as a whole
// with every change, by a way of its own that needs no free space and does not wait
// for the rest of the disk. The robot stops at once and says so at once; that a stop
// succeeded is answered when it is on the disk, or says that it is not.

const (
	// persistWait is how long a write may take until the disk is said to hang. The
	// answer to a stop waits for the write under way, and then for its own.
	persistWait = 500 * time.Millisecond
	// persistPause is how long a disk that refused is left alone.
	persistPause = time.Second
)

const notPersisted = string(schema.ReasonNotPersisted) // alert, as long as it is so

// The stops that a robot holds by itself, because of its disk.
const (
	// diskLatch: it cannot read which stops it holds.
	diskLatch = "unreadable-disk"
	// lostLatch: it has lost which stops it holds, with all else that it remembered.
	lostLatch = "lost-disk"
	// refusingLatch: it started while its disk took nothing, so that a stop may be
	// missing and the next one would be.
	refusingLatch = "unwritable-disk"
)

// persisted is what is kept of that.
type persisted struct {
	Safety  *safety.Held `json:"safety,omitempty"`
	Latches latch.State  `json:"latches"`
}

// persistence is how far the disk has come with it.
type persistence struct {
	dirty    bool          // it changed in this step
	wanted   int64         // the newest that was given to the disk
	kept     int64         // the newest that the disk has
	due      time.Duration // when the disk has to have written more of it
	told     bool          // that the disk does not have it
	again    time.Duration // when a disk that refused is asked again; 0 = it did not
	lost     bool          // LostSetting is on the disk
	heldBack []heldBack
}

// heldBack is the answer to a stop that waits until the disk has write n.
type heldBack struct {
	request.Tell
	n int64
}

func (p *persistence) missing() bool { return p.kept < p.wanted }

// answers reports whether an answer that waits for write n is told: the disk has it, or
// does not take it in time.
func (p *persistence) answers(n int64) bool { return p.kept >= n || p.told }

// answersAny reports whether some answer that waits is told now.
func (t *step) answersAny() bool {
	return slices.ContainsFunc(t.calls, func(c called) bool { return t.persist.answers(c.n) }) ||
		slices.ContainsFunc(t.persist.heldBack, func(h heldBack) bool { return t.persist.answers(h.n) })
}

// waits reports whether the disk may still have it in time.
func (p *persistence) waits() bool { return p.missing() && !p.told }

// persistLatches gives the disk what changed in this step. Answers that waited for it
// come behind a state that shows the robot as it is by now.
func (t *step) persistLatches() {
	if t.changed != effect.Clean && t.answersAny() {
		t.dirty(effect.FlushNow)
	}
	if !t.persist.dirty {
		return
	}
	if !t.persist.missing() {
		t.persist.due = t.now.Mono + persistWait
	}
	t.persist.dirty, t.persist.again = false, 0
	t.persist.wanted++
	v := persisted{Latches: t.latches}
	if t.held != (safety.Held{}) {
		v.Safety = &t.held
	}
	t.do(effect.SaveLatches{N: t.persist.wanted, Value: encode(v)})
}

// latchesSaved takes in what the disk says.
func (t *step) latchesSaved(ev event.LatchesSaved) {
	if ev.Refused != "" {
		t.disk(ev.Refused) // that it took them says nothing of the rest: they have their space
		t.persist.again = t.now.Mono + persistPause
		t.tellNotPersisted()
		return
	}
	t.persist.kept, t.persist.due = max(t.persist.kept, ev.N), t.now.Mono+persistWait
	if t.persist.lost {
		t.persist.lost = false
		t.do(effect.SaveSetting{Name: LostSetting, Value: ""})
	}
	if !t.persist.missing() && t.persist.told {
		t.persist.told = false
		t.clear(notPersisted, "disk")
		t.dirty(effect.FlushNow)
	}
}

// persistLate sees to it that nobody waits for a disk that hangs, and offers one that
// refused what it does not have.
func (t *step) persistLate() {
	if t.persist.waits() && t.now.Mono >= t.persist.due {
		t.tellNotPersisted()
	}
	if t.persist.again > 0 && t.now.Mono >= t.persist.again && t.persist.missing() {
		t.persist.dirty = true
	}
}

func (t *step) tellNotPersisted() {
	if t.persist.missing() && !t.persist.told {
		t.persist.told = true
		t.dirty(effect.FlushNow)
		t.raise(notPersisted, schema.AlertCritical, "disk", "the robot's disk does not have what holds the robot: a restart of robotd would lose it", "make room on the disk or replace it; do not restart robotd before")
	}
}

// notKept says of an answer to a stop that a restart would lose it, unless the disk has
// write n.
func (t *step) notKept(a *schema.Ack, n int64) {
	if t.persist.kept >= n || a.Status != schema.StatusSucceeded {
		return
	}
	if a.Reason == "" {
		a.Reason = schema.ReasonNotPersisted
	}
	a.Detail = "the robot stopped, but its disk does not have what holds it: a restart of robotd would lose it"
}

// persistDeadline is when time alone brings something.
func (s *State) persistDeadline() (time.Duration, bool) {
	switch {
	case s.persist.waits():
		return s.persist.due, true
	case s.persist.again > 0 && s.persist.missing():
		return s.persist.again, true
	}
	return 0, false
}

// restorePersisted holds what was held. A robot that cannot know is held all the same,
// until a person has seen to it.
func (t *step) restorePersisted(m Memory) {
	held, latches := m.Settings[latchSetting], m.Settings[latchesSetting] // as releases before format 2 of the disk kept them
	if len(m.Latches) > 0 {
		var v struct {
			Safety  jsonText `json:"safety"`
			Latches jsonText `json:"latches"`
		}
		if err := json.Unmarshal(m.Latches, &v); err != nil || v.Latches == "" {
			v.Latches = "?" // is not read below
		}
		held, latches = string(v.Safety), string(v.Latches)
	}
	t.restoreHeld(held)
	t.restoreLatches(latches)
	if m.LatchesLost {
		t.holdBecauseOf(diskLatch, "the robot's disk lost which stops were held, or the newest of them")
	}
	if m.Refused != "" {
		t.disk(m.Refused)
		t.holdBecauseOf(refusingLatch, "the robot started while its disk refused to write: "+string(m.Refused))
	}
	t.persist.lost = m.Lost
	t.restoreLost(m.Lost)
	if len(m.Latches) == 0 && held+latches != "" {
		t.persist.dirty = true
	}
}

// jsonText is a part of a document as it stands there.
type jsonText string

func (j *jsonText) UnmarshalJSON(b []byte) error { *j = jsonText(b); return nil }

// holdBecauseOf holds the robot because of its own disk. Each start on a disk that
// fails is a stop of its own: a release from before it does not release it.
func (t *step) holdBecauseOf(id, why string) {
	t.latching(latch.Asked{StopLatch: schema.StopLatch{ID: id, Level: schema.StopStop, By: "disk", Why: why, Since: t.now.Wall}, Anew: true}, 0)
}
