package cli

import (
	"slices"
	"strings"

	"troupe/schema"
)

// alertLines formats alerts with their way out. Those of several units with one cause, such as a
// lost adapter, are one line, in which each unit has its own way out.
func alertLines(alerts []schema.Alert) []string {
	var order []string
	alike := map[string][]schema.Alert{}
	for _, a := range alerts {
		cause := causeOf(a)
		if alike[cause] == nil {
			order = append(order, cause)
		}
		alike[cause] = append(alike[cause], a)
	}
	var lines []string
	for _, cause := range order {
		lines = append(lines, alertLine(cause, alike[cause]))
	}
	return lines
}

// causeOf returns the detail of an alert without its unit.
func causeOf(a schema.Alert) string { return strings.TrimPrefix(a.Detail, "unit "+a.Source+": ") }

// alertLine formats alerts with one cause.
func alertLine(cause string, alerts []schema.Alert) string {
	if len(alerts) == 1 {
		a := alerts[0]
		return string(a.Level) + ": " + a.Type + " " + a.Source + ": " + strings.TrimSuffix(a.Detail+"; "+a.Hint, "; ")
	}
	var about, hints []string
	for _, a := range alerts {
		about = append(about, string(a.Level)+": "+a.Type+" "+a.Source)
		hints = append(hints, a.Hint)
	}
	line := strings.Join(about, ", ") + ": " + cause
	if len(slices.Compact(slices.Clone(hints))) == 1 {
		return strings.TrimSuffix(line+"; "+hints[0], "; ")
	}
	for _, a := range alerts {
		if a.Hint != "" {
			line += "; " + a.Source + ": " + a.Hint
		}
	}
	return line
}
