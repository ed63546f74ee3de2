// Package stops holds what keeps the robot from moving: the latched stops that people
// asked for and what the safety core latched by itself. It keeps both on the disk and
// answers those who sent a live stop.
//
// That the robot stops, and is not enabled, is the safety core's affair; which stop
// is held and which is released is decided by robotd/latch.
package stops

import (
	"slices"

	"troupe/robotd/clock"
	"troupe/robotd/effect"
	"troupe/robotd/latch"
	"troupe/robotd/safety"
	"troupe/schema"
)

const memoryLost = "memory_lost" // alert, as long as that stop is held

// The stops that a robot holds by itself, because of its disk.
const (
	// DiskLatch: it cannot read which stops it holds.
	DiskLatch = "unreadable-disk"
	// LostLatch: it has lost which stops it holds, with all else that it remembered.
	LostLatch = "lost-disk"
	// RefusingLatch: it started while its disk took nothing, so that a stop may be
	// missing and the next one would be.
	RefusingLatch = "unwritable-disk"
)

// Verb is the verb of live stops, as answers say it.
const Verb = "fleet/stop"

// State is what keeps the robot from moving, and how far the disk has come with it.
type State struct {
	latches latch.State
	facts   []safety.Latch     // the same, as the safety core takes them
	held    safety.LatchedStop // the latched stop, as the disk has it or is to have it
	calls   []called           // live stops that are to be answered
	persist persistence        // of held and latches
}

// called is a live stop that is to be answered.
type called struct {
	client, id string
	unchanged  bool // it was held already, and so
	// ack says where the robot stood when it was stopped; nil = not yet said.
	ack *schema.Ack
	n   int64 // the write that its answer waits for, once ack is set
}

// Step gives the latches one input.
func Step(s *State, now clock.Now, f latch.Facts, in latch.Input, out *effect.List) latch.Decision {
	if doc, ok := in.(latch.Document); ok {
		in = printable(doc)
	}
	d := latch.Step(&s.latches, now.Wall, f, in)
	if !d.Changed {
		return d
	}
	s.persist.dirty = true
	s.setFacts()
	out.Changed(effect.FlushSoon) // since when, or up to which revision
	for _, a := range d.Altered {
		out.Changed(effect.FlushNow)
		out.Event("stop_altered", "safety", string(a.To.Level), "", held{ID: a.To.ID, By: a.To.Asker(), Why: a.To.Why})
	}
	for _, m := range d.Moves {
		out.Changed(effect.FlushNow)
		out.Note("latch", string(m.From), string(m.To), m.Why, m.Latch.ID)
		switch l := m.Latch; {
		case m.Latched():
			out.Event("stop_latched", "safety", string(l.Level), "", held{ID: l.ID, By: l.Asker(), Why: l.Why})
		case m.Released():
			if l.ID == LostLatch {
				out.Clear(memoryLost, "disk")
			}
			out.Event("stop_released", "safety", m.Why, "", held{ID: l.ID, By: l.Asker(), Why: l.Why})
		}
	}
	return d
}

// printable is a document whose texts can be shown.
func printable(doc latch.Document) latch.Document {
	doc.Problem, doc.Stops = schema.SanitizeText(doc.Problem), slices.Clone(doc.Stops)
	for i := range doc.Stops {
		l := &doc.Stops[i]
		l.By, l.Client, l.Why = schema.SanitizeText(l.By), schema.SanitizeText(l.Client), schema.SanitizeText(l.Why)
	}
	return doc
}

// Asked is a stop that somebody asks for now.
func Asked(now clock.Now, id string, level schema.StopLevel, by, why string, anew bool) latch.Asked {
	return latch.Asked{StopLatch: schema.StopLatch{ID: id, Level: level, By: schema.SanitizeText(by), Why: schema.SanitizeText(why), Since: now.Wall}, Anew: anew}
}

type held struct {
	ID  string `json:"id"`
	By  string `json:"by,omitempty"`
	Why string `json:"why,omitempty"`
}

// setFacts fills anew what the safety core sees.
func (s *State) setFacts() {
	s.facts = s.facts[:0]
	for _, l := range s.latches.Latches {
		s.facts = append(s.facts, safety.Latch{ID: l.ID, By: l.Asker(), Why: l.Why, Level: VerbOf(l.Level)})
	}
}

// VerbOf is the verb of the safety core for a level.
func VerbOf(l schema.StopLevel) safety.Verb {
	switch l {
	case schema.StopSoft:
		return safety.SoftStop
	case schema.StopHalt:
		return safety.Halt
	}
	return safety.Stop
}

// LatchedStopOf keeps which stop the safety core has latched, and that it no longer has.
func (s *State) Hold(at safety.State) {
	if h := safety.LatchedStopOf(at, s.held); h != s.held {
		s.held, s.persist.dirty = h, true
	}
}

// Latches are the latched stops, as the safety core takes them.
func (s *State) Latches() []safety.Latch { return s.facts }

// Document is what the state shows of the latches.
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

// Refs name the latches.
func (s *State) Refs() (refs []schema.Ref) {
	for _, l := range s.facts {
		refs = append(refs, schema.Ref{Kind: schema.RefLatch, ID: l.ID})
	}
	return refs
}

// Called notes that a live stop came and led to d, so that it is answered.
func (s *State) Called(client, id string, d latch.Decision) {
	s.calls = append(s.calls, called{client: client, id: id, unchanged: len(d.Moves)+len(d.Altered) == 0})
}

// Answer is what answers to live stops say of the robot.
type Answer struct {
	Session  string // empty while nobody listens
	StateSeq int64
	Current  *schema.Now
}

// Calls reports whether a live stop is to be answered.
func (s *State) Calls() bool { return len(s.calls) > 0 }

// AnswerCalls answers live stops, with where the robot stood when they took effect and
// a state that shows it, once they are on the disk.
func (s *State) AnswerCalls(now clock.Now, a Answer, out *effect.List) {
	if a.Session == "" { // nobody receives it; the state of the next session shows what holds
		s.calls = s.calls[:0]
		return
	}
	for i := range s.calls {
		c := &s.calls[i]
		if c.ack != nil {
			continue
		}
		id := c.id
		c.n = s.persist.wanted
		c.ack = &schema.Ack{TS: now.Wall, Session: a.Session, ID: &id, Verb: Verb,
			Status: schema.StatusSucceeded, Result: schema.ResultOK, StateSeq: a.StateSeq, Current: a.Current}
		if c.unchanged {
			c.ack.Reason = schema.ReasonUnchanged
		}
	}
	keep := s.calls[:0]
	for _, c := range s.calls {
		if !s.persist.answers(c.n) {
			keep = append(keep, c)
			continue
		}
		s.notKept(c.ack, c.n)
		out.Do(effect.Document{Topic: schema.TopicAck, Param: c.client, Value: c.ack, First: true})
	}
	s.calls = keep
}
