// Package fsm provides state machines as tables.
//
// A table is a list of rows "from these states, on this event, to that state, because". An
// event without a row is refused; there are no default rows and no guards. Callers evaluate
// guards first and choose a named event, so that every outcome is a row that can be read,
// checked and drawn.
//
// The package knows no timing and no effects: Next returns where an event leads and why;
// the owner of the state does the rest.
package fsm

import (
	"fmt"
	"sort"
	"strings"
)

// Row is a transition from one or more states.
type Row[S, E comparable] struct {
	From []S
	On   E
	To   S
	Why  string // a reason for people
}

// Table is a state machine. The order of rows has no meaning: Check reports two rows for
// the same state and event.
type Table[S, E comparable] []Row[S, E]

// In lists the states that a row starts from.
func In[S comparable](states ...S) []S { return states }

// Next returns the row for event on in state s, or false if the machine refuses the event
// in s.
func (t Table[S, E]) Next(s S, on E) (Row[S, E], bool) {
	for i := range t {
		if t[i].On != on {
			continue
		}
		for _, from := range t[i].From {
			if from == s {
				return t[i], true
			}
		}
	}
	return Row[S, E]{}, false
}

// Accepts lists the events for which s has a row, in table order.
func (t Table[S, E]) Accepts(s S) []E {
	var on []E
	for _, r := range t {
		for _, from := range r.From {
			if from == s {
				on = append(on, r.On)
			}
		}
	}
	return on
}

// Check returns one sentence for each error in the table: two rows for one state and
// event, a row without a reason or without a start state, a state that no row leads to
// (except start), or a state that no row leaves (except ends).
func (t Table[S, E]) Check(start S, all []S, ends ...S) []string {
	var faults []string
	known, reached, left := setOf(all), map[S]bool{start: true}, setOf(ends)
	type edge struct {
		s S
		e E
	}
	seen := map[edge]bool{}
	for i, r := range t {
		if r.Why == "" {
			faults = append(faults, fmt.Sprintf("row %d (%v on %v) has no Why", i, r.From, r.On))
		}
		if len(r.From) == 0 {
			faults = append(faults, fmt.Sprintf("row %d (on %v) starts nowhere", i, r.On))
		}
		if !known[r.To] {
			faults = append(faults, fmt.Sprintf("row %d leads to %v, which is not a state", i, r.To))
		}
		for _, from := range r.From {
			if !known[from] {
				faults = append(faults, fmt.Sprintf("row %d starts at %v, which is not a state", i, from))
			}
			if seen[edge{from, r.On}] {
				faults = append(faults, fmt.Sprintf("two rows for %v on %v", from, r.On))
			}
			seen[edge{from, r.On}] = true
			left[from] = true
			if from != r.To {
				reached[r.To] = true
			}
		}
	}
	for _, s := range all {
		if !reached[s] {
			faults = append(faults, fmt.Sprintf("nothing leads to %v", s))
		}
		if !left[s] {
			faults = append(faults, fmt.Sprintf("nothing leaves %v", s))
		}
	}
	sort.Strings(faults)
	return faults
}

// Mermaid draws the table as a stateDiagram-v2. Transitions between the same two states
// share one arrow.
func (t Table[S, E]) Mermaid(start S) string {
	type pair struct{ from, to S }
	labels := map[pair][]string{}
	var order []pair
	for _, r := range t {
		for _, from := range r.From {
			p := pair{from, r.To}
			if labels[p] == nil {
				order = append(order, p)
			}
			labels[p] = append(labels[p], fmt.Sprint(r.On))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "stateDiagram-v2\n    [*] --> %s\n", node(start))
	for _, p := range order {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", node(p.from), node(p.to), strings.Join(labels[p], ", "))
	}
	return b.String()
}

// Markdown renders the rows with their reasons as a table.
func (t Table[S, E]) Markdown() string {
	var b strings.Builder
	b.WriteString("| from | on | to | why |\n|---|---|---|---|\n")
	for _, r := range t {
		from := make([]string, len(r.From))
		for i, s := range r.From {
			from[i] = fmt.Sprint(s)
		}
		fmt.Fprintf(&b, "| %s | %v | %v | %s |\n", strings.Join(from, ", "), r.On, r.To, r.Why)
	}
	return b.String()
}

// node replaces hyphens, which Mermaid would read as parts of arrows.
func node[S any](s S) string { return strings.ReplaceAll(fmt.Sprint(s), "-", "_") }

func setOf[S comparable](list []S) map[S]bool {
	m := make(map[S]bool, len(list))
	for _, s := range list {
		m[s] = true
	}
	return m
}
