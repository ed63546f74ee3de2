package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Limits of an intent.
const (
	MaxIntentName = 64 // bytes of the names of intents, emotions and slots
	MaxSlots      = 16
)

// Utterance is what a person wants of the robot, as somebody understood it.
type Utterance struct {
	Name string `json:"name"` // of the intent
	// Slots are the details of the intent by name, such as the name of a guest.
	Slots map[string]string `json:"slots,omitempty"`
	Text  string            `json:"text,omitempty"` // what the person said
	// Emotion is the one in which the robot shall answer; if left out, its own.
	Emotion    string   `json:"emotion,omitempty"`
	Confidence *float64 `json:"confidence,omitzero"` // 0 to 1; left out = certain
}

// Problems returns what is wrong with u. Pointers begin with at.
func (u *Utterance) Problems(at string) []Problem {
	var c checks
	c.intentName(at+"/name", u.Name)
	if u.Emotion != "" {
		c.intentName(at+"/emotion", u.Emotion)
	}
	if len(u.Slots) > MaxSlots {
		c.add(at+"/slots", "too_long", fmt.Sprintf("%d slots, %d are allowed", len(u.Slots), MaxSlots), "")
	}
	for _, name := range slices.Sorted(maps.Keys(u.Slots)) {
		c.intentName(at+"/slots/"+name, name)
		c.text(at+"/slots/"+name, u.Slots[name], Words)
	}
	c.text(at+"/text", u.Text, Texts)
	if u.Confidence != nil {
		c.within(at+"/confidence", *u.Confidence, 0, 1)
	}
	return c
}

// ValidIntentName reports whether it can be the name of an intent, an emotion or a slot:
// such names come from other systems, so nearly everything is one.
func ValidIntentName(name string) bool {
	return name != "" && len(name) <= MaxIntentName && Printable(name) && !strings.Contains(name, " ")
}

func (c *checks) intentName(pointer, name string) {
	if !ValidIntentName(name) {
		c.add(pointer, "bad_value", fmt.Sprintf("%q is not a name", SanitizeText(name)), fmt.Sprintf("1 to %d printable bytes without spaces", MaxIntentName))
	}
}

func (c *checks) text(pointer, text string, bound Bound) {
	*c = append(*c, bound.Check(pointer, text)...)
	if !Printable(text) {
		c.add(pointer, "unprintable", "the text has characters that cannot be shown in a line", "leave them out")
	}
}

// Intent is an intent that the robot received, and its reaction. It is published once, for
// programs that answer intents with act/perform. It contains what people said, so observers
// do not read it.
type Intent struct {
	TS      Time   `json:"ts"`
	Session string `json:"session"`
	Boot    string `json:"boot"`
	ID      string `json:"id,omitempty"` // the command that posted it, as CLIENT/ID; left out if the body heard it
	Source  string `json:"source"`       // the client that posted it, or body
	By      string `json:"by,omitempty"`
	Utterance
	// RobotEmotion is the emotion of the robot now, after the reaction.
	RobotEmotion string `json:"robot_emotion,omitempty"`
	// Reaction is what the robot does by its setting intents; nil = nothing, and Reason says
	// why: low_confidence or unknown_intent. Then a responder may answer.
	Reaction *Reaction `json:"reaction,omitzero"`
	Reason   Reason    `json:"reason,omitempty"`
}

// Reaction is what a robot does about an intent: at most one of act, activity, interrupt and
// mode.
type Reaction struct {
	Act       string `json:"act,omitempty"`
	Activity  string `json:"activity,omitempty"`
	Interrupt string `json:"interrupt,omitempty"` // a handler
	Mode      ModeID `json:"mode,omitempty"`
}

// Validate reports missing or invalid fields.
func (i *Intent) Validate() []Problem {
	c := checks(i.Utterance.Problems(""))
	c.present("/session", i.Session != "")
	c.present("/boot", i.Boot != "")
	c.present("/source", i.Source != "")
	return c
}

// StateIntent is the robot's emotion, and the newest intent that it was confident of.
type StateIntent struct {
	Emotion      string     `json:"emotion,omitempty"` // missing = none since robotd started
	EmotionSince Time       `json:"emotion_since,omitzero"`
	Newest       *NewIntent `json:"newest,omitzero"`
}

// NewIntent is an intent in the state, without what people said.
type NewIntent struct {
	Name     string    `json:"name"`
	TS       Time      `json:"ts"`
	Source   string    `json:"source"` // as in Intent
	Reaction *Reaction `json:"reaction,omitzero"`
	Reason   Reason    `json:"reason,omitempty"`
}
