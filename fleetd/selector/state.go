package selector

import (
	"slices"
	"strings"

	"troupe/schema"
)

// Doing is what a robot does now, in one word: whether it performs, and if not, why.
type Doing string

// The words. The view tries them in about this order, and the first that applies counts.
const (
	NotConnected      Doing = "not_connected"
	Asleep            Doing = "asleep"
	NotAdopted        Doing = "not_adopted"
	WaitingForRelease Doing = "waiting_for_release"
	StopInput         Doing = "stop_input"
	NeedsReset        Doing = "needs_reset"
	Braking           Doing = "braking"
	Resetting         Doing = "resetting" // its units clear their errors after safety/reset
	Disabled          Doing = "disabled"
	NotReported       Doing = "not_reported"
	Switching         Doing = "switching"
	Manual            Doing = "manual"   // somebody has control
	Undriven          Doing = "undriven" // in manual mode, and nobody has control
	StartUp           Doing = "start_up"
	SafeMode          Doing = "safe_mode"
	OtherMode         Doing = "other_mode"
	Performing        Doing = "performing"
	Failing           Doing = "failing" // it tries to perform, and every act fails
	Interrupted       Doing = "interrupt"
	Activity          Doing = "activity"
	PausedBySafety    Doing = "paused_by_safety" // a stop holds the story, though the robot may move again: a person continues it
	Paused            Doing = "paused"
	NoStory           Doing = "no_story"
	StoryEnded        Doing = "story_ended" // it has a story, and none runs: it has ended, was stopped or waits for auto/start
)

// Doings lists every value of Doing.
func Doings() []Doing {
	return []Doing{
		NotConnected, Asleep, NotAdopted, WaitingForRelease, StopInput, NeedsReset, Braking, Resetting, Disabled, NotReported, Switching, Manual,
		Undriven, StartUp,
		SafeMode, OtherMode, Performing, Failing, Interrupted, Activity, PausedBySafety, Paused, NoStory, StoryEnded,
	}
}

// StoryState is how far a robot is with the story that is assigned to it.
type StoryState string

const (
	StoryNone    StoryState = "none"    // no story is assigned
	StoryCurrent StoryState = "current" // the robot has it
	StoryPending StoryState = "pending" // the robot does not have it yet
	StoryRefused StoryState = "refused" // the robot refused it, or could not get it
)

// StateTerms are the terms of a selector about the present state of robots. The database does not
// know that state, so the view resolves such a selector into ids before the store sees it.
// Empty terms hold for every robot; a list holds if one of its values does.
type StateTerms struct {
	Text       string          `json:"text,omitempty" maxLength:"64" doc:"part of the name or of the value of a label, in upper or lower case"`
	Doing      []Doing         `json:"doing,omitempty" maxItems:"32" enum:"not_connected,asleep,not_adopted,waiting_for_release,stop_input,needs_reset,braking,resetting,disabled,not_reported,switching,manual,undriven,start_up,safe_mode,other_mode,performing,failing,interrupt,activity,paused_by_safety,paused,no_story,story_ended" doc:"what they do now, one of these"`
	Modes      []schema.ModeID `json:"modes,omitempty" maxItems:"32" doc:"the reported mode, one of these"`
	Presence   []string        `json:"presence,omitempty" maxItems:"6" enum:"unknown,online,degraded,lost,offline,sleeping" doc:"one of these"`
	Story      string          `json:"story,omitempty" maxLength:"64" doc:"the story that they perform or that is assigned to them"`
	StoryState []StoryState    `json:"story_state,omitempty" maxItems:"4" enum:"none,current,pending,refused" doc:"how far they are with the assigned story, one of these"`
}

// Robot is what a selector looks at.
type Robot struct {
	ID         string
	Labels     map[string]string
	Doing      Doing
	Mode       schema.ModeID
	Presence   string
	Story      string // the one that it performs
	Assigned   string // the one that is assigned to it
	StoryState StoryState
}

// NeedsView reports whether s has terms about the present state of robots.
func (s Selector) NeedsView() bool {
	t := s.StateTerms
	return t.Text != "" || t.Story != "" || len(t.Doing)+len(t.Modes)+len(t.Presence)+len(t.StoryState) > 0
}

func (t StateTerms) match(r Robot) bool {
	return (t.Text == "" || r.contains(t.Text)) &&
		oneOf(t.Doing, r.Doing) && oneOf(t.Modes, r.Mode) && oneOf(t.Presence, r.Presence) && oneOf(t.StoryState, r.StoryState) &&
		(t.Story == "" || t.Story == r.Story || t.Story == r.Assigned)
}

func (r Robot) contains(text string) bool {
	text = strings.ToLower(text)
	if strings.Contains(r.ID, text) {
		return true
	}
	for _, value := range r.Labels {
		if strings.Contains(strings.ToLower(value), text) {
			return true
		}
	}
	return false
}

func oneOf[T comparable](wanted []T, v T) bool {
	return len(wanted) == 0 || slices.Contains(wanted, v)
}

// words is the text form of the terms.
func (t StateTerms) words() (words []string) {
	add := func(name, value string) {
		if value != "" {
			words = append(words, "--"+name+"="+value)
		}
	}
	add("matching", t.Text)
	add("doing", join(t.Doing))
	add("in-mode", join(t.Modes))
	add("presence", join(t.Presence))
	add("has-story", t.Story)
	add("story-state", join(t.StoryState))
	return words
}

// parse takes one word of the text form, and reports whether it is one.
func (t *StateTerms) parse(word string) bool {
	name, value, ok := strings.Cut(word, "=")
	if !ok || value == "" {
		return false
	}
	switch name {
	case "--matching":
		t.Text = value
	case "--doing":
		t.Doing = split[Doing](value)
	case "--in-mode":
		t.Modes = split[schema.ModeID](value)
	case "--presence":
		t.Presence = split[string](value)
	case "--has-story":
		t.Story = value
	case "--story-state":
		t.StoryState = split[StoryState](value)
	default:
		return false
	}
	return true
}

func join[T ~string](values []T) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = string(v)
	}
	return strings.Join(words, ",")
}

func split[T ~string](list string) (out []T) {
	for v := range strings.SplitSeq(list, ",") {
		out = append(out, T(v))
	}
	return out
}
