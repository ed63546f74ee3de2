package latch

import (
	"slices"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/effect"
	"troupe/robotd/request"
	"troupe/robotd/safety"
	"troupe/schema"
)

// What keeps the robot from moving must survive a restart. It is written as a whole at
// every change, to space that is reserved, independently of all other writes. The robot
// stops and publishes its state at once; the answer that a stop succeeded waits for the
// write, or says that it is not persisted.

const (
	// persistWait is the time limit of a write, after which the disk counts as hanging. The
	// answer to a stop waits for the write in progress and then for its own.
	persistWait = 500 * time.Millisecond
	// persistPause is the pause before a disk that refused is asked again.
	persistPause = time.Second
)

const notPersisted = string(schema.ReasonNotPersisted) // the alert, raised while a restart would lose a stop

// LostKey is the key of a value that is on the robot's disk from the start that found the robot's
// memory lost until the latch for it is saved.
const LostKey = "lost"

// persisted is what is saved on the disk.
type persisted struct {
	Safety  *safety.PendingReset `json:"safety,omitempty"`
	Latches Latched              `json:"latches"`
}

// persistence is the progress of the writes to the disk.
type persistence struct {
	dirty    bool          // what has to be saved changed in this step
	wanted   int64         // number of the newest write that was requested
	saved    int64         // number of the newest write on the disk
	due      time.Duration // when the disk must have made progress
	raised   bool          // the alert is raised
	again    time.Duration // when a disk that refused is asked again; 0 = it did not refuse
	lost     bool          // LostKey is on the disk
	heldBack []HeldBack
}

// HeldBack is the answer to a stop that waits for write n.
type HeldBack struct {
	request.SendAck
	n int64
}

func (p *persistence) missing() bool { return p.saved < p.wanted }

// mayAnswer reports whether an answer that waits for write n can be sent: the disk has the
// write, or did not do it in time.
func (p *persistence) mayAnswer(n int64) bool { return p.saved >= n || p.raised }

// waits reports whether the disk may still do the newest write in time.
func (p *persistence) waits() bool { return p.missing() && !p.raised }

// CanAnswer reports whether an answer that waits for the disk can be sent now.
func (s *State) CanAnswer() bool {
	return slices.ContainsFunc(s.unanswered, func(c liveStop) bool { return s.persist.mayAnswer(c.n) }) ||
		slices.ContainsFunc(s.persist.heldBack, func(h HeldBack) bool { return s.persist.mayAnswer(h.n) })
}

// Persist writes what changed in this step.
func (t Step) Persist() {
	p := &t.persist
	if !p.dirty {
		return
	}
	if !p.missing() {
		p.due = t.Now.Mono + persistWait
	}
	p.dirty, p.again = false, 0
	p.wanted++
	t.Out.Do(effect.SaveLatches{N: p.wanted, Value: t.value()})
}

// value is what is saved.
func (s *State) value() []byte {
	v := persisted{Latches: s.latches}
	if s.pendingReset != (safety.PendingReset{}) {
		v.Safety = &s.pendingReset
	}
	return encode(v)
}

// LatchBeforeStart latches a stop of a person at the robot before the robot has started. It
// returns what has to be saved, and all stops that are latched then.
func LatchBeforeStart(now clock.Now, m Memory, id, why string) ([]byte, []schema.StopLatch) {
	t := Step{State: &State{}, Now: now, Out: &effect.List{}}
	t.Restore(m)
	t.latch(Asked{StopLatch: schema.StopLatch{
		ID: id, Level: schema.StopStop, By: schema.LocalClient, Why: schema.SanitizeText(why), Since: now.Wall,
	}, Anew: true}, 0)
	return t.value(), t.State.Document()
}

// encode encodes what is saved. An error would be a bug.
func encode(v any) []byte {
	b, err := schema.Encode(v)
	if err != nil {
		panic(err)
	}
	return b
}

// Saved takes the disk's answer about the n-th write.
func (t Step) Saved(n int64, refused schema.Reason) {
	p := &t.persist
	if refused != "" {
		t.Out.Do(effect.DiskRefused{Refused: refused}) // success proves nothing about other writes, because latches have reserved space
		p.again = t.Now.Mono + persistPause
		t.raiseNotPersisted()
		return
	}
	p.saved, p.due = max(p.saved, n), t.Now.Mono+persistWait
	if p.lost {
		p.lost = false
		t.Out.Do(effect.SaveValue{Name: LostKey})
	}
	if !p.missing() && p.raised {
		p.raised = false
		t.Out.Clear(notPersisted, "disk")
		t.Out.Changed(effect.FlushNow)
	}
}

// Tick notices a disk that hangs, and repeats the write after a refusal.
func (t Step) Tick() {
	p := &t.persist
	if p.waits() && t.Now.Mono >= p.due {
		t.raiseNotPersisted()
	}
	if p.again > 0 && t.Now.Mono >= p.again && p.missing() {
		p.dirty = true
	}
}

func (t Step) raiseNotPersisted() {
	if t.persist.missing() && !t.persist.raised {
		t.persist.raised = true
		t.Out.Changed(effect.FlushNow)
		t.Out.Raise(notPersisted, schema.AlertCritical, "disk",
			"the robot's disk does not have the latched stops or the E_STOP: a restart of robotd would lose them",
			"stops have room reserved, so the disk itself is broken or read-only: see robotd doctor. Before robotd ends for the repair, stop the "+
				"robot with fleetd stop, which is sent again afterwards")
	}
}

// markNotPersisted adds to an answer that a restart would lose the stop, unless the disk has
// write n.
func (s *State) markNotPersisted(a *schema.Ack, n int64) {
	if s.persist.saved >= n || a.Status != schema.StatusSucceeded {
		return
	}
	if a.Reason == "" {
		a.Reason = schema.ReasonNotPersisted
	}
	a.Detail = "the robot stopped, but its disk does not have the latched stop or the E_STOP: a restart of robotd would lose it"
}

// Deadline is when Tick has something to do.
func (s *State) Deadline() (time.Duration, bool) {
	switch p := &s.persist; {
	case p.waits():
		return p.due, true
	case p.again > 0 && p.missing():
		return p.again, true
	}
	return 0, false
}

// NotPersisted reports whether a restart would lose a latched stop.
func (s *State) NotPersisted() bool { return s.persist.raised }

// Writes returns the numbers of the newest requested write and of the newest one on the
// disk.
func (s *State) Writes() (wanted, saved int64) { return s.persist.wanted, s.persist.saved }

// TakeHeldBack returns the answers to stops that were held back, followed by those of this
// step, and holds none back any more.
func (s *State) TakeHeldBack(answers []request.SendAck) []HeldBack {
	all := s.persist.heldBack
	for _, answer := range answers {
		all = append(all, HeldBack{answer, s.persist.wanted})
	}
	s.persist.heldBack = all[:0]
	return all
}

// HoldBack reports whether the answer to a stop still has to wait for the disk. If not, it
// adds to the answer if a restart would lose the stop.
func (s *State) HoldBack(h *HeldBack) bool {
	if !s.persist.mayAnswer(h.n) {
		s.persist.heldBack = append(s.persist.heldBack, *h)
		return true
	}
	s.markNotPersisted(&h.Ack, h.n)
	return false
}

// Disconnected drops the answers that are held back: the journal has them for the next
// session. Those to the robot's own page need no session.
func (s *State) Disconnected() {
	s.persist.heldBack = slices.DeleteFunc(s.persist.heldBack, func(h HeldBack) bool { return h.Client != schema.LocalClient })
}
