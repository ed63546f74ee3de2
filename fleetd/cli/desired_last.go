package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/fleetd/library"
	"troupe/schema"
)

func (sh *shell) desiredAssignments() *cobra.Command {
	var limit int
	var at string
	c := &cobra.Command{
		Use: "assignments [ROBOT]", Short: "list the last assignments: who gave which robots what, and what they had before",
		Args: cobra.MaximumNArgs(1),
		Long: `List the last assignments of stories, activities, settings, modes and places, the newest first, with
what the robots had before. An assignment is listed as long as some robots were given nothing else of
its kind since; only these are named.
To revert robots: fleetd story revert, fleetd desired revert, fleetd activity assign.`,
		Example: "  fleetd desired assignments\n  fleetd desired assignments r1 --limit 5",
		RunE: run(func(cmd *cobra.Command, args []string) error {
			query := url.Values{"robot": args, "limit": {strconv.Itoa(limit)}}
			if at != "" {
				query.Set("at", at)
			}
			var list struct {
				Assignments []api.LastAssignment `json:"assignments"`
			}
			if err := sh.call(cmd.Context(), apiRequest{method: http.MethodGet, path: "assignments", query: query}, &list); err != nil {
				return err
			}
			return sh.show(list, func(out io.Writer) {
				t := newTable(out)
				defer t.Flush()
				fmt.Fprintln(t, "AT\tBY\tKIND\tGIVEN\tBEFORE\tROBOTS\tOUTCOME\tWHY")
				for _, a := range list.Assignments {
					for _, g := range a.Groups {
						writeRow(t, a.At.Local().Format(time.DateTime), orElse(a.By, "fleetd"), a.Kind, givenText(a.Kind, g.Now), orElse(g.NoWayBack, givenText(a.Kind, g.Before)),
							strings.TrimPrefix(library.RobotsText(g.Robots), "robots "), endedText(a), a.Why)
					}
				}
			})
		}),
	}
	c.Flags().IntVar(&limit, "limit", 20, "at most this many")
	c.Flags().StringVar(&at, "at", "", "only those of this time, such as that of an entry of the audit")
	return c
}

// endedText is what the robots of an assignment reported.
func endedText(a api.LastAssignment) string {
	parts := []string{fmt.Sprintf("%d of %d have it", a.Accepted, a.Total)}
	if a.Refused > 0 {
		parts = append(parts, fmt.Sprintf("%d refused it", a.Refused))
	}
	if a.Undecided > 0 {
		parts = append(parts, fmt.Sprintf("%d not yet", a.Undecided))
	}
	return strings.Join(parts, ", ")
}

// givenText formats what robots were given, or had before.
func givenText(kind string, value jsontext.Value) string {
	switch kind {
	case "story":
		pin, _ := schema.Decode[library.Pin](value)
		return dash(pinsText([]library.Pin{pin}))
	case "activities":
		pins, _ := schema.Decode[[]library.Pin](value)
		return dash(pinsText(pins))
	case "places":
		v, _ := schema.Decode[struct {
			Places *schema.ContentPin `json:"places"`
		}](value)
		if v.Places == nil {
			return "-"
		}
		return v.Places.ID
	case "mode":
		v, _ := schema.Decode[schema.DesiredMode](value)
		return dash(string(v.Mode))
	}
	return dash(string(value))
}

func pinsText(pins []library.Pin) string {
	var all []string
	for _, p := range pins {
		if p.ID != "" {
			all = append(all, fmt.Sprintf("%s@%d", p.ID, p.Rev))
		}
	}
	return strings.Join(all, ", ")
}
