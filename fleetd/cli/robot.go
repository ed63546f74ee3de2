package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/schema"
)

type robotList struct {
	TS       schema.Time `json:"ts"`
	Robots   []api.Robot `json:"robots"`
	Disputed string      `json:"disputed,omitempty"`
}

func (sh *shell) robotCommand() *cobra.Command {
	var listed, watched targets
	list := &cobra.Command{
		Use: "list [ROBOT...]", Short: "list robots, all if none are named",
		Example: "  fleetd robot list\n  fleetd robot list -l site=museum -o json",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			query, err := listed.query(args)
			if err != nil {
				return err
			}
			var got robotList
			if err := sh.call(cmd.Context(), ask{method: http.MethodGet, path: "robots", query: query}, &got); err != nil {
				return err
			}
			if got.Disputed != "" {
				fmt.Fprintln(sh.Err, "fleetd: warning: "+disputeText(got.Disputed))
			}
			return sh.show(got, func(w io.Writer) { robotTable(w, got) })
		}),
	}
	listed.flags(list)
	get := &cobra.Command{
		Use: "get ROBOT", Short: "say everything about one robot", Args: exactlyOne,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			var d api.Detail
			if err := sh.call(cmd.Context(), ask{method: http.MethodGet, path: "robots/" + url.PathEscape(args[0])}, &d); err != nil {
				return err
			}
			return sh.show(d, func(w io.Writer) { robotDetail(w, d) })
		}),
	}
	watch := &cobra.Command{
		Use: "watch [ROBOT...]", Short: "print a line for every change, until interrupted",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			query, err := watched.query(args)
			if err != nil {
				return err
			}
			return sh.watch(cmd.Context(), query)
		}),
	}
	watched.flags(watch)
	label := &cobra.Command{
		Use: "label ROBOT KEY=VALUE... KEY-...", Short: "set labels; KEY- takes one away", Args: cobra.MinimumNArgs(2),
		Example: "  fleetd robot label r1 site=museum floor=2\n  fleetd robot label r1 floor-",
		RunE:    run(func(cmd *cobra.Command, args []string) error { return sh.label(cmd.Context(), args[0], args[1:]) }),
	}
	verbs := append([]*cobra.Command{list, get, watch, label}, sh.identityCommands()...)
	return group("robot", "robots: list, get, watch, label; enrol, identity, revoke; decommission, orphans",
		append(verbs, sh.decommissionCommand(), sh.orphansCommand())...)
}

func (sh *shell) label(ctx context.Context, robot string, changes []string) error {
	var d api.Detail
	path := "robots/" + url.PathEscape(robot)
	if err := sh.call(ctx, ask{method: http.MethodGet, path: path}, &d); err != nil {
		return err
	}
	labels := maps.Clone(d.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, c := range changes {
		key, value, set := strings.Cut(c, "=")
		gone, remove := strings.CutSuffix(c, "-")
		switch {
		case set:
			labels[key] = value
		case remove:
			delete(labels, gone)
		default:
			return usage("%q is no label: write key=value, or key- to take one away", c)
		}
	}
	var r api.Robot
	body := map[string]any{"labels": labels, "by": sh.by}
	if err := sh.call(ctx, ask{method: http.MethodPut, path: path + "/labels", body: body}, &r); err != nil {
		return err
	}
	return sh.show(r, func(w io.Writer) { fmt.Fprintln(w, r.ID, labelText(r.Labels)) })
}

func robotTable(out io.Writer, l robotList) {
	if len(l.Robots) == 0 {
		fmt.Fprintln(out, "no robots")
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ROBOT\tPRESENCE\tHEARD\tMODE\tSAFETY\tATO\tSTORY\tWISH\tALERTS\tLABELS")
	for _, r := range l.Robots {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.ID, viewText(r), ago(l.TS, r.Presence.Heard),
			dash(modeText(r)), dash(safetyText(r)), dash(autoText(r)), dash(storyText(r)), dash(wishText(r.Wish)), dash(alertText(r)), dash(labelText(r.Labels)))
	}
	_ = w.Flush() // a reader that went away is told by the next write
}

func robotDetail(out io.Writer, d api.Detail) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s\t%s\n", name, oneLine(value))
		}
	}
	line("robot", d.ID)
	line("labels", labelText(d.Labels))
	line("presence", d.Presence.View+": "+d.Presence.Why)
	if d.Presence.Heard != 0 {
		line("heard", d.Presence.Heard.String())
	}
	if ms := d.Presence.RoundTripMS; ms > 0 {
		line("round trip", fmt.Sprintf("%d ms", ms))
	}
	if !d.Adopted {
		line("adopted", "no: fleetd adopt "+d.ID)
	}
	line("mode", modeText(d.Robot))
	line("safety", strings.TrimSpace(string(d.Safety)+" "+d.LatchedBy+" "+string(d.Cause)))
	if d.StateOutdated {
		line("state", "out of date: the robot has told a newer one than that of "+d.StateAt.String()+"; mode and safety are as its heartbeat says")
	}
	line("ato", autoText(d.Robot))
	line("story", storyText(d.Robot))
	line("wish", wishText(d.Wish))
	if r := d.Reported; r != nil && gaveUp(d.Wish) {
		line("refused", refusalText(r))
	}
	if k := d.Control; k != nil {
		line("in hand of", strings.TrimPrefix(k.By+" at ", " at ")+k.Holder+", "+k.Scope)
	}
	for _, p := range d.PauseHolders {
		line("held by", strings.TrimSpace(p.Token+" "+p.By+" "+p.Why))
	}
	for _, i := range d.Interrupts {
		line("interrupt", i.Handler+" for "+i.Interrupter+", id "+i.ID)
	}
	if d.Modes != nil {
		for _, m := range d.Modes.Modes {
			if len(m.WhyNot) > 0 && m.ID != schema.ModeSafe { // nobody asks for safe
				line("closed", "cannot go to "+string(m.ID)+": "+orElse(m.WhyNot[0].Detail, m.WhyNot[0].Reason.Describe().Text))
			}
		}
	}
	for _, a := range d.Alerts {
		line("alert", string(a.Level)+": "+a.Type+" "+a.Source+": "+strings.TrimSuffix(a.Detail+"; "+a.Hint, "; "))
	}
	if d.Caps != nil {
		line("body", strings.TrimSpace(d.Caps.Robot.Model+" "+d.Caps.Robot.Serial))
		line("software", d.Caps.Software.Robotd)
		line("version skew", d.Skew)
		units := make([]string, len(d.Caps.Units))
		for i, u := range d.Caps.Units {
			units[i] = u.ID
		}
		line("units", strings.Join(units, " "))
	}
	if d.LastEvent != nil {
		line("last event", d.LastEvent.TS.String()+" "+d.LastEvent.Type)
	}
	_ = w.Flush() // a reader that went away is told by the next write
}

// watch prints a line for every change. It connects again when the desk is gone,
// and says so.
func (sh *shell) watch(ctx context.Context, query url.Values) error {
	shown := map[string]string{}
	for {
		err := sh.follow(ctx, query, func(event string, data []byte) error {
			if event != "robots" && event != "changes" {
				return nil
			}
			var got robotList
			if err := json.Unmarshal(data, &got); err != nil {
				return fmt.Errorf("read the desk's stream: %w", err)
			}
			for _, r := range got.Robots {
				if err := sh.watched(got.TS, r, shown); err != nil {
					return err
				}
			}
			return nil
		})
		var f *failure
		switch {
		case ctx.Err() != nil:
			return nil // interrupted, as one does
		case errors.As(err, &f):
			return err
		}
		fmt.Fprintln(sh.Err, "fleetd:", err, "- trying again")
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

func (sh *shell) watched(at schema.Time, r api.Robot, shown map[string]string) error {
	if sh.output == "json" {
		return json.NewEncoder(sh.Out).Encode(r)
	}
	words := []string{strings.ReplaceAll(viewText(r), " ", "_")}
	if r.Gone {
		words[0] = "gone"
	}
	for _, pair := range []struct{ name, value string }{
		{"mode", modeText(r)}, {"safety", safetyText(r)}, {"ato", autoText(r)}, {"story", storyText(r)}, {"wish", wishText(r.Wish)}, {"alerts", alertText(r)},
	} {
		if pair.value != "" {
			words = append(words, pair.name+"="+strings.ReplaceAll(pair.value, " ", "_"))
		}
	}
	text := strings.Join(words, " ")
	if shown[r.ID] == text {
		return nil
	}
	shown[r.ID] = text
	_, err := fmt.Fprintln(sh.Out, at.Time().Local().Format(time.TimeOnly), r.ID, text)
	return err
}

// viewText is how the robot is seen, whether that may be two robots, and whether it
// is the fleet's at all.
func viewText(r api.Robot) string {
	var marks []string
	if r.Presence.Disputed {
		marks = append(marks, "two robots")
	}
	if !r.Adopted && !r.Gone {
		marks = append(marks, "not adopted")
	}
	if len(marks) == 0 {
		return r.Presence.View
	}
	return r.Presence.View + " (" + strings.Join(marks, ", ") + ")"
}

// disputeText is what somebody has to do whose desk is not alone with its name.
func disputeText(why string) string {
	return oneLine(why) + ": while two desks share a name each is cut off again and again; stop one of them, or give it a name of its own"
}

// safetyText is where the safety core stands, and whether the rest of the line is
// older than that.
func safetyText(r api.Robot) string {
	if r.StateOutdated {
		return strings.TrimSpace(string(r.Safety) + " (state out of date)")
	}
	return string(r.Safety)
}

func modeText(r api.Robot) string {
	s := string(r.Mode)
	if r.Intended != "" && r.Intended != r.Mode {
		s += "->" + string(r.Intended)
	}
	return s
}

// refusalText is why the robot does not take the story that it is wished to have.
func refusalText(r *schema.ReportedStory) string {
	var parts []string
	if r.Reason != "" {
		parts = append(parts, r.Reason.Describe().Text)
	}
	if r.Detail != "" && !slices.Contains(parts, r.Detail) {
		parts = append(parts, r.Detail)
	}
	if r.Pointer != "" {
		parts = append(parts, "at "+r.Pointer)
	}
	return strings.Join(parts, ": ")
}

// autoText says what the performance is at, in the words of the page.
func autoText(r api.Robot) string {
	s := string(r.Auto)
	switch r.Auto {
	case schema.AutoIdle:
		s = "performing"
	case schema.AutoHalt:
		s = "off (not in ato)"
	}
	if n := len(r.PauseHolders); n > 0 {
		s += " by " + holdersText(r.PauseHolders)
	} else if r.AutoReason != "" && r.Auto != schema.AutoHalt {
		s += " (" + strings.ReplaceAll(string(r.AutoReason), "_", " ") + ")"
	}
	return s
}

// holdersText names who holds pauses, and of several how many.
func holdersText(pauses []schema.Pause) string {
	var names []string
	held := map[string]int{}
	for _, p := range pauses {
		name := holder(p)
		if held[name]++; held[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range names {
		if n := held[name]; n > 1 {
			names[i] = fmt.Sprintf("%s (%d)", name, n)
		}
	}
	return strings.Join(names, ", ")
}

// holder is the person that holds a pause, else the client, else the kind.
func holder(p schema.Pause) string {
	kind, key, _ := strings.Cut(p.Token, ":")
	client, _, _ := strings.Cut(key, "/")
	return orElse(p.By, orElse(client, kind))
}

func storyText(r api.Robot) string {
	if r.Story == nil {
		return ""
	}
	s := fmt.Sprintf("%s@%d", r.Story.ID, r.Story.Rev)
	if r.Act != "" {
		s += "/" + r.Act
	}
	return s
}

// wishText is empty when the robot has what it is wished to have.
func wishText(w api.Wish) string {
	if w.Converged {
		return ""
	}
	s := "none"
	if w.Story != nil {
		s = fmt.Sprintf("%s@%d", w.Story.ID, w.Story.Rev)
	}
	phase := string(w.Phase)
	if w.Progress != nil {
		phase += fmt.Sprintf(" %d%%", *w.Progress)
	}
	if w.ReportedRev != w.DesiredRev {
		phase = "not taken yet"
	}
	s += ": " + phase
	if w.Reason != "" {
		s += " (" + string(w.Reason) + ")"
	}
	return s
}

func alertText(r api.Robot) string {
	types := make([]string, len(r.Alerts))
	for i, a := range r.Alerts {
		types[i] = a.Type
	}
	if r.Skew != "" {
		types = append(types, "version_skew")
	}
	slices.Sort(types)
	return strings.Join(slices.Compact(types), ",")
}

func labelText(labels map[string]string) string {
	pairs := make([]string, 0, len(labels))
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, k+"="+labels[k])
	}
	return strings.Join(pairs, " ")
}

func dash(s string) string { return orElse(cell(s), "-") }

// ago is the age of an instant, by the desk's clock.
func ago(now, then schema.Time) string {
	switch d := now.Sub(then); {
	case then == 0:
		return "never"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	}
	return then.Time().Local().Format(time.DateTime)
}
