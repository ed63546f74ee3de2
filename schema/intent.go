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
	Name       string            `json:"name" doc:"of the intent"`
	Slots      map[string]string `json:"slots,omitempty" doc:"its details by name"`
	Text       string            `json:"text,omitempty" doc:"what the person said"`
	Emotion    string            `json:"emotion,omitempty" doc:"the emotion in which the robot shall answer"`
	Confidence *float64          `json:"confidence,omitzero" doc:"0 to 1; left out = certain"`
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
		c.text(at+"/slots/"+name, u.Slots[name], ShortTextBound)
	}
	c.text(at+"/text", u.Text, TextBound)
	if u.Confidence != nil {
		c.within(at+"/confidence", *u.Confidence, 0, 1)
	}
	return c
}

// ValidIntentName reports whether name can be the name of an intent, an emotion or a slot.
// Such names come from other systems, so nearly every text without spaces is allowed.
func ValidIntentName(name string) bool {
	return name != "" && len(name) <= MaxIntentName && Printable(name) && !strings.Contains(name, " ")
}

func (c *checks) intentName(pointer, name string) {
	if !ValidIntentName(name) {
		c.add(pointer, "bad_value", fmt.Sprintf("%q is not a name", SanitizeText(name)), fmt.Sprintf("1 to %d printable bytes without spaces",
			MaxIntentName))
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
	TS      Time   `json:"ts" doc:"when the robot received it"`
	Session string `json:"session" doc:"the connection that wrote this"`
	Boot    string `json:"boot" doc:"this run of robotd"`
	ID      string `json:"id,omitempty" doc:"the command that posted it, as CLIENT/ID; left out if the body heard it"`
	Source  string `json:"source" doc:"the client that posted it, or body"`
	By      string `json:"by,omitempty" doc:"the person"`
	Utterance
	RobotEmotion string    `json:"robot_emotion,omitempty" doc:"the emotion of the robot now, after the reaction"`
	Reaction     *Reaction `json:"reaction,omitzero" doc:"what the robot does by its setting intents; left out: nothing, then a responder may answer"`
	Reason       Reason    `json:"reason,omitempty" doc:"why it does nothing: low_confidence or unknown_intent"`
}

// Reaction is what a robot does about an intent: at most one of act, activity, interrupt and
// mode.
type Reaction struct {
	Act       string `json:"act,omitempty" doc:"the act that it performs"`
	Activity  string `json:"activity,omitempty" doc:"the activity that gets the focus"`
	Interrupt string `json:"interrupt,omitempty" doc:"the handler that it asks for"`
	Mode      ModeID `json:"mode,omitempty" doc:"the mode that it sets"`
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
	Emotion      string        `json:"emotion,omitempty" doc:"the robot's emotion; left out until it has one"`
	EmotionSince Time          `json:"emotion_since,omitzero" doc:"since when"`
	Newest       *NewestIntent `json:"newest,omitzero" doc:"the newest intent"`
}

// NewestIntent is an intent in the state, without what people said.
type NewestIntent struct {
	Name     string    `json:"name" doc:"of the intent"`
	TS       Time      `json:"ts" doc:"when it came"`
	Source   string    `json:"source" doc:"the client that posted it, or body"`
	Reaction *Reaction `json:"reaction,omitzero" doc:"what the robot did about it"`
	Reason   Reason    `json:"reason,omitempty" doc:"why it did nothing"`
}
