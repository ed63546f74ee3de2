package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/view"
	"troupe/schema"
)

// eventQuery selects events of robots.
type eventQuery struct {
	robots []string // empty = of all
	site   string
	kind   string
	levels []string
	since  time.Duration
	limit  int
}

func (q *eventQuery) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&q.site, "site", "", "only events of robots of this site, which is their label site")
	f.StringVar(&q.kind, "type", "", "only events of this type")
	f.StringSliceVar(&q.levels, "level", nil, "only events of these levels: info, warn, error, safety")
	f.DurationVar(&q.since, "since", 0, "only events that fleetd received in the last 10m, 2h, ...")
	f.IntVar(&q.limit, "limit", 50, "at most this many, up to 1000")
}

func (sh *shell) eventCommand() *cobra.Command {
	var q eventQuery
	var robot string
	var follow bool
	list := &cobra.Command{
		Use: "list [ROBOT...]", Short: "list what happened to robots, the newest first",
		Long: `List what happened to robots, the newest first; with --follow the oldest of them first, and then each
as it happens. Levels: info is what a robot does, warn what is not as it should be, error what was not
done, safety what concerns the permission to move. topics.md lists the types of events.`,
		Example: "  fleetd event list --level warn,error,safety --since 1h\n  fleetd event list r1 --type act_ended\n  fleetd event list --follow --level safety",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			q.robots = args
			if robot != "" && !slices.Contains(args, robot) {
				q.robots = append(q.robots, robot)
			}
			if follow {
				return sh.followEvents(cmd.Context(), q, true)
			}
			events, err := sh.events(cmd.Context(), q)
			if err != nil {
				return err
			}
			return sh.show(eventList{events}, func(w io.Writer) { eventTable(w, events) })
		}),
	}
	q.flags(list)
	list.Flags().StringVar(&robot, "robot", "", "only events of this robot, as if it were an argument")
	list.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what happens, until interrupted")
	return group("event", "what happened to robots: list", list)
}

func (sh *shell) logsCommand() *cobra.Command {
	var q eventQuery
	var follow bool
	c := &cobra.Command{
		Use: "logs [ROBOT...]", Short: "print what robots reported, the oldest first, as a log",
		Long: `Print the events of robots as a log, the oldest first: what each reported that it did and what it
refused. fleetd keeps them, also those from while it was away. fleetd robot watch tells the same in
sentences, with what acts say.

The log of fleetd itself is on the standard error of fleetd serve (journalctl -u fleetd where systemd
runs it), and that of a robot's program is at the robot (fleetd log on and off switch it).`,
		Example: "  fleetd logs r1\n  fleetd logs --follow --level warn,error,safety\n  fleetd logs r1 r2 --since 10m",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			q.robots = args
			if follow {
				return sh.followEvents(cmd.Context(), q, false)
			}
			events, err := sh.events(cmd.Context(), q)
			if err != nil {
				return err
			}
			slices.Reverse(events)
			return sh.show(eventList{events}, func(w io.Writer) {
				for _, e := range events {
					fmt.Fprintln(w, logLine(e))
				}
			})
		}),
	}
	q.flags(c)
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on with what happens, until interrupted")
	return c
}

type eventList struct {
	Events []api.Event `json:"events"`
}

// events returns the newest events that a query selects, the newest first.
func (sh *shell) events(ctx context.Context, q eventQuery) ([]api.Event, error) {
	for _, l := range q.levels {
		switch schema.EventLevel(l) {
		case schema.EventInfo, schema.EventWarn, schema.EventError, schema.EventSafety:
		default:
			return nil, usage("--level %s: write info, warn, error or safety, or several with commas", l)
		}
	}
	query := url.Values{"limit": {strconv.Itoa(q.limit)}}
	for name, value := range map[string]string{"site": q.site, "type": q.kind, "level": strings.Join(q.levels, ",")} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if q.since > 0 {
		query.Set("since", time.Now().Add(-q.since).UTC().Format(time.RFC3339Nano))
	}
	if len(q.robots) == 0 {
		return sh.queryEvents(ctx, query)
	}
	var all []api.Event
	for _, robot := range q.robots {
		query.Set("robot", robot)
		found, err := sh.queryEvents(ctx, query)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 { // a robot that nobody knows is an error, as in robot get
			var d view.Detail
			if err := sh.call(ctx, apiRequest{method: http.MethodGet, path: "robots/" + url.PathEscape(robot)}, &d); err != nil {
				return nil, err
			}
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b api.Event) int { return cmp.Compare(b.Received, a.Received) })
	return all[:min(len(all), q.limit)], nil
}

func (sh *shell) queryEvents(ctx context.Context, query url.Values) ([]api.Event, error) {
	var got eventList
	err := sh.call(ctx, apiRequest{method: http.MethodGet, path: "events", query: query}, &got)
	return got.Events, err
}

// logLine formats an event as a line of a log: when, who, how bad, what, and its data.
func logLine(e api.Event) string {
	parts := []string{formatTime(e.Received), e.Robot, fmt.Sprintf("%-6s", orElse(string(e.Level), "-")), e.Type}
	for _, one := range [][2]string{{"source", e.Source}, {"cause", e.Cause}, {"data", eventData(e.Event)}} {
		if one[1] != "" && one[1] != "-" {
			parts = append(parts, one[0]+"="+cell(one[1]))
		}
	}
	return oneLine(strings.Join(parts, "  "))
}

func eventTable(out io.Writer, events []api.Event) {
	w := newTable(out)
	fmt.Fprintln(w, "AT\tROBOT\tLEVEL\tTYPE\tSOURCE\tCAUSE\tDATA")
	for _, e := range events {
		writeRow(w, formatTime(e.Received), e.Robot, dash(string(e.Level)), e.Type, e.Source, dash(e.Cause), eventData(e.Event))
	}
	_ = w.Flush() // a write error shows at the next write
}

func eventData(e schema.Event) string {
	if e.Truncated {
		return "(too long to be sent)"
	}
	return dash(string(e.Data))
}
