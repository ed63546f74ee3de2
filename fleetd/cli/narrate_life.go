package cli

import (
	"fmt"
	"strings"

	"troupe/schema"
)

func (n *narrator) life(e schema.Event, d eventFields) (kind, string) {
	switch e.Type {
	case "life_focused":
		if d.Activity == "" {
			return "", ""
		}
		n.explainedAt = e.TS
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
		n.pending = &pendingLine{event: &e, focus: fmt.Sprintf("%s %s (%s%s)", turns, d.Activity, d.Nature, by)}
		return "", ""
	case "life_completed":
		switch {
		case d.Outcome == "finished":
			return "", ""
		case d.Reason == string(schema.ReasonSuperseded): // another activity follows
			n.left = d.Activity
			return "", ""
		case e.TS.Sub(n.explainedAt) < together: // the line before says why
			return "", ""
		}
		return kindLife, fmt.Sprintf("%s was %s: %s", d.Activity, d.Outcome, reasonText(d))
	}
	if e.TS.Sub(n.explainedAt) < together { // the line before says why
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
		return kindSafety, fmt.Sprintf("is stopped by the latched stop %s of %s until that is released: %s", d.ID,
			orElse(d.By, "somebody"), d.Why)
	case "stop_released":
		return kindSafety, strings.TrimSuffix(fmt.Sprintf("the stop %s of %s is released by %s", d.ID, orElse(d.By, "somebody"), d.ReleasedBy),
			" by ")
	}
	n.explainedAt = e.TS
	switch schema.SafetyState(d.To) {
	case schema.SafetyEnabled:
		n.restCause = ""
		return kindSafety, "may move: " + n.causeText(e.Cause)
	case schema.SafetyReset:
		return "", ""
	case schema.SafetyDisabled:
		n.restCause = ""
		return kindSafety, "stands, and may not move until somebody enables it"
	case schema.SafetySoftStop:
		n.restCause = e.Cause
		return kindSafety, "comes to rest: " + n.causeText(e.Cause)
	}
	if n.restCause == e.Cause && d.To == string(schema.SafetyStop) { // the second step of the same stop
		return "", ""
	}
	n.restCause = e.Cause
	text := fmt.Sprintf("stops (%s): %s", d.To, n.causeText(e.Cause))
	if strings.HasPrefix(e.Cause, "mode ") && d.Reason != string(schema.ReasonStopped) { // it failed, and nobody stopped it
		text += ": " + reasonText(eventFields{Reason: d.Reason})
	}
	return kindSafety, text
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
			n.explainedAt = e.TS
			return kindSafety, "nothing moves: " + d.Detail
		case "device_critical", "device_disabled": // with the reason in the line before
			if n.restCause != "" {
				return "", ""
			}
		}
		return kindAlert, d.Detail
	}
	if e.Cause == "safeguard" {
		n.explainedAt = e.TS
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

func controlText(d eventFields) string {
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
