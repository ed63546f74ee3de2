package cli

import (
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/selector"
)

// targets are the flags that select robots, besides names as arguments.
type targets struct {
	labels []string
	all    bool
}

func (t *targets) flags(c *cobra.Command) {
	c.Flags().StringArrayVarP(&t.labels, "label", "l", nil, "robots with this key=value; if given several times, a robot must match all")
	c.Flags().BoolVar(&t.all, "all", false, "every robot of the fleet")
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
	s, problems := selector.Parse(words...)
	if len(problems) > 0 {
		p := problems[0]
		return s, usage("%s", strings.TrimPrefix(p.String(), "/: ")) // the arguments have no place to name
	}
	return s, nil
}

// query returns the selector as query parameters of a list; an empty one lists all
// robots.
func (t *targets) query(names []string) (url.Values, error) {
	if len(names)+len(t.labels) == 0 {
		return url.Values{}, nil
	}
	if _, err := t.selector(names); err != nil {
		return nil, err
	}
	return url.Values{"id": names, "label": t.labels}, nil
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
