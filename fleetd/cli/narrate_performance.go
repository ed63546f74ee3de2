package cli

import (
	"fmt"
	"strings"

	"troupe/schema"
)

// performance tells what the story and the handlers perform.
func (n *narrator) performance(e schema.Event, d eventFields) (kind, string) {
	switch e.Type {
	case "auto_changed":
		return n.auto(e, d)
	case "act_started":
		return n.started(d)
	case "act_ended":
		if d.Outcome == "cancelled" && d.Reason != string(schema.ReasonSkipped) && (d.Lane == "story" || strings.HasPrefix(d.Lane, "manual")) &&
			e.TS.Sub(n.explainedAt) >= together {
			return laneKind(d.Lane), fmt.Sprintf("breaks off %s: %s", n.named(d.Act), reasonText(d))
		}
	case "act_skipped":
		text := fmt.Sprintf("%s skips %s", e.Cause, n.named(d.Act))
		if d.Why != "" {
			text += ": " + d.Why
		}
		return kindStory, text
	case "act_failed":
		return kindAlert, fmt.Sprintf("cannot perform %s: %s", n.named(d.ID), reasonText(d))
	case "act_warning":
		if n.warned == d.ID || d.Reason == "" { // what was interrupted and is not resumed was printed
			return "", ""
		}
		n.warned = d.ID
		return kindStory, fmt.Sprintf("performs %s only in part: %s", n.named(d.ID), reasonText(d))
	case "story_round":
		if d.Failed > 0 && d.Performed == 0 {
			return kindAlert, fmt.Sprintf("has failed in %s, round %d: no act could be performed", d.Story, d.Round)
		}
		text := fmt.Sprintf("has performed %s, round %d", d.Story, d.Round)
		if d.Failed > 0 {
			text += fmt.Sprintf("; %d of %d acts failed", d.Failed, d.Failed+d.Performed+d.Skipped)
		}
		if d.Skipped > 0 {
			text += fmt.Sprintf("; %d skipped", d.Skipped)
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
		if e.TS.Sub(n.explainedAt) < together { // the line before says why
			return "", ""
		}
		return kindStory, "pauses its story"
	case schema.AutoPerforming:
		if d.From != string(schema.AutoPaused) {
			n.current = ""
			return kindStory, "begins its story " + n.story
		}
		if n.pending != nil && n.pending.focus != "" { // for a moment only: the activity follows
			return "", ""
		}
		goesOn := "goes on with its story"
		if n.current != "" {
			goesOn = "goes on with " + n.named(n.current)
		}
		if n.pending == nil {
			n.pending = &pendingLine{event: &e}
		}
		n.pending.goesOn = goesOn
		return "", ""
	case schema.AutoStopped:
		if d.Reason == "" {
			return kindStory, "its story is over"
		}
		return kindStory, "its story is stopped: " + reasonText(d)
	case schema.AutoNotActive: // the change of the mode follows
		n.explainedAt = e.TS
	}
	return "", ""
}

func (n *narrator) started(d eventFields) (kind, string) {
	does := "performs " + n.named(d.Act)
	if n.warned == d.Act {
		n.warned = ""
	}
	says := ""
	switch d.Lane { // on others it may get other parameters
	case "story":
		says = n.act(n.story, d.Act).says
	case "activity":
		says = n.act("", d.Act).says
	}
	if says != "" {
		does = "begins " + n.named(d.Act) + ", to say: " + says // whether it was said shows when the act ends
	}
	switch {
	case d.Lane == "activity" && n.pending != nil && n.pending.focus != "":
		turns := n.pending.focus
		n.pending = nil
		return kindLife, turns + ": " + does
	case d.Lane == "safety":
		if strings.HasSuffix(d.Act, "-to-rest") { // the robot's own
			return "", ""
		}
		return kindSafety, strings.Replace(does, n.named(d.Act), "its shutdown act "+n.named(d.Act), 1)
	case d.Act == "inline" && laneKind(d.Lane) == kindMode:
		return kindMode, "does what it is asked for"
	case strings.TrimPrefix(d.Lane, "handler-") == d.Act, d.Act == "inline": // the line before says what it is for
		return "", ""
	}
	if d.Lane == "story" {
		n.current = d.Act
	}
	return laneKind(d.Lane), does
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
		n.explainedAt = e.TS
		does := "handles it with " + e.Cause
		if r, known := reactions[e.Cause]; known {
			does = r[0]
		}
		switch {
		case e.TS.Sub(n.intentAt) < together: // the intent says what it does
			return "", ""
		case e.Cause == "request":
			return kindReact, does
		}
		return kindReact, orElse(why[e.Source], e.Source+" asks for it") + ": it " + does
	case "interrupt_finished":
		if d.Outcome == "finished" {
			n.pending = &pendingLine{event: &e, done: doneText(d.Handler)}
			return "", ""
		}
		return kindReact, strings.TrimSuffix(fmt.Sprintf("%s has ended: %s, %s", d.Handler, strings.ReplaceAll(d.Outcome, "_", " "),
			reasonText(eventFields{Reason: e.Cause, Detail: d.Detail})), ", ")
	}
	switch schema.Reason(d.Reason) {
	case schema.ReasonAlreadyRunning, schema.ReasonHandlerCondition: // nothing is lost
		return "", ""
	}
	return kindReact, fmt.Sprintf("%s, but it does not react: %s", orElse(why[e.Source], d.Handler+" is asked for"), reasonText(d))
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
	n.intentAt = e.TS
	return kindReact, "understands " + orElse(d.Name, e.Cause) + does
}
