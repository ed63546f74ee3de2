package cli

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"troupe/schema"
)

// A kind is what a line of robot watch is about.
type kind string

const (
	kindWorld  kind = "world"
	kindStory  kind = "story"
	kindReact  kind = "react"
	kindLife   kind = "life"
	kindSafety kind = "safety"
	kindMode   kind = "mode"
	kindLink   kind = "link"
	kindAlert  kind = "alert"
	kindFleet  kind = "fleet"
)

// colours are the SGR codes of kinds on a terminal; a kind without one is not coloured.
var colours = map[kind]string{kindWorld: "36", kindReact: "33", kindLife: "32", kindSafety: "1;31", kindAlert: "31", kindLink: "2",
	kindMode: "1", kindFleet: "2"}

// watchLine is one line.
type watchLine struct {
	Kind kind   `json:"kind"`
	Text string `json:"text"`
}

// actText is what people know an act by.
type actText struct{ name, says string }

// narrator turns the events of one robot into lines. It leaves out what follows from an
// earlier line, so that each thing that happens is one line.
type narrator struct {
	act   func(story, act string) actText
	story string // that the robot performs

	clock    schema.Event // from which the clock of the scenario is known
	scenario time.Time    // its time then
	speed    float64

	note        string      // what happened last in the scenario
	current     string      // act of the story that is performed or paused
	explainedAt schema.Time // when an event was printed that explains a pause of the story
	left        string      // activity that was stopped for another one
	restCause   string      // why it came to rest
	warned      string      // act of which was printed that it is performed in part
	intentAt    schema.Time // when an intent was printed
	pending     *pendingLine
}

// pendingLine is a line that the next event of the same step may make superfluous or complete.
type pendingLine struct {
	event  *schema.Event
	looked time.Time // when it was first found without a next event
	done   string    // what has ended, which is printed in any case
	goesOn string    // what follows, unless something else does at once
	focus  string    // activity that has the focus: its first act completes the line
}

// line returns the text. completed says that nothing else followed at once.
func (h *pendingLine) line(completed bool) (watchLine, bool) {
	switch {
	case h.focus != "":
		return watchLine{kindLife, h.focus}, true
	case completed && h.goesOn != "" && h.done != "":
		return watchLine{kindStory, h.done + "; " + h.goesOn}, true
	case completed && h.goesOn != "":
		return watchLine{kindStory, h.goesOn}, true
	}
	return watchLine{kindReact, h.done}, h.done != ""
}

// flush returns the line that is held, when its step is over. now is this computer's time,
// which may differ from the robot's.
func (n *narrator) flush(now time.Time) []timedLine {
	h := n.pending
	if h != nil && h.looked.IsZero() {
		h.looked = now
	}
	if h == nil || now.Sub(h.looked) < together {
		return nil
	}
	n.pending = nil
	line, ok := h.line(true)
	if !ok {
		return nil
	}
	return []timedLine{{h.event, n.at(h.event.TS), line}}
}

// moment is a time by the wall clock, and by that of the scenario, if there is one.
type moment struct {
	wall     schema.Time
	scenario string
}

func (n *narrator) at(t schema.Time) moment {
	if n.speed == 0 {
		return moment{wall: t}
	}
	passed := time.Duration(float64(t.Sub(n.clock.TS)) * n.speed)
	return moment{t, n.scenario.Add(passed).Format(time.TimeOnly)}
}

// setClock reads the clock of the scenario from an event that has it.
func (n *narrator) setClock(e schema.Event) {
	d := dataOf(e)
	at, err := time.Parse(time.TimeOnly, d.At)
	if err != nil || d.Speed <= 0 || e.TS < n.clock.TS {
		return
	}
	n.clock, n.scenario, n.speed = e, at, d.Speed
}

// eventFields has the fields of the data of all types of events that are printed.
type eventFields struct {
	From, To, Reason, Detail, ID, By, Why   string
	Act, Entry, Lane, Outcome, Story        string
	Handler, Activity, Nature               string
	Name, At, Note, Command, Effect, Choice string
	MS, Round, Performed, Failed, LateMS    int64
	Skipped                                 int64
	Speed, TemperatureC                     float64
	Count                                   int64
	FromBy, ToBy, ReleasedBy                string
	Reaction                                *schema.Reaction
	Fields                                  json.RawMessage
	Stack                                   []string
}

func dataOf(e schema.Event) (d eventFields) {
	var raw map[string]json.RawMessage
	if json.Unmarshal(e.Data, &raw) != nil {
		return d
	}
	plain := map[string]json.RawMessage{}
	for key, v := range raw { // temperature_c is TemperatureC
		plain[strings.ReplaceAll(key, "_", "")] = v
	}
	text, err := json.Marshal(plain)
	if err == nil {
		_ = json.Unmarshal(text, &d) // a field of another type is left empty
	}
	return d
}

// timedLine is a line, its time and its event.
type timedLine struct {
	event *schema.Event
	at    moment
	watchLine
}

// narrate returns the lines that an event makes, with those that were held for it.
func (n *narrator) narrate(e schema.Event) (lines []timedLine) {
	d := dataOf(e)
	if h := n.pending; h != nil && !n.completes(h, e, d) {
		n.pending = nil
		if line, ok := h.line(e.TS.Sub(h.event.TS) >= together || !holdsStory(e, d)); ok {
			lines = append(lines, timedLine{h.event, n.at(h.event.TS), line})
		}
	}
	if kind, text := n.line(e, d); text != "" {
		text = strings.TrimSuffix(strings.TrimSpace(text), ":") // a reason may be missing
		lines = append(lines, timedLine{&e, n.at(e.TS), watchLine{kind, text}})
	}
	return lines
}

// completes reports whether an event continues the line that is held.
func (n *narrator) completes(h *pendingLine, e schema.Event, d eventFields) bool {
	if e.TS.Sub(h.event.TS) >= together {
		return false
	}
	switch e.Type {
	case "auto_changed":
		return h.focus == "" || schema.AutoStatus(d.To) == schema.AutoPaused || schema.AutoStatus(d.To) == schema.AutoPerforming
	case "act_started":
		if d.Lane == "story" { // the act that was interrupted is not resumed
			h.goesOn = ""
		}
		return h.focus != "" && d.Lane == "activity"
	case "act_ended", "act_warning":
		return true
	case "life_state", "life_next", "life_suggestion", "life_completed":
		return true
	case "life_focused":
		return d.Activity == ""
	}
	return false
}

// holdsStory reports whether the story waits because of an event.
func holdsStory(e schema.Event, d eventFields) bool {
	return e.Type == "life_focused" && d.Activity != "" || e.Type == "interrupt_started" || e.Type == "alert_raised" &&
		e.Cause == "safeguard" ||
		e.Type == "safety_changed" && d.To != string(schema.SafetyEnabled)
}

// together is how far apart events of one step may be.
const together = 300 * time.Millisecond

func (n *narrator) line(e schema.Event, d eventFields) (kind, string) {
	switch e.Type {
	case "sim_input", "sim_scenario":
		return n.world(e, d)
	case "auto_changed", "act_started", "act_ended", "act_skipped", "act_failed", "act_warning", "story_round", "screen_choice":
		return n.performance(e, d)
	case "interrupt_started", "interrupt_finished", "interrupt_refused":
		return n.interrupt(e, d)
	case "intent", "intent_ignored", "intent_refused":
		return n.intent(e, d)
	case "life_state", "life_focused", "life_completed":
		return n.life(e, d)
	case "safety_changed", "stop_latched", "stop_altered", "stop_released":
		return n.safety(e, d)
	case "alert_raised", "alert_cleared", "diagnosis_changed":
		return n.alert(e, d)
	case "booted":
		*n = narrator{act: n.act, story: n.story}
		return kindLink, "was started"
	case "ending":
		return kindLink, "ends: " + orElse(e.Cause, "it was asked to")
	case "mode_changed":
		text := fmt.Sprintf("is in mode %s now, after %s", modeName(d.To), modeName(d.From))
		if d.From == string(schema.ModeAto) {
			text += "; its story and its life end"
		}
		return kindMode, text
	case "mode_fallback":
		return kindMode, fmt.Sprintf("cannot be in mode %s: %s", modeName(d.From), reasonText(d))
	case "control_taken", "control_lost":
		return kindMode, controlText(d)
	case "control_free":
		return kindMode, orElse(d.FromBy, d.From) + " has released control"
	case "link_lost":
		return kindLink, "is on its own: " + eventText(e)
	case "link_restored":
		return kindLink, "can be reached by operators again"
	}
	return n.other(e, d)
}

// quiet lists types of events that other lines report, or that do not concern a person who watches.
var quiet = []string{
	"life_next", "life_suggestion", // the focus follows, or does not
	"deadline_missed", "set_point_limited", "teleop_refused", // about the computer and the body
	"config_applied", "config_deletion_ignored", "mode_deletion_ignored", "story_deletion_ignored", "activities_deletion_ignored",
	"places_deletion_ignored",
}

// namedField is a field of the data that a text of schema.Events names.
var namedField = regexp.MustCompile("`[a-z_]+`")

// eventText returns what an event means by the table, with the values of the fields that its row
// names. A type that only a later release has is its own text.
func eventText(e schema.Event) string {
	var data map[string]json.RawMessage
	_ = json.Unmarshal(e.Data, &data) // a field that is missing keeps its name
	text := orElse(schema.EventOf(e.Type).Text, strings.ReplaceAll(e.Type, "_", " "))
	return namedField.ReplaceAllStringFunc(text, func(name string) string {
		name = strings.Trim(name, "`")
		return orElse(string(data[name]), name)
	})
}

// other tells events without a line of their own: that a desired document became active or was
// withdrawn, and those of level warn or above.
func (n *narrator) other(e schema.Event, d eventFields) (kind, string) {
	switch {
	case slices.Contains(quiet, e.Type):
		return "", ""
	case strings.HasSuffix(e.Type, "_active"):
		return kindFleet, "has its new " + strings.ReplaceAll(strings.TrimSuffix(e.Type, "_active"), "_", " ")
	case strings.HasSuffix(e.Type, "_withdrawn"):
		return kindFleet, "no longer has its " + strings.TrimSuffix(e.Type, "_withdrawn")
	case e.Level == schema.EventInfo || e.Level == "":
		return "", ""
	}
	return kindAlert, eventText(e) + ": " + reasonText(d)
}
