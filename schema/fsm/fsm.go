// Package fsm holds state machines that are tables.
//
// A table is a list of rows "from these states, on this event, to that state,
// because". What is not listed is refused; there is no default row and no guard
// beside the table: a caller turns facts into a named event first, so that both
// outcomes of a question are rows that can be read, checked and drawn.
//
// The package decides nothing about timing or effects: Next answers where an
// event leads and why, the owner of the state does the rest.
package fsm

import (
	"fmt"
	"sort"
	"strings"
)

// Row is one edge, or one edge from each of several states.
type Row[S, E comparable] struct {
	From []S
	On   E
	To   S
	Why  string // a sentence a person can be shown
}

// Table is a whole machine. Order carries no meaning: Check refuses two rows
// for the same state and event.
type Table[S, E comparable] []Row[S, E]

// In lists the states a row starts from.
func In[S comparable](states ...S) []S { return states }

// Next returns the row that event on takes from state s, or false when the
// machine refuses the event there.
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

// Accepts lists the events that s has a row for, in table order.
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

// Check returns one sentence for each fault of the table: two rules for one
// state and event, a row without a reason or without a state to start from, a
// state of all that no row leads to (but for start), or one that no row leaves
// (but for those named as ends).
func (t Table[S, E]) Check(start S, all []S, ends ...S) []string {
	var faults []string
	known, reached, left := set(all), map[S]bool{start: true}, set(ends)
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
				faults = append(faults, fmt.Sprintf("two rules for %v on %v", from, r.On))
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

// Mermaid draws the table as a stateDiagram-v2 body; edges between the same two
// states are joined into one arrow.
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

// Markdown renders the rows with their reasons, for documents.
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

// node keeps mermaid from reading a hyphen in a name as part of an arrow.
func node[S any](s S) string { return strings.ReplaceAll(fmt.Sprint(s), "-", "_") }

func set[S comparable](list []S) map[S]bool {
	m := make(map[S]bool, len(list))
	for _, s := range list {
		m[s] = true
	}
	return m
}
