package latch

import (
	"slices"

	"troupe/robotd/clock"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/verb"
)

const memoryLost = "memory_lost" // the alert, raised while LostLatch is latched

// The stops that a robot latches by itself because of its disk.
const (
	// DiskLatch: the robot cannot read which stops were latched, or the newest write of them may be
	// missing.
	DiskLatch = "unreadable-disk"
	// LostLatch: the robot has lost its memory, and with it which stops were latched.
	LostLatch = "lost-disk"
	// RefusingLatch: the robot started while its disk refused to write, so a stop may be
	// missing, and the next one would be lost.
	RefusingLatch = "unwritable-disk"
)

// State is the latched stops, and which of them are on the disk.
type State struct {
	latches      Latched
	facts        []safety.Latch      // the same, for the safety core
	pendingReset safety.PendingReset // as it is or shall be on the disk
	unanswered   []liveStop          // those that have to be answered
	persist      persistence         // of pendingReset and latches
	newest       uint64              // messages with a lower number arrived before the newest stop
}

// liveStop is a live stop that has to be answered.
type liveStop struct {
	client, id string
	unchanged  bool // the stop was latched already
	// ack has the robot's state when it was stopped; nil = not set yet.
	ack *schema.Ack
	n   int64 // the write that its answer waits for, once ack is set
}

// Step is the part of one step of the robot that concerns latched stops.
type Step struct {
	*State
	Facts  Facts
	People People
	Now    clock.Now
	Out    *effect.List
}

// People names the person who sent a stop.
type People interface {
	Asker(client, by string) string
}

// printable returns the document with printable texts.
func printable(doc Document) Document {
	doc.Problem, doc.Stops, doc.Released = schema.SanitizeText(doc.Problem), slices.Clone(doc.Stops), slices.Clone(doc.Released)
	for i := range doc.Stops {
		l := &doc.Stops[i]
		l.By, l.Client, l.Why = schema.SanitizeText(l.By), schema.SanitizeText(l.Client), schema.SanitizeText(l.Why)
	}
	for i := range doc.Released {
		doc.Released[i].By = schema.SanitizeText(doc.Released[i].By)
	}
	return doc
}

type stopData struct {
	ID  string `json:"id"`
	By  string `json:"by,omitempty"`
	Why string `json:"why,omitempty"`
	// ReleasedBy is who released it, while By is who stopped.
	ReleasedBy string `json:"released_by,omitempty"`
}

// setFacts refills the facts for the safety core.
func (s *State) setFacts() {
	s.facts = s.facts[:0]
	for _, l := range s.latches.Latches {
		s.facts = append(s.facts, safety.Latch{ID: l.ID, By: l.Asker(), Why: l.Why, Level: safety.VerbOf(l.Level)})
	}
}

// SetPendingReset saves the HALT or E_STOP that waits for a reset, or that there is none.
func (s *State) SetPendingReset(at safety.CoreState) {
	if h := safety.PendingResetOf(at, s.pendingReset); h != s.pendingReset {
		s.pendingReset, s.persist.dirty = h, true
	}
}

// Latches are the latched stops for the safety core.
func (s *State) Latches() []safety.Latch { return s.facts }

// Document is the part of the state document with the latches.
func (s *State) Document() []schema.StopLatch {
	if len(s.latches.Latches) == 0 {
		return nil
	}
	out := make([]schema.StopLatch, 0, len(s.latches.Latches))
	for _, l := range s.latches.Latches {
		out = append(out, l.StopLatch)
	}
	return out
}

// RecordedIDs lists the ids of the latches that fleetd has recorded: only fleetd releases them.
func (s *State) RecordedIDs() (ids []string) {
	for _, l := range s.latches.Latches {
		if l.Phase == Recorded {
			ids = append(ids, l.ID)
		}
	}
	return ids
}

// Refs lists the latches as references.
func (s *State) Refs() (refs []schema.Ref) {
	for _, l := range s.facts {
		refs = append(refs, schema.Ref{Kind: schema.RefLatch, ID: l.ID})
	}
	return refs
}

// Answer holds what answers to live stops say about the robot.
type Answer struct {
	Session  string // empty without a session
	StateSeq int64
	Current  *schema.AckState
}

// LiveStopsWait reports whether a live stop has to be answered.
func (s *State) LiveStopsWait() bool { return len(s.unanswered) > 0 }

// AnswerLiveStops answers live stops, with the robot's state when they took effect, once they
// are on the disk and a published state shows them.
func (t Step) AnswerLiveStops(a Answer) {
	if a.Session == "" { // no client would receive it; the state of the next session shows the latches
		t.unanswered = t.unanswered[:0]
		return
	}
	for i := range t.unanswered {
		c := &t.unanswered[i]
		if c.ack != nil {
			continue
		}
		id := c.id
		c.n = t.persist.wanted
		c.ack = &schema.Ack{TS: t.Now.Wall, Session: a.Session, ID: &id, Verb: verb.LiveStop,
			Status: schema.StatusSucceeded, Result: schema.ResultOK, StateSeq: a.StateSeq, Current: a.Current}
		if c.unchanged {
			c.ack.Reason = schema.ReasonUnchanged
		}
	}
	keep := t.unanswered[:0]
	for _, c := range t.unanswered {
		if !t.persist.mayAnswer(c.n) {
			keep = append(keep, c)
			continue
		}
		t.markNotPersisted(c.ack, c.n)
		t.Out.Do(effect.Document{Topic: schema.TopicAck, Param: c.client, Value: c.ack, First: true})
	}
	t.unanswered = keep
}
