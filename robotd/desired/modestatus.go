package desired

import (
	"fmt"

	"troupe/schema"
)

// desiredMode is a desired document that the robot obeys.
type desiredMode struct {
	Rev   int64            `json:"rev"` // 0 = no document
	Mode  schema.ModeID    `json:"mode"`
	Apply schema.ApplyMode `json:"apply"`
}

// modeStatus is the desired mode and how far the robot has followed it. An empty Phase means
// idle. It is comparable.
//
// The calibration at boot ends in the desired mode; one that somebody requested with mode/set stays
// active. If the document says "now", the robot also
// requests the mode from its supervisor, once: when it first receives the revision. The
// request has no more rights than that of a person: a robot in HALT or E_STOP, with a latched stop,
// in safe, whose ato waits for auto/continue, or under manual control keeps its mode and
// reports the phase held, also when what prevented it is over. So a message never overrules a later decision of a person. A
// plain safety/stop prevents nothing: the robot is DISABLED, and changes its mode.
type modeStatus struct {
	Desired desiredMode        `json:"desired"`
	Phase   schema.DeployPhase `json:"phase"`
	Reason  schema.Reason      `json:"reason,omitempty"`
	Detail  string             `json:"detail,omitempty"`
}

// At returns the phase.
func (s *modeStatus) At() schema.DeployPhase {
	if s.Phase == "" {
		return schema.DeployIdle
	}
	return s.Phase
}

// ModeFacts is what the decision depends on.
type ModeFacts struct {
	Active   schema.ModeID // the mode in charge; empty if none is
	Starting bool          // start-up has not ended yet
	Settled  bool          // no switch is under way
	// Prevented is why the desired mode may not be requested now: HALT or E_STOP, a
	// latched stop, safe, ato that waits for auto/continue, or a person in control. Empty if nothing prevents it. Detail explains it.
	Prevented schema.Reason
	Detail    string
}

// modeInputKind is the kind of an input.
type modeInputKind string

// The inputs.
const (
	modeNewer        modeInputKind = "desired"    // Desired: a newer document
	modeAnswered     modeInputKind = "answered"   // Verdict: the supervisor's answer
	modeStartupEnded modeInputKind = "boot-ended" // start-up has ended; Reason: why, if not in the desired mode
	modeAdopted      modeInputKind = "adopted"    // the robot now obeys another fleet
)

// modeInput is one input. Fields that What does not need stay empty.
type modeInput struct {
	What    modeInputKind
	Desired desiredMode
	schema.Verdict
}

// modeDecision is the result of one step.
type modeDecision struct {
	Changed  bool
	From, To schema.DeployPhase
	On       ModeEvent
	Why      string
	Ask      bool // ask the supervisor for the mode
}

// restart returns the state after a restart: in every phase, start-up will end in the
// desired mode.
func restart(kept modeStatus) modeStatus {
	if kept.Desired.Rev > 0 {
		kept.Phase, kept.Reason, kept.Detail = schema.DeployWaiting, "", ""
	}
	return kept
}

// step handles one input.
func (s *modeStatus) step(f ModeFacts, in modeInput) (d modeDecision) {
	switch in.What {
	case modeNewer:
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
	case modeAnswered:
		switch {
		case s.At() != schema.DeployWaiting || !in.Status.Final():
		case in.Status == schema.StatusSucceeded:
			s.transition(&d, OnGranted, "", "")
		case in.Status == schema.StatusRejected:
			s.transition(&d, OnRefused, in.Reason, in.Detail)
		default:
			s.transition(&d, OnFell, in.Reason, in.Detail)
		}
	case modeStartupEnded:
		switch {
		case s.At() != schema.DeployWaiting:
		case f.Active == s.Desired.Mode:
			s.transition(&d, OnGranted, "", "")
		default:
			s.transition(&d, OnFell, in.Reason, "start-up ended in "+string(f.Active))
		}
	case modeAdopted:
		s.Desired = desiredMode{}
		s.transition(&d, OnAdopted, "", "")
	}
	return d
}

// transition changes the phase if the table has a row for the event.
func (s *modeStatus) transition(d *modeDecision, on ModeEvent, why schema.Reason, detail string) {
	row, ok := modeTable.Next(s.At(), on)
	if !ok {
		return
	}
	*d = modeDecision{Changed: true, From: s.At(), To: row.To, On: on, Why: row.Why}
	s.Phase, s.Reason, s.Detail = row.To, why, detail
}
