// Package desiredmode decides how a robot follows the mode that the fleet desires.
//
// The calibration at boot ends in the desired mode; one that somebody requested with mode/set stays
// active. If the document says "now", the robot also
// requests the mode from its supervisor, once: when it first receives the revision. The
// request has no more rights than that of a person: a robot in HALT or E_STOP, with a latched stop,
// in safe, whose ato waits for auto/continue, or under manual control keeps its mode and
// reports the phase held, also when what prevented it is over. So a message never overrules a later decision of a person. A
// plain safety/stop prevents nothing: the robot is DISABLED, and changes its mode.
//
// The package does not set the mode: it returns whether to ask the supervisor, whose
// answer is a later input. The caller has already checked the sender and the revision of
// the document. State is comparable.
package desiredmode

import (
	"fmt"

	"troupe/schema"
)

// Desired is a desired document that the robot obeys.
type Desired struct {
	Rev   int64            `json:"rev"` // 0 = no document
	Mode  schema.ModeID    `json:"mode"`
	Apply schema.ApplyMode `json:"apply"`
}

// State is the desired mode and how far the robot has followed it. An empty Phase means
// idle.
type State struct {
	Desired Desired            `json:"desired"`
	Phase   schema.DeployPhase `json:"phase"`
	Reason  schema.Reason      `json:"reason,omitempty"`
	Detail  string             `json:"detail,omitempty"`
}

// At returns the phase.
func (s *State) At() schema.DeployPhase {
	if s.Phase == "" {
		return schema.DeployIdle
	}
	return s.Phase
}

// Facts is what the decision depends on.
type Facts struct {
	Active   schema.ModeID // the mode in charge; empty if none is
	Starting bool          // start-up has not ended yet
	Settled  bool          // no switch is under way
	// Prevented is why the desired mode may not be requested now: HALT or E_STOP, a
	// latched stop, safe, ato that waits for auto/continue, or a person in control. Empty if nothing prevents it. Detail explains it.
	Prevented schema.Reason
	Detail    string
}

// InputKind is the kind of an input.
type InputKind string

// The inputs.
const (
	Newer        InputKind = "desired"    // Desired: a newer document
	Answered     InputKind = "answered"   // Verdict: the supervisor's answer
	StartupEnded InputKind = "boot-ended" // start-up has ended; Reason: why, if not in the desired mode
	Adopted      InputKind = "adopted"    // the robot now obeys another fleet
)

// Input is one input. Fields that What does not need stay empty.
type Input struct {
	What    InputKind
	Desired Desired
	schema.Verdict
}

// Decision is the result of one step.
type Decision struct {
	Changed  bool
	From, To schema.DeployPhase
	On       Event
	Why      string
	Ask      bool // ask the supervisor for the mode
}

// Boot returns the state after a restart: in every phase, start-up will end in the
// desired mode.
func Boot(kept State) State {
	if kept.Desired.Rev > 0 {
		kept.Phase, kept.Reason, kept.Detail = schema.DeployWaiting, "", ""
	}
	return kept
}

// Step handles one input.
func Step(s *State, f Facts, in Input) (d Decision) {
	switch in.What {
	case Newer:
		s.Desired = in.Desired
		switch {
		case f.Starting:
			s.transition(&d, OnStartup, "", "")
		case f.Active == s.Desired.Mode && f.Settled:
			s.transition(&d, OnAlreadyActive, "", "")
		case s.Desired.Apply == schema.ApplyModeBoot:
			s.transition(&d, OnStartup, "", "")
		case f.Prevented != "":
			s.transition(&d, OnPrevented, f.Prevented, fmt.Sprintf("%s; the robot does not ask for %[2]s again: when that is over, send mode/set %[2]s or desire it again with apply now, else the next start ends in it", f.Detail, s.Desired.Mode))
		default:
			s.transition(&d, OnAsk, "", "")
			d.Ask = true
		}
	case Answered:
		switch {
		case s.At() != schema.DeployWaiting || !in.Status.Final():
		case in.Status == schema.StatusSucceeded:
			s.transition(&d, OnGranted, "", "")
		case in.Status == schema.StatusRejected:
			s.transition(&d, OnRefused, in.Reason, in.Detail)
		default:
			s.transition(&d, OnFell, in.Reason, in.Detail)
		}
	case StartupEnded:
		switch {
		case s.At() != schema.DeployWaiting:
		case f.Active == s.Desired.Mode:
			s.transition(&d, OnGranted, "", "")
		default:
			s.transition(&d, OnFell, in.Reason, "start-up ended in "+string(f.Active))
		}
	case Adopted:
		s.Desired = Desired{}
		s.transition(&d, OnAdopted, "", "")
	}
	return d
}

// transition changes the phase if the table has a row for the event.
func (s *State) transition(d *Decision, on Event, why schema.Reason, detail string) {
	row, ok := Table.Next(s.At(), on)
	if !ok {
		return
	}
	*d = Decision{Changed: true, From: s.At(), To: row.To, On: on, Why: row.Why}
	s.Phase, s.Reason, s.Detail = row.To, why, detail
}
