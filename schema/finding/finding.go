// Package finding is the form in which a doctor of Troupe (robotd doctor, fleetd doctor) reports what it found.
package finding

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Severity is how grave a finding is.
type Severity string

// The severities.
const (
	OK   Severity = "ok"
	Warn Severity = "warn" // it works, perhaps not for long or not in all ways
	Fail Severity = "fail" // it does not work until somebody sees to it
)

// Finding is what an examination found about one part. Help says what to do; it is empty
// with severity ok.
type Finding struct {
	Part     string   `json:"part"`
	Severity Severity `json:"severity"`
	Detail   string   `json:"detail"`
	Help     string   `json:"help,omitempty"`
}

// List is what an examination found, in its order.
type List []Finding

// Add adds a finding.
func (l *List) Add(part string, s Severity, detail, help string) {
	*l = append(*l, Finding{part, s, detail, help})
}

// Fails reports whether something does not work.
func (l List) Fails() bool {
	return slices.ContainsFunc(l, func(f Finding) bool { return f.Severity == Fail })
}

// Write prints the findings as a table, or as a JSON list.
func (l List) Write(out io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(l)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range l {
		fmt.Fprintf(table, "%s\t%s\t%s\n", f.Severity, f.Part, strings.ReplaceAll(f.Detail, "\n", " "))
		if f.Help != "" {
			fmt.Fprintf(table, "\t\t-> %s\n", f.Help)
		}
	}
	return table.Flush()
}
