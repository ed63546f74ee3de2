package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/schema"
)

// listEvents is for event list and for logs.
func listEvents(sh *shell, c *cobra.Command) finish {
	log := c.Name() == "logs"
	robot := ""
	if !log {
		c.Flags().StringVar(&robot, "robot", "", "only events of this robot, as if it were an argument")
	}
	follow := c.Flags().BoolP("follow", "f", false, "go on with what happens, until interrupted")
	return func(ctx context.Context, robots []string, r rowRequest) error {
		if robot != "" && !slices.Contains(robots, robot) {
			robots = append(robots, robot)
		}
		if *follow {
			return sh.followEvents(ctx, robots, r, !log)
		}
		events, err := sh.events(ctx, robots, r)
		if err != nil {
			return err
		}
		if log {
			slices.Reverse(events)
		}
		return sh.show(eventList{events}, func(w io.Writer) {
			if !log {
				eventTable(w, events)
				return
			}
			for _, e := range events {
				fmt.Fprintln(w, logLine(e))
			}
		})
	}
}

func (sh *shell) logsCommand() *cobra.Command {
	o := sh.request("list-events", nil).operation
	o.Use, o.Short = "logs [ROBOT...]", "print what robots reported, the oldest first, as a log"
	o.Long = `Print the events of robots as a log, the oldest first: what each reported that it did and what it
refused. fleetd keeps them, also those from while it was away. fleetd robot watch tells the same in
sentences, with what acts say.

The log of fleetd itself is on the standard error of fleetd serve (journalctl -u fleetd where systemd
runs it), and that of a robot's program is at the robot (fleetd log on and off switch it).`
	o.Example = "logs r1\nlogs --follow --level warn,error,safety\nlogs r1 r2 --since 10m"
	return sh.operationCommand(o, nil, nil)
}

type eventList struct {
	Events []api.Event `json:"events"`
}

// events returns the newest events of robots that a request selects, the newest first; no robot means all.
func (sh *shell) events(ctx context.Context, robots []string, r rowRequest) ([]api.Event, error) {
	for l := range strings.SplitSeq(r.query.Get("level"), ",") {
		switch schema.EventLevel(l) {
		case "", schema.EventInfo, schema.EventWarn, schema.EventError, schema.EventSafety:
		default:
			return nil, usage("--level %s: write info, warn, error or safety, or several with commas", l)
		}
	}
	var all []api.Event
	for _, robot := range robots {
		r.query.Set("robot", robot)
		var found eventList
		err := sh.call(ctx, r.http(), &found)
		if err == nil && len(found.Events) == 0 { // a robot that nobody knows is an error, as in robot get
			err = sh.do(ctx, "get-robot", given{"id": robot}, nil)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, found.Events...)
	}
	if len(robots) == 0 {
		var found eventList
		err := sh.call(ctx, r.http(), &found)
		return found.Events, err
	}
	slices.SortStableFunc(all, func(a, b api.Event) int { return cmp.Compare(b.Received, a.Received) })
	limit, _ := strconv.Atoi(r.query.Get("limit")) // the flag is a number
	return all[:min(len(all), limit)], nil
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
	writeTable(out, "AT\tROBOT\tLEVEL\tTYPE\tSOURCE\tCAUSE\tDATA", events, func(e api.Event) []any {
		return []any{formatTime(e.Received), e.Robot, dash(string(e.Level)), e.Type, e.Source, dash(e.Cause), eventData(e.Event)}
	})
}

func eventData(e schema.Event) string {
	if e.Truncated {
		return "(too long to be sent)"
	}
	return dash(string(e.Data))
}
