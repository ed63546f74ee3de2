package life

import (
	"cmp"
	"strings"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// FocusRule keeps an activity from getting the focus, or from being a candidate for it.
type FocusRule struct {
	Name     string
	Reason   schema.Reason
	Why      string // for people: why the activity waits
	Prevents func(t Step, a *activity) bool
}

// pausedRule is the name of the rule whose refusal explains the pause.
const pausedRule = "paused"

// whyRefused says for the person at the client why a rule keeps an activity from the focus.
func (t Step) whyRefused(r *FocusRule) string {
	if r.Name == pausedRule {
		return t.Pauses.PausedBy("", "", t.Standstill.String())
	}
	return r.Why
}

// prevents returns the first rule that keeps an activity from the focus, or nil.
func prevents(rules []FocusRule, t Step, a *activity) *FocusRule {
	for i := range rules {
		if rules[i].Prevents(t, a) {
			return &rules[i]
		}
	}
	return nil
}

// FocusBlocks keep an activity from the focus for a while, also if a person asks for it. An
// activity on the stack waits until they are over.
var FocusBlocks = []FocusRule{
	{pausedRule, schema.ReasonNotPerforming, "the story is paused", func(t Step, _ *activity) bool { return t.Paused }},
	{"interrupt", schema.ReasonBusy, "an interrupt has precedence", func(t Step, a *activity) bool {
		return t.Preempts || t.Interrupts && a.Nature == score.NatureSolitary
	}},
}

// Permissions are what an activity needs in some circumstances, also if a person asks for it.
var Permissions = []FocusRule{
	{string(score.PermitNature), schema.ReasonInteractiveFocused, "an interactive activity has the focus or is stacked",
		func(t Step, a *activity) bool {
			return a.Nature == score.NatureSolitary && t.interacts()
		}},
	{string(score.PermitWhileCharging), schema.ReasonLacksPermission, "it lacks the permission while_charging",
		func(t Step, a *activity) bool {
			return t.Charging && !a.Permits(score.PermitWhileCharging)
		}},
	{string(score.PermitWhileMoving), schema.ReasonLacksPermission, "it lacks the permission while_moving", func(t Step, a *activity) bool {
		return t.Signals.Moving && !a.Permits(score.PermitWhileMoving)
	}},
	{string(score.PermitInSafeguard), schema.ReasonLacksPermission, "it lacks the permission in_safeguard", func(t Step, a *activity) bool {
		return t.safeguarded() && !a.Permits(score.PermitInSafeguard)
	}},
}

// The shortest time between two starts of an activity by the launchpad, and its rest after a
// failure: one that ends at once, or cannot be performed, does not start in every step.
const (
	shortest    = time.Second
	afterFailed = 5 * time.Second
)

// CandidateBlocks are the rules by which the launchpad leaves activities out, besides Permissions.
var CandidateBlocks = []FocusRule{
	{"condition", "", "its condition is not true", func(_ Step, a *activity) bool { return !a.held }},
	{"focused", "", "it has the focus", func(t Step, a *activity) bool { return a.ID == t.focus.activity }},
	{"cooldown", schema.ReasonCooldown, "it had the focus a short time ago", func(t Step, a *activity) bool {
		return t.Now.Mono < a.restsUntil()
	}},
}

// restsUntil returns the time before which the launchpad does not start the activity again.
func (a *activity) restsUntil() (until time.Duration) {
	if a.starts > 0 {
		until = a.started + shortest
	}
	if a.ends > 0 {
		until = max(until, a.ended+a.cooldown)
	}
	if a.failed {
		until = max(until, a.ended+afterFailed)
	}
	return until
}

// Preference orders candidates.
type Preference struct {
	Name, Why string
	Compare   func(a, b *activity) int
}

// Preferences orders the candidates: the first preference that tells two apart decides.
var Preferences = []Preference{
	{"interactive first", "people come before what the robot does alone", func(a, b *activity) int {
		return cmp.Compare(rank(a.Nature), rank(b.Nature))
	}},
	{"least recently focused", "every activity gets its turn", func(a, b *activity) int {
		return cmp.Compare(lastStart(a), lastStart(b))
	}},
	{"name", "the choice depends on nothing else", func(a, b *activity) int { return strings.Compare(a.ID, b.ID) }},
}

func rank(n score.Nature) int {
	if n == score.NatureInteractive {
		return 0
	}
	return 1
}

// lastStart orders activities that never started before all others.
func lastStart(a *activity) time.Duration {
	if a.starts == 0 {
		return -1
	}
	return a.started
}

// LaunchBlocks keep the launchpad from giving its first choice the focus: it only suggests it.
var LaunchBlocks = []FocusRule{
	{"interactive", "", "while an interactive activity has the focus, the launchpad only suggests",
		func(t Step, _ *activity) bool { return t.at != solitary }},
	{pausedRule, schema.ReasonNotPerforming, "the story is paused", func(t Step, _ *activity) bool { return t.Paused }},
	{"interrupt", schema.ReasonBusy, "an interrupt runs", func(t Step, _ *activity) bool { return t.Interrupts }},
	{"solitary", "", "a solitary activity does not end another one", func(t Step, a *activity) bool {
		return t.focus.run != "" && a.Nature == score.NatureSolitary
	}},
}

// interacts reports whether an interactive activity has the focus or is to have it again.
func (s *State) interacts() bool {
	if s.focus.run != "" && s.focus.nature == score.NatureInteractive {
		return true
	}
	for _, id := range s.stack {
		if a := s.named(id); a != nil && a.Nature == score.NatureInteractive {
			return true
		}
	}
	return false
}

// safeguarded reports whether a safeguard has a cause, also one to which life does not react.
func (t Step) safeguarded() bool {
	for _, c := range causes[1:] {
		if t.Health.Safeguarded(c) {
			return true
		}
	}
	return false
}
