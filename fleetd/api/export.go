package api

import (
	"bytes"
	"context"
	"encoding/csv"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"troupe/fleetd/auth"
	"troupe/fleetd/operation"
	"troupe/fleetd/view"
)

type table struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
}

func (s *server) export(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "export-robots", Method: http.MethodGet, Path: "/robots.csv", Tag: "robots", Right: auth.View,
		Summary:     "List robots as a table (CSV)",
		Description: "One line for each robot that the parameters select; the first line names the columns.",
		Example:     "robot list --csv",
		More: func(o *huma.Operation) {
			o.Responses = map[string]*huma.Response{"200": {Description: "OK",
				Content: map[string]*huma.MediaType{"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}}}}}
		},
	}, func(_ context.Context, in *RobotQuery) (*table, error) {
		sel, err := in.selector()
		if err != nil {
			return nil, err
		}
		body, err := robotsCSV(visible(in.principal, selected(s.View.Robots(), sel)))
		if err != nil {
			return nil, err
		}
		return &table{"text/csv; charset=utf-8", `attachment; filename="robots.csv"`, body}, nil
	})
}

// columns are the columns of a list of robots in CSV.
var columns = []struct {
	name string
	of   func(r *view.Robot) string
}{
	{"robot", func(r *view.Robot) string { return r.ID }},
	{"doing", func(r *view.Robot) string { return string(r.Doing) }},
	{"presence", func(r *view.Robot) string { return r.Presence.Status }},
	{"last_seen", func(r *view.Robot) string {
		if r.Presence.LastSeen == 0 {
			return ""
		}
		return r.Presence.LastSeen.String()
	}},
	{"mode", func(r *view.Robot) string { return string(r.Mode) }},
	{"requested_mode", func(r *view.Robot) string { return string(r.Intended) }},
	{"safety", func(r *view.Robot) string { return string(r.Safety) }},
	{"story", func(r *view.Robot) string {
		if r.Story == nil {
			return ""
		}
		return r.Story.ID
	}},
	{"act", func(r *view.Robot) string { return r.Act }},
	{"assigned_story", func(r *view.Robot) string {
		if r.Desired.Story == nil {
			return ""
		}
		return r.Desired.Story.ID
	}},
	{"story_state", func(r *view.Robot) string { return string(r.Desired.State()) }},
	{"interrupts", func(r *view.Robot) string { return strconv.Itoa(len(r.Interrupts)) }},
	{"alerts", func(r *view.Robot) string { return strconv.Itoa(len(r.Alerts)) }},
	{"latched_stops", func(r *view.Robot) string { return strconv.Itoa(len(r.Latches)) }},
	{"controlled_by", func(r *view.Robot) string {
		if r.Control == nil {
			return ""
		}
		return orElse(r.Control.By, r.Control.Holder)
	}},
	{"round_trip_ms", func(r *view.Robot) string {
		if r.Presence.RoundTripMS == 0 {
			return ""
		}
		return strconv.FormatInt(r.Presence.RoundTripMS, 10)
	}},
	{"labels", func(r *view.Robot) string {
		var words []string
		for k, v := range r.Labels {
			words = append(words, k+"="+v)
		}
		slices.Sort(words)
		return strings.Join(words, " ")
	}},
}

func robotsCSV(rows []*view.Row) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	line := make([]string, len(columns))
	for i, c := range columns {
		line[i] = c.name
	}
	_ = w.Write(line) // Flush reports errors
	for _, r := range rows {
		for i, c := range columns {
			line[i] = harmless(c.of(&r.Robot))
		}
		_ = w.Write(line)
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

// harmless keeps a spreadsheet from reading text of a robot or a person as a formula.
func harmless(cell string) string {
	if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
		return "'" + cell
	}
	return cell
}
