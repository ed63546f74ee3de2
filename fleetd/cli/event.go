package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/view"
	"troupe/schema"
)

func (sh *shell) eventCommand() *cobra.Command {
	var robot, kind string
	var levels []string
	var since time.Duration
	var limit int
	list := &cobra.Command{
		Use: "list", Short: "list what happened to robots, the newest first", Args: cobra.NoArgs,
		Long: `List what happened to robots, the newest first. Levels: info is what a robot does, warn what is not
as it should be, error what was not done, safety what concerns the permission to move.
topics.md lists the types of events.`,
		Example: "  fleetd event list --level warn,error,safety --since 1h\n  fleetd event list --robot r1 --type act_ended",
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			for _, l := range levels {
				switch schema.EventLevel(l) {
				case schema.EventInfo, schema.EventWarn, schema.EventError, schema.EventSafety:
				default:
					return usage("--level %s: write info, warn, error or safety, or several with commas", l)
				}
			}
			query := url.Values{"limit": {strconv.Itoa(limit)}}
			for name, value := range map[string]string{"robot": robot, "type": kind, "level": strings.Join(levels, ",")} {
				if value != "" {
					query.Set(name, value)
				}
			}
			if since > 0 {
				query.Set("since", time.Now().Add(-since).UTC().Format(time.RFC3339Nano))
			}
			var got struct {
				Events []api.Event `json:"events"`
			}
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: "events", query: query}, &got); err != nil {
				return err
			}
			if len(got.Events) == 0 && robot != "" { // a robot that nobody knows is an error, as in robot get
				var d view.Detail
				if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: "robots/" + url.PathEscape(robot)}, &d); err != nil {
					return err
				}
			}
			return sh.show(got, func(w io.Writer) { eventTable(w, got.Events) })
		}),
	}
	f := list.Flags()
	f.StringVar(&robot, "robot", "", "only events of this robot")
	f.StringVar(&kind, "type", "", "only events of this type")
	f.StringSliceVar(&levels, "level", nil, "only events of these levels: info, warn, error, safety")
	f.DurationVar(&since, "since", 0, "only events that fleetd received in the last 10m, 2h, ...")
	f.IntVar(&limit, "limit", 50, "at most this many, up to 1000")
	return group("event", "what happened to robots: list", list)
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
