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

	note    string      // what happened last in the scenario
	current string      // act of the story that is performed or paused
	paused  schema.Time // when an event was printed that pauses the story
	left    string      // activity that was stopped for another one
	resting string      // why it came to rest
	warned  string      // act of which was printed that it is performed in part
	asked   schema.Time // when an intent was printed
	held    *heldLine
}

// heldLine is a line that the next event of the same step may make superfluous or complete.
type heldLine struct {
	event  *schema.Event
	looked time.Time // when it was first found without a next event
	done   string    // what has ended, which is printed in any case
	goesOn string    // what follows, unless something else does at once
	focus  string    // activity that has the focus: its first act completes the line
}

// happening returns the line. completed says that nothing else followed at once.
func (h *heldLine) happening(completed bool) (happening, bool) {
	switch {
	case h.focus != "":
		return happening{kindLife, h.focus}, true
	case completed && h.goesOn != "" && h.done != "":
		return happening{kindStory, h.done + "; " + h.goesOn}, true
	case completed && h.goesOn != "":
		return happening{kindStory, h.goesOn}, true
	}
	return happening{kindReact, h.done}, h.done != ""
}

// flush returns the line that is held, when its step is over. now is this computer's time,
// which may differ from the robot's.
func (n *narrator) flush(now time.Time) []narrated {
	h := n.held
	if h != nil && h.looked.IsZero() {
		h.looked = now
	}
	if h == nil || now.Sub(h.looked) < together {
		return nil
	}
	n.held = nil
	line, ok := h.happening(true)
	if !ok {
		return nil
	}
	return []narrated{{h.event, n.at(h.event.TS), line}}
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

// eventData has the fields of the data of all types of events that are printed.
type eventFields struct {
	From, To, Reason, Detail, ID, By, Why   string
	Act, Entry, Lane, Outcome, Story        string
	Handler, Activity, Nature               string
	Name, At, Note, Command, Effect, Choice string
	MS, Round, Performed, Failed, LateMS    int64
	Speed, TemperatureC                     float64
	Count                                   int64
	FromBy, ToBy                            string
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

// narrated is a line, its time and its event.
type narrated struct {
	event *schema.Event
	at    moment
	happening
}

// tell returns the lines that an event makes, with those that were held for it.
func (n *narrator) narrate(e schema.Event) (lines []narrated) {
	d := dataOf(e)
	if h := n.held; h != nil && !n.completes(h, e, d) {
		n.held = nil
		if line, ok := h.happening(e.TS.Sub(h.event.TS) >= together || !holdsStory(e, d)); ok {
			lines = append(lines, narrated{h.event, n.at(h.event.TS), line})
		}
	}
	if kind, text := n.line(e, d); text != "" {
		text = strings.TrimSuffix(strings.TrimSpace(text), ":") // a reason may be missing
		lines = append(lines, narrated{&e, n.at(e.TS), happening{kind, text}})
	}
	return lines
}

// completes reports whether an event continues the line that is held.
func (n *narrator) completes(h *heldLine, e schema.Event, d eventFields) bool {
	if e.TS.Sub(h.event.TS) >= together {
		return false
	}
	switch e.Type {
	case "auto_changed":
		return h.focus == "" || schema.AutoStatus(d.To) == schema.AutoPaused || schema.AutoStatus(d.To) == schema.AutoIdle
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
	return e.Type == "life_focused" && d.Activity != "" || e.Type == "interrupt_started" || e.Type == "alert_raised" && e.Cause == "safeguard" ||
		e.Type == "safety_changed" && d.To != string(schema.SafetyEnabled)
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

// quiet lists types of events that other lines report, or that do not concern a person who watches.
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
	return kindAlert, what + ": " + reasonText(d)
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
	in, problems := schema.DecodeSimInput(d.Name, d.Fields)
	if len(problems) > 0 {
		return "", ""
	}
	return kindWorld, worldText(d, in)
}

// worldText says what an input of the simulated body means.
func worldText(d eventFields, in schema.SimInput) string {
	switch in := in.(type) {
	case schema.SimPeople:
		switch in.Count {
		case 0:
			return "nobody is near any more"
		case 1:
			return "one person is near"
		}
		return fmt.Sprintf("%d people are near", in.Count)
	case schema.SimTouch:
		return begins(in.On, "somebody touches its "+in.Area, "nobody touches its "+in.Area+" any more")
	case schema.SimSound:
		return begins(in.On, "somebody speaks", "it is silent again")
	case schema.SimPush:
		return begins(in.On, "somebody pushes it", "nobody pushes it any more")
	case schema.SimLift:
		return begins(in.On, "somebody lifts it", "it is set down")
	case schema.SimFall:
		return begins(in.On, "it falls", "it is upright again")
	case schema.SimBattery:
		return fmt.Sprintf("its battery is at %.0f %% now", 100*in.Level)
	case schema.SimHeat:
		return fmt.Sprintf("its %s has %g °C now", in.Unit, in.Celsius)
	case schema.SimIntent:
		return "somebody says: " + orElse(in.Text, in.Name)
	}
	return fmt.Sprintf("its simulated body gets %s %s", d.Name, d.Fields)
}

func begins(on bool, begin, end string) string {
	if on {
		return begin
	}
	return end
}

// performance tells what the story and the handlers perform.
func (n *narrator) performance(e schema.Event, d eventFields) (kind, string) {
	switch e.Type {
	case "auto_changed":
		return n.auto(e, d)
	case "act_started":
		return n.started(d)
	case "act_ended":
		if d.Outcome == "cancelled" && (d.Lane == "story" || strings.HasPrefix(d.Lane, "manual")) && e.TS.Sub(n.paused) >= together {
			return laneKind(d.Lane), fmt.Sprintf("breaks off %s: %s", n.named(d.Act), reasonText(d))
		}
	case "act_failed":
		return kindAlert, fmt.Sprintf("cannot perform %s: %s", n.named(d.ID), reasonText(d))
	case "act_warning":
		if n.warned == d.ID || d.Reason == "" { // what was interrupted and is not resumed was printed
			return "", ""
		}
		n.warned = d.ID
		return kindStory, fmt.Sprintf("performs %s only in part: %s", n.named(d.ID), reasonText(d))
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
	switch schema.AutoStatus(d.To) {
	case schema.AutoPaused:
		if e.TS.Sub(n.paused) < together { // the line before says why
			return "", ""
		}
		return kindStory, "pauses its story"
	case schema.AutoIdle:
		if d.From != string(schema.AutoPaused) {
			n.current = ""
			return kindStory, "begins its story " + n.story
		}
		if n.held != nil && n.held.focus != "" { // for a moment only: the activity follows
			return "", ""
		}
		goesOn := "goes on with its story"
		if n.current != "" {
			goesOn = "goes on with " + n.named(n.current)
		}
		if n.held == nil {
			n.held = &heldLine{event: &e}
		}
		n.held.goesOn = goesOn
		return "", ""
	case schema.AutoStopped:
		if d.Reason == "" {
			return kindStory, "its story is over"
		}
		return kindStory, "its story is stopped: " + reasonText(d)
	case schema.AutoHalt: // the change of the mode follows
		n.paused = e.TS
	}
	return "", ""
}

func (n *narrator) started(d eventFields) (kind, string) {
	name := n.named(d.Act)
	if n.warned == d.Act {
		n.warned = ""
	}
	if says := n.act(n.story, d.Act).says; says != "" {
		name += ", and says: " + says
	}
	switch {
	case d.Lane == "activity" && n.held != nil && n.held.focus != "":
		turns := n.held.focus
		n.held = nil
		return kindLife, turns + ": performs " + name
	case d.Lane == "safety":
		if strings.HasSuffix(d.Act, "-to-rest") { // the robot's own
			return "", ""
		}
		return kindSafety, "performs its shutdown act " + name
	case d.Act == "inline" && laneKind(d.Lane) == kindMode:
		return kindMode, "does what it is asked for"
	case strings.TrimPrefix(d.Lane, "handler-") == d.Act, d.Act == "inline": // the line before says what it is for
		return "", ""
	}
	if d.Lane == "story" {
		n.current = d.Act
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
		switch {
		case e.TS.Sub(n.asked) < together: // the intent says what it does
			return "", ""
		case e.Cause == "request":
			return kindReact, does
		}
		return kindReact, orElse(why[e.Source], e.Source+" asks for it") + ": it " + does
	case "interrupt_finished":
		if d.Outcome == "finished" {
			n.held = &heldLine{event: &e, done: doneText(d.Handler)}
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

func doneText(handler string) string {
	if r, known := reactions[handler]; known {
		return r[1]
	}
	return handler + " is done"
}

func (n *narrator) intent(e schema.Event, d eventFields) (kind, string) {
	does := ", and does nothing about it"
	switch r := d.Reaction; {
	case r == nil:
		if d.Reason != "" {
			does += ": " + reasonText(d)
		}
	case e.Type == "intent_refused":
		does = ", and cannot do it: " + reasonText(d)
	case r.Act != "":
		does = ": it performs " + n.named(r.Act)
	case r.Activity != "":
		does = ": it turns to " + r.Activity
	case r.Mode != "":
		does = ": it goes to mode " + modeName(string(r.Mode))
	case reactions[r.Interrupt][0] != "":
		does = ": it " + reactions[r.Interrupt][0]
	default:
		does = ": it handles it with " + r.Interrupt
	}
	n.asked = e.TS
	return kindReact, "understands " + orElse(d.Name, e.Cause) + does
}

func (n *narrator) life(e schema.Event, d eventFields) (kind, string) {
	switch e.Type {
	case "life_focused":
		if d.Activity == "" {
			return "", ""
		}
		n.paused = e.TS
		turns := "turns to"
		switch {
		case e.Cause == "stack":
			turns = "comes back to"
		case n.left != "":
			turns = "leaves " + n.left + " and turns to"
		}
		n.left = ""
		by := ""
		if e.Cause != "" && e.Cause != "stack" && e.Cause != "launchpad" {
			by = ", asked by " + e.Cause
		}
		n.held = &heldLine{event: &e, focus: fmt.Sprintf("%s %s (%s%s)", turns, d.Activity, d.Nature, by)}
		return "", ""
	case "life_completed":
		switch {
		case d.Outcome == "finished":
			return "", ""
		case d.Reason == string(schema.ReasonSuperseded): // another activity follows
			n.left = d.Activity
			return "", ""
		case e.TS.Sub(n.paused) < together: // the line before says why
			return "", ""
		}
		return kindLife, fmt.Sprintf("%s was %s: %s", d.Activity, d.Outcome, reasonText(d))
	}
	if e.TS.Sub(n.paused) < together { // the line before says why
		return "", ""
	}
	switch schema.LifeState(d.To) {
	case schema.LifeSolitary:
		if d.From == string(schema.LifeInteractive) { // the activity has ended
			return "", ""
		}
		return kindLife, "is solitary: it may do small things by itself"
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
		return kindSafety, fmt.Sprintf("is held by the stop %s of %s until that is released: %s", d.ID, orElse(d.By, "somebody"), d.Why)
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
			return "asked by " + who
		}
		return "asked by " + by
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
	d.Detail = strings.TrimPrefix(d.Detail, ": ") // a detail without a place
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
