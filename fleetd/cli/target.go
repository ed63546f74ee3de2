package cli

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/audit"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// targets are the flags that select robots, besides names as arguments.
type targets struct {
	labels []string
	all    bool
	state  map[string]*string // terms about the present state, by the name of the flag
}

// stateFlags are the flags of a selector about the present state of robots.
var stateFlags = []struct{ name, purpose string }{
	{"matching", "robots with this text in their name or in the value of a label"},
	{"doing", "robots that do one of these now, such as performing,disabled,not_connected"},
	{"in-mode", "robots in one of these modes, such as ato,mnl"},
	{"presence", "robots that are one of these: online, degraded, lost, offline, sleeping, unknown"},
	{"has-story", "robots that perform this story, or to which it is assigned"},
	{"story-state", "robots whose assigned story is one of these: none, current, pending, refused"},
}

func (t *targets) flags(c *cobra.Command) {
	c.Flags().StringArrayVarP(&t.labels, "label", "l", nil, "robots with this key=value; if given several times, a robot must match all")
	c.Flags().BoolVar(&t.all, "all", false, "every robot of the fleet")
	t.state = map[string]*string{}
	for _, f := range stateFlags {
		t.state[f.name] = c.Flags().String(f.name, "", f.purpose)
	}
}

// selector builds the selector from names and flags. An empty one is an error and never
// means all robots.
func (t *targets) selector(names []string) (selector.Selector, error) {
	words := append([]string{}, names...)
	for _, l := range t.labels {
		words = append(words, "-l", l)
	}
	if t.all {
		words = append(words, "--all")
	}
	for _, f := range stateFlags {
		if v := t.state[f.name]; v != nil && *v != "" {
			words = append(words, "--"+f.name+"="+*v)
		}
	}
	s, problems := selector.Parse(words...)
	if len(problems) > 0 {
		return s, usage("%s", selectorError(s, problems[0]))
	}
	return s, nil
}

// selectorError says what is wrong with the names and flags that select robots. A finding names
// its place in JSON.
func selectorError(s selector.Selector, p schema.Problem) string {
	text := strings.TrimSuffix(p.Detail+"; "+p.Hint, "; ")
	field, index, _ := strings.Cut(strings.TrimPrefix(p.Pointer, "/"), "/")
	switch i, err := strconv.Atoi(index); {
	case field == "labels":
		return "--label: " + text
	case field == "ids" && err == nil:
		if lower := strings.ToLower(s.IDs[i]); schema.ValidID(lower) {
			text += "; did you mean " + lower + "?"
		}
	}
	return text
}

// query returns the selector as query parameters of a list; an empty one lists all
// robots.
func (t *targets) query(names []string) (url.Values, error) {
	live := false
	for _, v := range t.state {
		live = live || *v != ""
	}
	if len(names)+len(t.labels) == 0 && !live {
		return url.Values{}, nil
	}
	sel, err := t.selector(names)
	if err != nil {
		return nil, err
	}
	query := url.Values{"id": names, "label": t.labels}
	add := func(name, value string) {
		if value != "" {
			query.Add(name, value)
		}
	}
	add("text", sel.Text)
	add("story", sel.Story)
	for _, v := range sel.Doing {
		add("doing", string(v))
	}
	for _, v := range sel.Modes {
		add("mode", string(v))
	}
	for _, v := range sel.Presence {
		add("presence", v)
	}
	for _, v := range sel.StoryState {
		add("story_state", string(v))
	}
	return query, nil
}

// whyFlag adds the flag of the reason for a change.
func whyFlag(c *cobra.Command, why *string) {
	c.Flags().StringVar(why, "why", "", "the reason, for the audit")
}

// attribution says who makes a change, and why.
func (sh *shell) attribution(why string) audit.Attribution {
	return audit.Attribution{Who: sh.by, Why: why}
}

// exactlyOne accepts the one argument that Use names.
func exactlyOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("one %s at a time: %s", firstArg(cmd), cmd.CommandPath()+" "+firstArg(cmd))
	}
	return atLeastOne(cmd, args)
}

// atLeastOne accepts the argument that Use names, and more.
func atLeastOne(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage("which %s? write %s", strings.ToLower(firstArg(cmd)), cmd.CommandPath()+" "+firstArg(cmd))
	}
	return nil
}

// firstArg returns the name of the first argument in Use.
func firstArg(cmd *cobra.Command) string {
	_, rest, _ := strings.Cut(cmd.Use, " ")
	first, _, _ := strings.Cut(strings.TrimLeft(rest, "("), " ")
	return strings.TrimSuffix(first, "...")
}
