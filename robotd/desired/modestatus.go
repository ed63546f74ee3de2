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
// active. If there is no story yet for the desired mode, as on a robot that has just joined the fleet and still
// fetches it, the robot requests the mode when the story is there: once, within storyWait after start-up, and unless
// a person acts on the robot (see State.NoteActed) or something prevents it before. If the document says "now", the robot also
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
	Story    bool          // a story can be performed
	JustUp   bool          // start-up ended at most storyWait ago, and nobody has acted on the robot since the start
	// Prevented is why the desired mode may not be requested now: HALT or E_STOP, a
	// latched stop, safe, ato that waits for auto/continue, or a person in control. Empty if nothing prevents it. Detail explains it.
	Prevented schema.Reason
	Detail    string
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

// newer takes a newer document. early says that it was desired when the robot connected, or at the latest joinWait after start-up: a
// robot whose first one arrives so, just after start-up, has joined a fleet, and start-up was only faster than that.
func (s *modeStatus) newer(f ModeFacts, document desiredMode, early bool) (d modeDecision) {
	joined := early && f.JustUp && s.Desired.Rev == 0
	awaits := s.awaitsStory() && s.Desired.Mode == document.Mode
	s.Desired = document
	switch {
	case f.Starting:
		s.transition(&d, OnStartup, "", "")
	case f.Active == s.Desired.Mode && f.Settled:
		s.transition(&d, OnAlreadyActive, "", "")
	case awaits: // such as after fleetd published the document again under a higher revision
	case s.Desired.Apply == schema.ApplyModeBoot && !joined:
		s.transition(&d, OnStartup, "", "")
	case f.Prevented != "":
		s.prevent(&d, f)
	default:
		s.transition(&d, OnAsk, "", "")
		d.Ask = true
	}
	return d
}

func (s *modeStatus) prevent(d *modeDecision, f ModeFacts) {
	s.transition(d, OnPrevented, f.Prevented,
		fmt.Sprintf("%s; the robot does not ask for %[2]s again: when that is over, send mode/set %[2]s "+
			"or desire it again with apply now, else the next start ends in it", f.Detail, s.Desired.Mode))
}

// noStory lets the desired mode wait for its story.
func (s *modeStatus) noStory(d *modeDecision, f ModeFacts) {
	s.transition(d, OnNoStory, schema.ReasonNoDefaultStory,
		fmt.Sprintf("start-up ended in %s; the robot changes to %s when its story is there", f.Active, s.Desired.Mode))
}

// awaitsStory reports whether the desired mode waits for its story since start-up ended.
func (s *modeStatus) awaitsStory() bool {
	return s.At() == schema.DeployWaiting && s.Reason == schema.ReasonNoDefaultStory
}

// followStory asks for the desired mode when its story is there. Whatever prevents that meanwhile ends the wait, also when it
// is over before the story comes.
func (s *modeStatus) followStory(f ModeFacts) (d modeDecision) {
	switch {
	case !s.awaitsStory():
	case f.Active == s.Desired.Mode:
		s.transition(&d, OnGranted, "", "")
	case f.Prevented != "":
		s.prevent(&d, f)
	case !f.JustUp:
		s.transition(&d, OnFell, schema.ReasonNoDefaultStory,
			fmt.Sprintf("start-up ended in %s, and before the story came, %s passed or a person acted on the robot", f.Active, storyWait))
	case f.Story && f.Settled:
		s.transition(&d, OnAsk, "", "")
		d.Ask = true
	}
	return d
}

// answered takes the supervisor's answer.
func (s *modeStatus) answered(f ModeFacts, v schema.Verdict) (d modeDecision) {
	switch {
	case s.At() != schema.DeployWaiting || !v.Status.Final():
	case v.Status == schema.StatusSucceeded:
		s.transition(&d, OnGranted, "", "")
	case v.Status == schema.StatusRejected && v.Reason == schema.ReasonNoDefaultStory && s.Desired.Apply == schema.ApplyModeBoot && f.JustUp:
		s.noStory(&d, f)
	case v.Status == schema.StatusRejected:
		s.transition(&d, OnRefused, v.Reason, v.Detail)
	default:
		s.transition(&d, OnFell, v.Reason, v.Detail)
	}
	return d
}

// startupEnded takes the end of start-up; why is the reason if it did not end in the desired mode.
func (s *modeStatus) startupEnded(f ModeFacts, why schema.Reason) (d modeDecision) {
	switch {
	case s.At() != schema.DeployWaiting:
	case f.Active == s.Desired.Mode:
		s.transition(&d, OnGranted, "", "")
	case why == schema.ReasonNoDefaultStory && f.JustUp:
		s.noStory(&d, f)
	default:
		s.transition(&d, OnFell, why, "start-up ended in "+string(f.Active))
	}
	return d
}

// adopted notes that the robot obeys another fleet.
func (s *modeStatus) adopted() (d modeDecision) {
	s.Desired = desiredMode{}
	s.transition(&d, OnAdopted, "", "")
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
