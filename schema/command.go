package schema

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Precondition lists conditions that have to hold when the robot checks a command.
// Conditions that are left out are not checked.
type Precondition struct {
	Mode     ModeID `json:"mode,omitempty" doc:"this mode is in charge"`
	StateSeq int64  `json:"state_seq,omitzero" doc:"the newest state has this number"`
	Session  string `json:"session,omitempty" doc:"the robot's connection is this one"`
	StoryRev int64  `json:"story_rev,omitzero" doc:"the active story has this revision"`
}

// Unmet returns a problem for the first condition that does not hold, given the robot's
// present values in now.
func (p Precondition) Unmet(now Precondition) (Problem, bool) {
	fault := func(name, want, got string) (Problem, bool) {
		if got == "" {
			got = "none"
		}
		return NewProblem("/if/"+name, string(ReasonPrecondition), name+" is "+got+", but the command requires "+want,
			"look at the robot's state and decide anew"), true
	}
	switch {
	case p.Mode != "" && p.Mode != now.Mode:
		return fault("mode", string(p.Mode), string(now.Mode))
	case p.StateSeq != 0 && p.StateSeq != now.StateSeq:
		return fault("state_seq", strconv.FormatInt(p.StateSeq, 10), strconv.FormatInt(now.StateSeq, 10))
	case p.Session != "" && p.Session != now.Session:
		return fault("session", p.Session, now.Session)
	case p.StoryRev != 0 && p.StoryRev != now.StoryRev:
		return fault("story_rev", strconv.FormatInt(p.StoryRev, 10), strconv.FormatInt(now.StoryRev, 10))
	}
	return Problem{}, false
}

// read decodes one member into a pointer, or adds the problem. It refuses a null, which
// contains no value: its sender may rely on one.
func (c *checks) read(raw jsontext.Value, pointer string, into any) {
	if raw.Kind() == 'n' {
		c.add(pointer, "bad_type", "a null does not fit here", "leave it out, or say what it is")
		return
	}
	if err := json.Unmarshal(raw, into); err != nil {
		p := problemOf(err)
		p.Pointer = pointer + p.Pointer
		*c = append(*c, p)
	}
}

// readCondition decodes the field "if" strictly, because ignoring a condition would be
// worse than a refusal. So it also refuses empty conditions.
func (c *checks) readCondition(raw jsontext.Value, into *Precondition) {
	const hint = "it takes mode, state_seq, session, story_rev"
	if raw.Kind() == 'n' {
		c.add("/if", "bad_type", "a null does not fit here", "leave it out, or say what has to hold")
		return
	}
	if err := json.Unmarshal(raw, into, json.RejectUnknownMembers(true)); err != nil {
		p := problemOf(err)
		p.Pointer = "/if" + p.Pointer
		if p.Code == "unknown_field" {
			p.Hint = hint
		}
		*c = append(*c, p)
		return
	}
	var said map[string]jsontext.Value
	c.read(raw, "/if", &said)
	for _, condition := range []struct {
		name  string
		empty bool
	}{{"mode", into.Mode == ""}, {"state_seq", into.StateSeq < 1}, {"session", into.Session == ""}, {"story_rev", into.StoryRev < 1}} {
		if _, there := said[condition.name]; there && condition.empty {
			c.add("/if/"+condition.name, "out_of_range", "the condition on "+condition.name+" can never hold",
				"leave it out, or say what has to hold")
		}
	}
}

// MadeIDPrefix begins the id that a robot makes for a command without one; its answers have it.
const MadeIDPrefix = "auto-"

// Ack is the robot's answer to a command. Every command gets a final answer, also
// malformed, late, refused and repeated ones.
type Ack struct {
	TS           Time      `json:"ts" doc:"when this was written"`
	Session      string    `json:"session" doc:"the connection that wrote this"`
	ID           *string   `json:"id" jsonschema:"nullable" doc:"the command's id; null if it could not be decoded"`
	Verb         string    `json:"verb" doc:"the command's verb"`
	Status       Status    `json:"status" doc:"ACCEPTED or IN_PROGRESS (more answers follow), or final"`
	Result       Result    `json:"result,omitempty" doc:"ok, MS_INV_CMD of a malformed command, or one of modes (MS_...)"`
	Reason       Reason    `json:"reason,omitempty" doc:"why it was refused or failed, or that nothing had to be changed"`
	Retry        Retry     `json:"retry,omitempty" doc:"whether asking again may help: never, later or after_fix"`
	RetryMS      int64     `json:"retry_ms,omitzero" doc:"how long to wait before asking again"`
	Detail       string    `json:"detail,omitempty" doc:"the reason in a sentence, with the way out"`
	Pointer      string    `json:"pointer,omitempty" doc:"the field that the reason is about"`
	StateSeq     int64     `json:"state_seq,omitzero" doc:"the effect is visible in states with this state_seq or a higher one"`
	Current      *AckState `json:"current,omitzero" doc:"the robot's present state"`
	Dup          bool      `json:"dup,omitzero" doc:"the repeated answer to an earlier copy of the command"`
	UncheckedAge bool      `json:"unchecked_age,omitzero" doc:"the robot could not check the age of the command"`
	Progress     *int      `json:"progress,omitzero" doc:"0 to 100, with IN_PROGRESS if it is known"`
	EtaMS        int64     `json:"eta_ms,omitzero" doc:"remaining time, with IN_PROGRESS if it is known"`
	Lease        *Lease    `json:"lease,omitzero" doc:"the granted control, or its present holder"`
	Refs         []Ref     `json:"refs,omitempty" doc:"what prevents the command, or what it created; at most eight"`
}

// Ref refers to an object that an answer or an alert is about.
type Ref struct {
	Kind RefKind `json:"kind" doc:"command, latch, client, unit, input, alert, interrupt or pause"`
	ID   string  `json:"id" doc:"its id"`
}

// MaxRefs is the greatest number of references in an answer.
const MaxRefs = 8

// Lease is the control of a robot by one client. Only its holder receives its id.
type Lease struct {
	ID      string `json:"id,omitempty" doc:"only its holder receives it"`
	Holder  string `json:"holder" doc:"the client"`
	By      string `json:"by,omitempty" doc:"the person"`
	Scope   string `json:"scope" doc:"manual, or all"`
	UntilMS int64  `json:"until_ms" doc:"when it ends unless it is renewed, in the robot's mono_ms"`
}

// AckState is the robot's present state in an answer.
type AckState struct {
	Mode   ModeID      `json:"mode" doc:"the mode in charge"`
	Safety SafetyState `json:"safety" doc:"the state of the safety core"`
	Auto   AutoStatus  `json:"auto" doc:"as auto.status of the state"`
}

// Validate reports missing or invalid fields.
func (m *Ack) Validate() []Problem {
	var c checks
	c.present("/session", m.Session != "")
	c.present("/verb", m.Verb != "")
	c.present("/status", m.Status != "")
	for i, r := range m.Refs {
		c.present(at("/refs", i, "kind"), r.Kind != "")
		c.present(at("/refs", i, "id"), r.ID != "")
	}
	return c
}
