package cli

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"troupe/fleetd/auth"
	"troupe/fleetd/command"
	"troupe/fleetd/view"
	"troupe/schema"
)

// completionTimeout bounds what a completion asks fleetd: a person waits between two keys.
const completionTimeout = 800 * time.Millisecond

// values lists the values of an argument or a flag. It is silent: without an answer of
// fleetd there are none.
type values func(sh *shell, ctx context.Context, given []string) []string

// argSources are the sources of arguments, by the word for it in Use.
var argSources = map[string]values{
	"ROBOT": robotNames, "STORY": listOf("stories"), "ACTIVITY": listOf("activities"), "ACTIVITY[,ACTIVITY": listOf("activities"),
	"MODE": modes, "POINT": none,
	"SESSION": listOf("sessions"), "TOKEN": listOf("tokens"),
}

// namesOfGroup are the sources of NAME and ID, by the group of the command.
var namesOfGroup = map[string]values{
	"act": listOf("acts"), "story": listOf("stories"), "activity": listOf("activities"), "asset": listOf("assets"),
	"stop": listOf("stops"), "command": listOf("batches"),
}

// flagSources are the sources of flags, by their names. Those of robots come from the robots
// that are given.
var flagSources = map[string]values{
	"output": fixed(outputs...), "label": labels, "site": sites, "robot": robotNames, "from": robotNames, "mode": modes, "if-mode": modes,
	"act": acts, "story": listOf("stories"), "activity": listOf("activities"), "story-rev": none, "rev": none,
	"level": fixed("info", "warn", "error", "safety"), "state": states, "apply": fixed(string(schema.ApplyNextAct), string(schema.ApplyNow),
		string(schema.ApplyNextStart)),
	"context": contextNames, "point": points, "unit": units, "handler": handlers, "interrupter": interrupters, "latch": listOf("stops"),
	"log-level": fixed("debug", "info", "warn", "error"), "in-mode": modes, "has-story": listOf("stories"),
	"presence": fixed("online", "degraded", "lost", "offline", "sleeping", "unknown"), "story-state": fixed("none", "current", "pending",
		"refused"),
	"doing": fixed("performing", "failing", "activity", "interrupt", "paused", "paused_by_safety", "disabled", "waiting_for_release",
		"stop_input", "needs_reset", "not_connected", "not_adopted", "manual", "undriven", "start_up", "no_story", "story_ended"),
}

// complete gives every command the completion of its arguments and flags.
func (sh *shell) complete(c *cobra.Command) {
	if words := argumentsOf(c.Use); len(words) > 0 && c.ValidArgsFunction == nil && c.ValidArgs == nil {
		c.ValidArgsFunction = func(cmd *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
			from, known := sh.completerOf(cmd, words, len(given))
			if !known {
				return nil, cobra.ShellCompDirectiveDefault // files
			}
			return sh.ask(cmd, from, given), cobra.ShellCompDirectiveNoFileComp
		}
	}
	each := func(f *pflag.Flag) {
		from, known := flagSources[f.Name]
		switch {
		case !known:
			return
		case f.Name == "level" && c.Name() == "stop":
			from = fixed("stop", "soft-stop", "halt", "estop")
		case f.Name == "apply" && c.Parent() != nil && c.Parent().Name() == "desired":
			from = fixed(string(schema.ApplyModeBoot), string(schema.ApplyModeNow))
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
			return sh.ask(cmd, from, given), cobra.ShellCompDirectiveNoFileComp
		}) // an error: it has one already
	}
	c.PersistentFlags().VisitAll(each)
	c.Flags().VisitAll(each)
	for _, below := range c.Commands() {
		sh.complete(below)
	}
}

// argumentsOf returns the words for the arguments of a command, of which the last may
// repeat.
func argumentsOf(use string) (words []string) {
	for _, w := range strings.Fields(use)[1:] {
		if w = strings.Trim(strings.TrimSuffix(strings.Trim(w, "[]()"), "..."), "[]"); w != "" {
			words = append(words, w)
		}
	}
	return words
}

func (sh *shell) completerOf(c *cobra.Command, words []string, at int) (values, bool) {
	word := words[min(at, len(words)-1)]
	if from, known := argSources[word]; known {
		return from, true
	}
	if c.Parent() == nil || word != "NAME" && word != "ID" {
		return nil, false
	}
	group := c.Parent().Name()
	from, known := namesOfGroup[group]
	return from, known
}

// ask returns what a source lists, without what is given already.
func (sh *shell) ask(cmd *cobra.Command, from values, given []string) []string {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	if sh.chooseServer(cmd) != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	return slices.DeleteFunc(from(sh, ctx, given), func(s string) bool { return slices.Contains(given, s) })
}

func none(*shell, context.Context, []string) []string { return nil }

func fixed(choices ...string) values {
	return func(*shell, context.Context, []string) []string { return slices.Clone(choices) }
}

// listOf returns the source of the names in a list of the API.
func listOf(path string) values {
	return func(sh *shell, ctx context.Context, _ []string) []string {
		var got json.RawMessage
		if sh.call(ctx, apiRequest{method: http.MethodGet, path: path}, &got) != nil {
			return nil
		}
		names, _ := namesOf(got)
		return names
	}
}

func (sh *shell) robotsForCompletion(ctx context.Context) []view.Robot {
	var got robotList
	_ = sh.do(ctx, "list-robots", nil, &got) // without an answer there are none
	return got.Robots
}

func robotNames(sh *shell, ctx context.Context, _ []string) (names []string) {
	for _, r := range sh.robotsForCompletion(ctx) {
		names = append(names, r.ID)
	}
	return names
}

func labels(sh *shell, ctx context.Context, _ []string) []string {
	found := map[string]bool{}
	for _, r := range sh.robotsForCompletion(ctx) {
		for k, v := range r.Labels {
			found[k+"="+v] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// sites are the values of the label site.
func sites(sh *shell, ctx context.Context, given []string) (found []string) {
	for _, l := range labels(sh, ctx, given) {
		if site, is := strings.CutPrefix(l, auth.SiteLabel+"="); is {
			found = append(found, site)
		}
	}
	return found
}

// ofRobot collects from the robots among the arguments, or else from the first ones.
func ofRobot(of func(d view.Detail) []string) values {
	return func(sh *shell, ctx context.Context, words []string) []string {
		robots := sh.robotsForCompletion(ctx)
		if named := slices.DeleteFunc(slices.Clone(robots), func(r view.Robot) bool { return !slices.Contains(words, r.ID) }); len(named) > 0 {
			robots = named
		}
		found := map[string]bool{}
		for _, r := range robots[:min(len(robots), 3)] {
			var d view.Detail
			if sh.do(ctx, "get-robot", given{"id": r.ID}, &d) != nil {
				break
			}
			for _, v := range of(d) {
				found[v] = true
			}
		}
		return slices.Sorted(maps.Keys(found))
	}
}

// modes are those that robots have, and the three that every robot has.
var modes = ofRobotOr([]string{string(schema.ModeStr), string(schema.ModeMnl), string(schema.ModeAto)}, func(d view.Detail) (ids []string) {
	if d.Modes != nil {
		for _, m := range d.Modes.Modes {
			if m.ID != schema.ModeSafe { // no command sets it
				ids = append(ids, string(m.ID))
			}
		}
	}
	return ids
})

func ofRobotOr(otherwise []string, of func(d view.Detail) []string) values {
	from := ofRobot(of)
	return func(sh *shell, ctx context.Context, given []string) []string {
		if found := from(sh, ctx, given); len(found) > 0 {
			return found
		}
		return slices.Clone(otherwise)
	}
}

// acts are those of the library and those that the robots were taught.
func acts(sh *shell, ctx context.Context, given []string) []string {
	taught := ofRobot(func(d view.Detail) (ids []string) {
		if d.Acts != nil {
			for _, a := range d.Acts.Acts {
				ids = append(ids, a.ID)
			}
		}
		return ids
	})
	return append(listOf("acts")(sh, ctx, given), taught(sh, ctx, given)...)
}

func contextNames(sh *shell, _ context.Context, _ []string) []string {
	all, err := sh.readContexts()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(all.Contexts))
}

var points = ofRobot(func(d view.Detail) []string {
	if d.Caps == nil {
		return nil
	}
	return d.Caps.Points
})

var units = ofRobot(func(d view.Detail) (ids []string) {
	if d.Caps != nil {
		for _, u := range d.Caps.Units {
			ids = append(ids, u.ID)
		}
	}
	return ids
})

var interrupters = ofRobot(func(d view.Detail) []string {
	if d.Caps == nil {
		return nil
	}
	return d.Caps.Interrupters
})

var handlers = ofRobot(func(d view.Detail) []string {
	if d.Caps == nil {
		return nil
	}
	return d.Caps.Handlers
})

func states(*shell, context.Context, []string) []string {
	return []string{string(command.Queued), string(command.Sent), string(command.Acked), string(command.Running), string(command.Succeeded),
		string(command.Failed),
		string(command.Rejected), string(command.Cancelled), string(command.Superseded), string(command.Expired), string(command.Undelivered),
		string(command.Unknown)}
}
