package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/api"
	"troupe/fleetd/library"
	"troupe/schema"
)

func lastAssignmentsTable(_ *shell, out io.Writer, list api.LastAssignments) {
	t := newTable(out)
	fmt.Fprintln(t, "AT\tBY\tKIND\tGIVEN\tBEFORE\tROBOTS\tOUTCOME\tWHY")
	for _, a := range list.Assignments {
		for _, g := range a.Groups {
			writeRow(t, a.At.Local().Format(time.DateTime), orElse(a.By, "fleetd"), a.Kind, givenText(a.Kind, g.Now),
				orElse(g.NoWayBack, givenText(a.Kind, g.Before)), strings.TrimPrefix(library.RobotsText(g.Robots), "robots "), endedText(a), a.Why)
		}
	}
	_ = t.Flush() // a write error shows at the next write
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
