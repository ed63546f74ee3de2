package stops

import (
	"slices"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/effect"
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

// Settings of the robot's disk.
const (
	// Before format 2 of the disk: what Memory.Kept has now.
	SafetySetting  = "safety"  // a safety.Held
	LatchesSetting = "latches" // a latch.State

	// LostSetting is on the disk from the start that found the robot's memory lost until
	// the latch that says so is kept.
	LostSetting = "lost"
)

// persisted is what is kept on the disk.
type persisted struct {
	Safety  *safety.LatchedStop `json:"safety,omitempty"`
	Latches latch.State         `json:"latches"`
}

// persistence is how far the disk has come with it.
type persistence struct {
	dirty    bool          // it changed in this step
	wanted   int64         // the newest that was given to the disk
	kept     int64         // the newest that the disk has
	due      time.Duration // when the disk has to have written more of it
	raised   bool          // that the disk does not have it
	again    time.Duration // when a disk that refused is asked again; 0 = it did not
	lost     bool          // LostSetting is on the disk
	heldBack []HeldBack
}

// HeldBack is the answer to a stop that waits until the disk has write n.
type HeldBack struct {
	request.SendAck
	n int64
}

func (p *persistence) missing() bool { return p.kept < p.wanted }

// answers reports whether an answer that waits for write n is given: the disk has it,
// or does not take it in time.
func (p *persistence) answers(n int64) bool { return p.kept >= n || p.raised }

// waits reports whether the disk may still have it in time.
func (p *persistence) waits() bool { return p.missing() && !p.raised }

// Answers reports whether some answer that waits is given now.
func (s *State) Answers() bool {
	return slices.ContainsFunc(s.calls, func(c called) bool { return s.persist.answers(c.n) }) ||
		slices.ContainsFunc(s.persist.heldBack, func(h HeldBack) bool { return s.persist.answers(h.n) })
}

// Persist gives the disk what changed in this step.
func (s *State) Persist(now clock.Now, out *effect.List) {
	p := &s.persist
	if !p.dirty {
		return
	}
	if !p.missing() {
		p.due = now.Mono + persistWait
	}
	p.dirty, p.again = false, 0
	p.wanted++
	v := persisted{Latches: s.latches}
	if s.held != (safety.LatchedStop{}) {
		v.Safety = &s.held
	}
	out.Do(effect.SaveLatches{N: p.wanted, Value: encode(v)})
}

// encode writes what the disk keeps. That it fails is a fault of ours.
func encode(v any) []byte {
	b, err := schema.Encode(v)
	if err != nil {
		panic(err)
	}
	return b
}

// Saved takes in what the disk says of the n-th write.
func (s *State) Saved(now clock.Now, n int64, refused schema.Reason, out *effect.List) {
	p := &s.persist
	if refused != "" {
		out.Do(effect.Disk{Refused: refused}) // that it took them says nothing of the rest: they have their space
		p.again = now.Mono + persistPause
		s.raiseNotPersisted(out)
		return
	}
	p.kept, p.due = max(p.kept, n), now.Mono+persistWait
	if p.lost {
		p.lost = false
		out.Do(effect.SaveSetting{Name: LostSetting})
	}
	if !p.missing() && p.raised {
		p.raised = false
		out.Clear(notPersisted, "disk")
		out.Changed(effect.FlushNow)
	}
}

// Tick sees to it that nobody waits for a disk that hangs, and offers one that refused
// what it does not have.
func (s *State) Tick(now clock.Now, out *effect.List) {
	p := &s.persist
	if p.waits() && now.Mono >= p.due {
		s.raiseNotPersisted(out)
	}
	if p.again > 0 && now.Mono >= p.again && p.missing() {
		p.dirty = true
	}
}

func (s *State) raiseNotPersisted(out *effect.List) {
	if s.persist.missing() && !s.persist.raised {
		s.persist.raised = true
		out.Changed(effect.FlushNow)
		out.Raise(notPersisted, schema.AlertCritical, "disk", "the robot's disk does not have what holds the robot: a restart of robotd would lose it", "make room on the disk or replace it; do not restart robotd before")
	}
}

// notKept says of an answer to a stop that a restart would lose it, unless the disk has
// write n.
func (s *State) notKept(a *schema.Ack, n int64) {
	if s.persist.kept >= n || a.Status != schema.StatusSucceeded {
		return
	}
	if a.Reason == "" {
		a.Reason = schema.ReasonNotPersisted
	}
	a.Detail = "the robot stopped, but its disk does not have what holds it: a restart of robotd would lose it"
}

// Deadline is when time alone brings something.
func (s *State) Deadline() (time.Duration, bool) {
	switch p := &s.persist; {
	case p.waits():
		return p.due, true
	case p.again > 0 && p.missing():
		return p.again, true
	}
	return 0, false
}

// NotPersisted reports whether a restart would lose what holds the robot.
func (s *State) NotPersisted() bool { return s.persist.raised }

// Writes are the newest write that was given to the disk, and the newest that it has.
func (s *State) Writes() (wanted, kept int64) { return s.persist.wanted, s.persist.kept }

// TakeHeldBack returns the answers to stops that were held back, followed by those of
// this step, and holds none back any more.
func (s *State) TakeHeldBack(told []request.Effect) []HeldBack {
	all := s.persist.heldBack
	for _, e := range told {
		if tell, ok := e.(request.SendAck); ok {
			all = append(all, HeldBack{tell, s.persist.wanted})
		}
	}
	s.persist.heldBack = all[:0]
	return all
}

// HoldBack reports whether the answer to a stop waits for the disk still. One that does
// not says so if a restart would lose the stop.
func (s *State) HoldBack(h *HeldBack) bool {
	if !s.persist.answers(h.n) {
		s.persist.heldBack = append(s.persist.heldBack, *h)
		return true
	}
	s.notKept(&h.Ack, h.n)
	return false
}

// Disconnected forgets the answers that are held back: the journal has them for the
// next session.
func (s *State) Disconnected() { s.persist.heldBack = nil }
