// Package wish decides what becomes of the fleet's wish for a mode.
//
// Every start-up ends in the wished mode. A wish that is to be taken now is also asked
// for, once: when its revision is first seen. It is asked for as a person would
// ask, and overrules nobody: a robot that is stopped, in safe, or in somebody's
// hand keeps what it does, and the wish is told to be held. So nobody is moved by
// a message that is older than his last decision.
//
// It sets no mode: what is to be asked of the supervisor is its answer, and the
// supervisor's answer comes back. Whose wishes are obeyed, and in which order they
// came, is decided before they come here. State is comparable.
package wish

import "troupe/schema"

// Wish is one that is obeyed.
type Wish struct {
	Rev   int64            `json:"rev"` // 0 = there is none
	Mode  schema.ModeID    `json:"mode"`
	Apply schema.ApplyMode `json:"apply"`
}

// State is a wish and what became of it. Phase empty is idle.
type State struct {
	Wish   Wish               `json:"wish"`
	Phase  schema.DeployPhase `json:"phase"`
	Reason schema.Reason      `json:"reason,omitempty"`
	Detail string             `json:"detail,omitempty"`
}

// At is the phase.
func (s *State) At() schema.DeployPhase {
	if s.Phase == "" {
		return schema.DeployIdle
	}
	return s.Phase
}

// Facts is what a wish has to know of the robot.
type Facts struct {
	Active   schema.ModeID // in charge; empty while none is
	Starting bool          // start-up runs by itself and has not handed over
	Settled  bool          // no switch is under way
	// Others is whose decision a wish would overrule, and Detail says it to people.
	Others schema.Reason
	Detail string
}

// What is what a wish is told.
type What string

// The inputs.
const (
	Wished   What = "wished"   // Wish: a newer one, that is obeyed
	Answered What = "answered" // Status, Reason, Detail: by the supervisor, who was asked
	Landed   What = "landed"   // start-up has ended; Reason: why not in the mode wished
	Adopted  What = "adopted"  // another fleet is obeyed
)

// Input is one of them; what it does not need stays empty.
type Input struct {
	What   What
	Wish   Wish
	Status schema.Status
	Reason schema.Reason
	Detail string
}

// Decision is what one step came to.
type Decision struct {
	Changed  bool
	From, To schema.DeployPhase
	On       Event
	Why      string
	Ask      bool // ask the supervisor for the mode
}

// Boot is what a restart makes of a wish: whatever became of it, start-up ends in
// it now.
func Boot(kept State) State {
	if kept.Wish.Rev > 0 {
		kept.Phase, kept.Reason, kept.Detail = schema.DeployWaiting, "", ""
	}
	return kept
}

// Step takes one input.
func Step(s *State, f Facts, in Input) (d Decision) {
	switch in.What {
	case Wished:
		s.Wish = in.Wish
		switch {
		case f.Starting:
			s.take(&d, OnStart, "", "")
		case f.Active == s.Wish.Mode && f.Settled:
			s.take(&d, OnThere, "", "")
		case s.Wish.Apply == schema.ApplyModeBoot:
			s.take(&d, OnStart, "", "")
		case f.Others != "":
			s.take(&d, OnOthers, f.Others, f.Detail)
		default:
			s.take(&d, OnAsk, "", "")
			d.Ask = true
		}
	case Answered:
		switch {
		case s.At() != schema.DeployWaiting || !in.Status.Final():
		case in.Status == schema.StatusSucceeded:
			s.take(&d, OnGranted, "", "")
		case in.Status == schema.StatusRejected:
			s.take(&d, OnRefused, in.Reason, in.Detail)
		default:
			s.take(&d, OnFell, in.Reason, in.Detail)
		}
	case Landed:
		switch {
		case s.At() != schema.DeployWaiting:
		case f.Active == s.Wish.Mode:
			s.take(&d, OnGranted, "", "")
		default:
			s.take(&d, OnFell, in.Reason, "start-up ended in "+string(f.Active))
		}
	case Adopted:
		s.Wish = Wish{}
		s.take(&d, OnAdopted, "", "")
	}
	return d
}

// take follows the table; what it does not list does not happen.
func (s *State) take(d *Decision, on Event, why schema.Reason, detail string) {
	row, ok := Table.Next(s.At(), on)
	if !ok {
		return
	}
	*d = Decision{Changed: true, From: s.At(), To: row.To, On: on, Why: row.Why}
	s.Phase, s.Reason, s.Detail = row.To, why, detail
}
