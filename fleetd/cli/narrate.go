package cli

import (
	"encoding/json"
	"fmt"
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
var colours = map[kind]string{kindWorld: "36", kindReact: "33", kindLife: "32", kindSafety: "1;31", kindAlert: "31", kindLink: "2", kindMode: "1", kindFleet: "2"}

// happening is one line.
type happening struct {
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

	note    string       // what happened last in the scenario
	current string       // act of the story that is performed or paused
	paused  schema.Time  // when an event was told that pauses the story
	handler *interrupted // that has just ended
	resting string       // why it came to rest
}

// interrupted is a handler that has ended.
type interrupted struct {
	handler string
	took    time.Duration
	at      schema.Time
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

// eventData has the fields of the data of all types of events that are told.
type eventFields struct {
	From, To, Reason, Detail, ID, By, Why   string
	Act, Entry, Lane, Outcome, Story        string
	Handler, Activity, Nature               string
	Name, At, Note, Command, Effect, Choice string
	MS, Round, Performed, Failed, LateMS    int64
	Speed, TemperatureC                     float64
	Count                                   int64
	FromBy, ToBy                            string
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

// tell returns the lines that an event makes.
func (n *narrator) tell(e schema.Event) (lines []happening) {
	d := dataOf(e)
	if n.handler != nil && !(e.Type == "auto_changed" && e.TS.Sub(n.handler.at) < together) {
		lines = append(lines, happening{kindReact, n.handler.done()})
		n.handler = nil
	}
	kind, text := n.line(e, d)
	if text != "" {
		lines = append(lines, happening{kind, text})
	}
	return lines
}

// together is how far apart events of one step may be.
const together = 300 * time.Millisecond

func (n *narrator) line(e schema.Event, d eventFields) (kind, string) {
	switch e.Type {
	case "sim_input", "sim_scenario":
		return n.world(e, d)
	case "auto_changed", "act_started", "act_ended", "act_failed", "act_warning", "story_round", "screen_choice":
		return n.performance(e, d)
	case "interrupt_started", "interrupt_finished", "interrupt_refused":
		return n.interrupt(e, d)
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
		return kindMode, fmt.Sprintf("is in mode %s now, after %s", modeName(d.To), modeName(d.From))
	case "mode_fallback":
		return kindMode, fmt.Sprintf("cannot be in mode %s: %s", modeName(d.From), reasonText(d))
	case "control_held", "control_lost":
		return kindMode, controlText(e, d)
	case "control_free":
		return kindMode, orElse(d.FromBy, d.From) + " has released control"
	case "link_lost":
		return kindLink, "is on its own: no operator can reach it"
	case "link_restored":
		return kindLink, "can be reached by operators again"
	}
	return n.other(e, d)
}

// quiet lists types of events that are told by other lines, or that do not concern who watches.
var quiet = []string{
	"life_next", "life_suggestion", // the focus follows, or does not
	"deadline_missed", "set_point_limited", "teleop_refused", // about the computer and the body
	"config_applied", "config_ignored", "mode_ignored", "story_ignored", "activities_ignored", "places_ignored",
}

// other tells what has no line of its own: briefly what succeeded in the fleet's name, and
// whatever is not as it should be.
func (n *narrator) other(e schema.Event, d eventFields) (kind, string) {
	what := strings.ReplaceAll(e.Type, "_", " ")
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
	return kindAlert, strings.TrimSuffix(what+": "+reasonText(d), ": ")
}

func (n *narrator) world(e schema.Event, d eventFields) (kind, string) {
	n.setClock(e)
	switch {
	case d.Note != "":
		n.note = d.Note
		return kindWorld, d.Note
	case d.At != "": // an entry of a scenario about which its author says nothing
		return "", ""
	}
	return kindWorld, fmt.Sprintf("%s %s is played into the simulated body", d.Name, d.Fields)
}

// performance tells what the story and the handlers perform.
func (n *narrator) performance(e schema.Event, d eventFields) (kind, string) {
	switch e.Type {
	case "auto_changed":
		return n.auto(e, d)
	case "act_started":
		return n.started(d)
	case "act_ended":
		if d.Outcome == "cancelled" && d.Lane != "safety" && !strings.HasPrefix(d.Lane, "handler-") {
			return laneKind(d.Lane), fmt.Sprintf("breaks off %s: %s", n.named(d.Act), reasonText(d))
		}
	case "act_failed":
		return kindAlert, fmt.Sprintf("cannot perform %s: %s", n.named(d.ID), reasonText(d))
	case "act_warning":
		return kindAlert, fmt.Sprintf("performs %s only in part: %s", n.named(d.ID), reasonText(d))
	case "story_round":
		text := fmt.Sprintf("has performed %s, round %d", d.Story, d.Round)
		if d.Failed > 0 {
			text += fmt.Sprintf("; %d of %d acts failed", d.Failed, d.Failed+d.Performed)
		}
		return kindStory, text
	case "screen_choice":
		return kindReact, fmt.Sprintf("somebody chooses %q on its screen", d.Choice)
	}
	return "", ""
}

func (n *narrator) auto(e schema.Event, d eventFields) (kind, string) {
	after := ""
	if h := n.handler; h != nil {
		n.handler, after = nil, h.done()+"; "
	}
	switch schema.AutoStatus(d.To) {
	case schema.AutoPaused:
		if e.TS.Sub(n.paused) < together { // the line before says why
			return "", ""
		}
		return kindStory, "pauses its story"
	case schema.AutoIdle:
		if d.From != string(schema.AutoPaused) {
			n.current = ""
			return kindStory, strings.TrimSpace("begins its story " + n.story)
		}
		if n.current == "" {
			return kindStory, after + "goes on with its story"
		}
		return kindStory, after + "goes on with " + n.named(n.current)
	case schema.AutoStopped:
		return kindStory, after + "its story is stopped: " + reasonText(d)
	case schema.AutoHalt:
		return kindStory, after + "ends its story"
	}
	return "", ""
}

func (n *narrator) started(d eventFields) (kind, string) {
	name := n.named(d.Act)
	switch {
	case d.Lane == "safety":
		if strings.HasSuffix(d.Act, "-to-rest") { // the robot's own
			return "", ""
		}
		return kindSafety, "performs its shutdown act " + name
	case strings.TrimPrefix(d.Lane, "handler-") == d.Act: // the handler's own
		return "", ""
	}
	if d.Lane == "story" {
		n.current = d.Act
	}
	if says := n.act(n.story, d.Act).says; says != "" {
		name += ", and says: " + says
	}
	return laneKind(d.Lane), "performs " + name
}

// laneKind returns the kind of what is performed on a lane.
func laneKind(lane string) kind {
	switch {
	case lane == "activity":
		return kindLife
	case strings.HasPrefix(lane, "handler-"):
		return kindReact
	case strings.HasPrefix(lane, "manual"):
		return kindMode
	}
	return kindStory
}

// named is an act as people know it.
func (n *narrator) named(act string) string { return `"` + n.act(n.story, act).name + `"` }

// why says what makes an interrupter ask.
var why = map[string]string{
	"touch": "somebody touches it", "screen": "somebody presses its screen", "ai": "somebody speaks to it",
	"power": "its battery is low", "operator": "an operator asks for it",
}

// reactions say what the handlers of every robot do: now, and afterwards.
var reactions = map[string][2]string{
	"attend": {"attends", "has attended"}, "power": {"goes to its charger", "is charged"},
	"service": {"offers help on its screen", "has offered help"}, "request": {"does what it is asked for", "has done it"},
}

func (n *narrator) interrupt(e schema.Event, d eventFields) (kind, string) {
	switch e.Type {
	case "interrupt_started":
		n.paused = e.TS
		does := "handles it with " + e.Cause
		if r, known := reactions[e.Cause]; known {
			does = r[0]
		}
		return kindReact, orElse(why[e.Source], e.Source+" asks for it") + ": it " + does
	case "interrupt_finished":
		if d.Outcome == "finished" {
			n.handler = &interrupted{d.Handler, time.Duration(d.MS) * time.Millisecond, e.TS}
			return "", ""
		}
		return kindReact, strings.TrimSuffix(fmt.Sprintf("%s has ended: %s, %s", d.Handler, strings.ReplaceAll(d.Outcome, "_", " "), reasonText(eventFields{Reason: e.Cause, Detail: d.Detail})), ", ")
	}
	switch schema.Reason(d.Reason) {
	case schema.ReasonIgnoredDuplicate, schema.ReasonIgnoredCondition: // nothing is lost
		return "", ""
	}
	return kindReact, fmt.Sprintf("%s, but it does not react: %s", orElse(why[d.Handler], d.Handler+" is asked for"), reasonText(d))
}

func (h *interrupted) done() string {
	text := h.handler + " is done"
	if r, known := reactions[h.handler]; known {
		text = r[1]
	}
	return text
}

func (n *narrator) life(e schema.Event, d eventFields) (kind, string) {
	switch e.Type {
	case "life_focused":
		n.paused = e.TS
		if d.Activity == "" {
			return "", ""
		}
		by := ""
		if e.Cause != "" && e.Cause != "launchpad" {
			by = ", asked by " + e.Cause
		}
		return kindLife, fmt.Sprintf("turns to %s (%s)%s", d.Activity, d.Nature, by)
	case "life_completed":
		if d.Outcome == "finished" {
			return "", ""
		}
		return kindLife, strings.TrimSuffix(fmt.Sprintf("%s was %s: %s", d.Activity, d.Outcome, reasonText(d)), ": ")
	}
	switch schema.LifeState(d.To) {
	case schema.LifeSolitary:
		if d.From == d.To {
			return "", ""
		}
		return kindLife, "is by itself: life is solitary"
	case schema.LifeInteractive:
		return "", "" // the focus says what it does
	case schema.LifeSafeguard:
		return kindLife, "protects itself: life is in safeguard" + because(d)
	}
	return kindLife, "life is " + d.To + because(d)
}

func because(d eventFields) string {
	if d.Reason == "" {
		return ""
	}
	return ", " + reasonText(d)
}

func (n *narrator) safety(e schema.Event, d eventFields) (kind, string) {
	switch e.Type {
	case "stop_latched", "stop_altered":
		return kindSafety, strings.TrimSuffix(fmt.Sprintf("is held by the stop %s of %s until that is released: %s", d.ID, orElse(d.By, "somebody"), d.Why), ": ")
	case "stop_released":
		return kindSafety, fmt.Sprintf("the stop %s is released by %s", d.ID, orElse(d.By, "somebody"))
	}
	n.paused = e.TS
	switch schema.SafetyState(d.To) {
	case schema.SafetyEnabled:
		n.resting = ""
		return kindSafety, "may move: " + n.causeText(e.Cause)
	case schema.SafetyReset:
		return "", ""
	case schema.SafetyDisabled:
		n.resting = ""
		return kindSafety, "stands, and may not move until somebody enables it"
	case schema.SafetySoftStop:
		n.resting = e.Cause
		return kindSafety, "comes to rest: " + n.causeText(e.Cause)
	}
	if n.resting == e.Cause && d.To == string(schema.SafetyStop) { // the second step of the same stop
		return "", ""
	}
	n.resting = e.Cause
	return kindSafety, fmt.Sprintf("stops (%s): %s", d.To, n.causeText(e.Cause))
}

// causeText says in words what caused a safety state. What the scenario has just said about
// it is not repeated.
func (n *narrator) causeText(cause string) string {
	if by, ok := strings.CutPrefix(cause, "operator by "); ok {
		if who, reason, _ := strings.Cut(by, ": "); reason == n.note {
			return "told by " + who
		}
		return "told by " + by
	}
	if rest, ok := strings.CutPrefix(cause, "unit "); ok { // unit battery: it is hot; let it cool
		unit, what, _ := strings.Cut(rest, ": it ")
		what, _, _ = strings.Cut(what, ";")
		return strings.TrimSpace("its " + unit + " " + what)
	}
	return cause
}

func (n *narrator) alert(e schema.Event, d eventFields) (kind, string) {
	switch e.Type {
	case "diagnosis_changed":
		if d.Effect == "none" {
			return kindAlert, fmt.Sprintf("its %s is as it should be again", e.Source)
		}
		return "", "" // an alert says the same
	case "alert_raised":
		switch e.Cause {
		case "safeguard":
			n.paused = e.TS
			return kindSafety, "nothing moves: " + d.Detail
		case "device_critical", "device_disabled": // with the reason in the line before
			if n.resting != "" {
				return "", ""
			}
		}
		return kindAlert, d.Detail
	}
	if e.Cause == "safeguard" {
		n.paused = e.TS
		return kindSafety, "is left alone for 3 s: it may move again"
	}
	return "", ""
}

func modeName(id string) string {
	if name := modeNames[schema.ModeID(id)]; name != "" {
		return fmt.Sprintf("%s (%s)", id, name)
	}
	return id
}

func controlText(e schema.Event, d eventFields) string {
	if who := orElse(d.ToBy, d.To); who != "" {
		return who + " has control"
	}
	return orElse(d.FromBy, d.From) + " has lost control"
}

// reasonText says why, in words.
func reasonText(d eventFields) string {
	text := ""
	if d.Reason != "" {
		text = schema.Reason(d.Reason).Describe().Text
		if text == "" {
			text = strings.ReplaceAll(d.Reason, "_", " ")
		}
	}
	switch {
	case d.Detail == "":
		return text
	case text == "" || strings.Contains(d.Detail, text):
		return d.Detail
	}
	return text + ": " + d.Detail
}
