// Package desired state decides what becomes of the fleet's desired state for a mode.
//
// Every start-up ends in the desired mode. A desired state that is to be taken now is also asked
// for, once: when its revision is first seen. It is asked for as a person would
// ask, and overrules nobody: a robot that is stopped, in safe, or in somebody's
// hand keeps what it does, and the desired state is told to be held. So nobody is moved by
// a message that is older than his last decision.
//
// It sets no mode: what is to be asked of the supervisor is its answer, and the
// supervisor's answer comes back. Whose desired documents are obeyed, and in which order they
// came, is decided before they come here. State is comparable.
package desiredmode

import "troupe/schema"

// Desired is one that is obeyed.
type Desired struct {
	Rev   int64            `json:"rev"` // 0 = there is none
	Mode  schema.ModeID    `json:"mode"`
	Apply schema.ApplyMode `json:"apply"`
}

// State is a desired state and what became of it. Phase empty is idle.
type State struct {
	Desired Desired            `json:"desired"`
	Phase   schema.DeployPhase `json:"phase"`
	Reason  schema.Reason      `json:"reason,omitempty"`
	Detail  string             `json:"detail,omitempty"`
}

// At is the phase.
func (s *State) At() schema.DeployPhase {
	if s.Phase == "" {
		return schema.DeployIdle
	}
	return s.Phase
}

// Facts is what a desired state has to know of the robot.
type Facts struct {
	Active   schema.ModeID // in charge; empty while none is
	Starting bool          // start-up runs by itself and has not handed over
	Settled  bool          // no switch is under way
	// Others is whose decision a desired state would overrule, and Detail says it to people.
	Others schema.Reason
	Detail string
}

// What is what a desired state is told.
type What string

// The inputs.
const (
	OnNewer  What = "desired"  // Desired: a newer one, that is obeyed
	Answered What = "answered" // Status, Reason, Detail: by the supervisor, who was asked
	Landed   What = "landed"   // start-up has ended; Reason: why not in the mode desired
	Adopted  What = "adopted"  // another fleet is obeyed
)

// Input is one of them; what it does not need stays empty.
type Input struct {
	What    What
	Desired Desired
	Status  schema.Status
	Reason  schema.Reason
	Detail  string
}

// Decision is what one step came to.
type Decision struct {
	Changed  bool
	From, To schema.DeployPhase
	On       Event
	Why      string
	Ask      bool // ask the supervisor for the mode
}

// Boot is what a restart makes of a desired state: whatever became of it, start-up ends in
// it now.
func Boot(kept State) State {
	if kept.Desired.Rev > 0 {
		kept.Phase, kept.Reason, kept.Detail = schema.DeployWaiting, "", ""
	}
	return kept
}

// Step takes one input.
func Step(s *State, f Facts, in Input) (d Decision) {
	switch in.What {
	case OnNewer:
		s.Desired = in.Desired
		switch {
		case f.Starting:
			s.take(&d, OnStart, "", "")
		case f.Active == s.Desired.Mode && f.Settled:
			s.take(&d, OnThere, "", "")
		case s.Desired.Apply == schema.ApplyModeBoot:
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
		case f.Active == s.Desired.Mode:
			s.take(&d, OnGranted, "", "")
		default:
			s.take(&d, OnFell, in.Reason, "start-up ended in "+string(f.Active))
		}
	case Adopted:
		s.Desired = Desired{}
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
