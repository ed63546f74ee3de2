// Package fsmtest is for tests of rooms whose machine is a table: that the table
// has no faults, and that its diagram in testdata is the table's own.
package fsmtest

import (
	"testing"

	"troupe/schema/fsm"
	"troupe/schema/golden"
)

// Check fails the test for every fault that the table's own Check finds.
func Check[S, E comparable](t testing.TB, table fsm.Table[S, E], start S, all []S, ends ...S) {
	t.Helper()
	for _, fault := range table.Check(start, all, ends...) {
		t.Error(fault)
	}
}

// Drawn compares the golden file at path with the table's diagram and its rows.
func Drawn[S, E comparable](t testing.TB, path string, table fsm.Table[S, E], start S) {
	t.Helper()
	golden.Compare(t, path, "```mermaid\n"+table.Mermaid(start)+"```\n\n"+table.Markdown())
}
