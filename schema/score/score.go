package score

import "strings"

// Text is a text in several languages, by BCP 47 language tag.
type Text map[string]string

// In returns the text in the first of langs that is available, or else in its first
// language by tag, so that a robot always has something to say.
func (t Text) In(langs ...string) string { return t[t.Language(langs...)] }

// Language returns the language in which In returns the text; empty if there is no text.
func (t Text) Language(langs ...string) string {
	for _, l := range langs {
		if found, ok := t.find(l); ok {
			return found
		}
	}
	first := ""
	for l := range t {
		if first == "" || l < first {
			first = l
		}
	}
	return first
}

// find returns lang, or else the language without its subtags: de for de-AT.
func (t Text) find(lang string) (string, bool) {
	for {
		if _, ok := t[lang]; ok {
			return lang, true
		}
		i := strings.LastIndexByte(lang, '-')
		if i < 0 {
			return "", false
		}
		lang = lang[:i]
	}
}

// Method is how an action runs with others at the same time.
type Method string

const (
	MethodMultiple   Method = "multiple"     // with any other action
	MethodNoSameType Method = "no_same_type" // not with actions that compete for its unit
	MethodExclusive  Method = "exclusive"    // alone: the clock of its group stops while it lasts
)

// OnResume is what happens with an action after a pause has interrupted it.
type OnResume string

const (
	ResumeContinue OnResume = "continue" // from the time of the interruption
	ResumeRestart  OnResume = "restart"
	ResumeSkip     OnResume = "skip"
)

// Act is a named group of actions with a timeline. A file contains one act.
type Act struct {
	ID         string               `json:"act"`
	Name       Text                 `json:"name,omitempty"`
	Labels     map[string]string    `json:"labels,omitempty"`
	Parameters map[string]Parameter `json:"parameters,omitempty"`
	Method     Method               `json:"method,omitempty"` // of the root group: multiple or exclusive
	Actions    []Action             `json:"actions"`
}

// Parameter is a placeholder ${name} in the texts of an act.
type Parameter struct {
	Type    string `json:"type"` // string
	Default string `json:"default,omitempty"`
}

// ActionType names a row of the action table.
type ActionType string

const (
	TypeSay    ActionType = "say"
	TypeSound  ActionType = "sound"
	TypeFace   ActionType = "face"
	TypeLED    ActionType = "led"
	TypeScreen ActionType = "screen"
	TypeHead   ActionType = "head"
	TypeMotion ActionType = "motion"
	TypePose   ActionType = "pose"
	TypeGoto   ActionType = "goto"
	TypeDrive  ActionType = "drive"
	TypeWait   ActionType = "wait"
	TypeAct    ActionType = "act"
	TypeGroup  ActionType = "group"
)

// Choice is one answer that a screen offers.
type Choice struct {
	ID   string `json:"id"`
	Text Text   `json:"text"`
}

// Story is an ordered list of acts with a repeat rule. A file contains one story.
type Story struct {
	ID         string            `json:"story"`
	Name       Text              `json:"name"`
	Labels     map[string]string `json:"labels,omitempty"`
	Languages  []string          `json:"languages,omitempty"` // the first is the default
	Repeat     Repeat            `json:"repeat,omitzero"`
	OnActError ActError          `json:"on_act_error,omitzero"`
	Acts       []Step            `json:"acts"`
	// Shutdown is the act that the robot performs at a soft stop, before it stops.
	Shutdown string `json:"shutdown,omitempty"`
}

// ActIDs lists the ids of the acts that a story names: those of its steps, then that of its
// shutdown act.
func (s Story) ActIDs() []string {
	ids := actIDs(s.Acts)
	if s.Shutdown != "" {
		ids = append(ids, s.Shutdown)
	}
	return ids
}

func actIDs(steps []Step) []string {
	ids := make([]string, len(steps), len(steps)+1)
	for i, step := range steps {
		ids[i] = step.Act
	}
	return ids
}

// ActsAt returns the ids of ActIDs, by the pointers at which s names them.
func (s Story) ActsAt() map[string]string {
	named := map[string]string{"/shutdown": s.Shutdown}
	for i, step := range s.Acts {
		named[at("/acts", i, "act")] = step.Act
	}
	return named
}

// Step is one act of a story with the story's settings for it.
type Step struct {
	Act               string            `json:"act"`
	With              map[string]string `json:"with,omitempty"`
	OnResume          OnResume          `json:"on_resume,omitempty"`
	FinishBeforePause bool              `json:"finish_before_pause,omitzero"`
}

// StorySchema is the version of the published form.
const StorySchema = 1

// PublishedStory is a published revision of a story: immutable bytes with the story and all library
// acts that it uses.
type PublishedStory struct {
	Schema int64          `json:"schema"`
	Rev    int64          `json:"rev"`
	Story  Story          `json:"story"`
	Acts   map[string]Act `json:"acts"`
	Assets []Asset        `json:"assets,omitempty"` // sounds and faces that its acts name
}
