package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/view"
	"troupe/schema"
)

func (sh *shell) lifeCommand() *cobra.Command {
	get := &cobra.Command{
		Use: "get ROBOT", Short: "show the life of one robot: activities and why they do not start, abilities, history", Args: exactlyOne,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var d view.Detail
			if err := sh.do(cmd.Context(), "get-robot", given{"id": args[0]}, &d); err != nil {
				return err
			}
			if d.State == nil || d.State.Life == nil {
				return fmt.Errorf("fleetd knows nothing of the life of %s: it has published no state, or its release is too old", args[0])
			}
			return sh.show(d.State.Life, func(w io.Writer) { lifeTable(w, d.State.TS, d.State.Life) })
		}),
	}
	c := group("life", "autonomous life in mode ato: get; set, focus, stop-focus, stop-all; launchpad, plugin, safeguard; explain",
		append([]*cobra.Command{get}, sh.verbsOf("life")...)...)
	c.Long = `The life of a robot in mode ato. Activities get the focus by their conditions (the launchpad)
or on request, and the story waits meanwhile. An interactive activity interrupts a solitary
one, never the other way round.`
	c.Example = "  fleetd life get r1\n  fleetd life focus r1 --activity greet --wait\n" +
		"  fleetd life set r1 --state disabled --why 'only the story today' --wait\n" +
		"  fleetd life safeguard r1 --name pushed --enabled=false --wait\n" +
		"  fleetd life explain r1 --condition 'people > 0 && battery > 0.3' --wait"
	return c
}

// lifeText formats the state of life with what has the focus.
func lifeText(l *schema.StateLife) string {
	s := string(l.State)
	if l.Reason != "" {
		s += " (" + strings.ReplaceAll(string(l.Reason), "_", " ") + ")"
	}
	if l.Focused != "" {
		s += ": " + l.Focused
	}
	if len(l.Stack) > 0 {
		s += ", then again " + strings.Join(l.Stack, ", ")
	}
	if l.Next != "" {
		s += ", next " + l.Next
	}
	return s
}

// waitingTexts says for each activity that does not start why it does not; after a stop, which
// keeps all of them, it says only that.
func waitingTexts(l *schema.StateLife) (parts []string) {
	switch l.Reason {
	case schema.ReasonLatched, schema.ReasonNeedsReset, schema.ReasonStopped, schema.ReasonNeedsContinue, schema.ReasonNeedsStart:
		if len(l.Conditions) > 0 {
			return []string{"no activity starts: " + strings.ReplaceAll(string(l.Reason), "_", " ")}
		}
	}
	for _, c := range l.Conditions {
		switch {
		case c.Activity == l.Focused:
		case c.Why != "":
			parts = append(parts, c.Activity+": "+c.Why)
		case c.True:
			parts = append(parts, c.Activity+" may start")
		}
	}
	return parts
}

// lifeTable shows everything of a life, as it was at now.
func lifeTable(out io.Writer, now schema.Time, l *schema.StateLife) {
	w := newFacts(out)
	onOff := func(on bool) string {
		if on {
			return "on"
		}
		return "off"
	}
	writeRow(w, "life", lifeText(l)+", for "+ago(now, l.Since))
	writeRow(w, "launchpad", onOff(l.Launchpad.On))
	if len(l.Suggestions) > 0 {
		writeRow(w, "suggests", strings.Join(l.Suggestions, ", "))
	}
	for _, c := range l.Conditions {
		why := c.Why
		if why == "" {
			why = map[bool]string{true: "its condition is true", false: "its condition is not true"}[c.True]
		}
		writeRow(w, "activity", c.Activity+": "+why)
	}
	for _, a := range l.Abilities {
		text := onOff(a.Enabled)
		if a.Enabled && !a.Running {
			text = "on, waits: its unit is in use or must not move"
		}
		writeRow(w, "ability", string(a.Name)+": "+text)
	}
	for _, p := range l.Plugins {
		use := "conditions do not know its values"
		if p.Enabled {
			use = "conditions can use its values"
		}
		writeRow(w, "plugin", string(p.Name)+" ("+string(p.Group)+"): "+onOff(p.Enabled)+"; "+use)
	}
	for _, s := range l.Safeguards {
		text := map[bool]string{true: "life reacts to it", false: "life does not react to it"}[s.Enabled]
		writeRow(w, "safeguard", string(s.Name)+": "+text)
	}
	for _, s := range l.Statistics {
		writeRow(w, "statistics", fmt.Sprintf("%s: starts %d, %v in all, last %s ago", s.Activity, s.Starts,
			(time.Duration(s.TotalMS)*time.Millisecond).Round(time.Second), ago(now, s.LastStart)))
	}
	for _, f := range l.Focuses {
		writeRow(w, "focus", f.Since.String()+" "+orElse(f.Activity, "none"))
	}
	for _, s := range l.States {
		writeRow(w, "state", s.Since.String()+" "+string(s.State))
	}
	_ = w.Flush() // a write error shows at the next write
}

// ago is the time since then, both by the robot's clock.
func ago(now, then schema.Time) string { return max(0, now.Sub(then)).Round(time.Second).String() }
