// Package fsmtest helps to test packages with a state table: that the table has no
// errors, that its diagram in testdata is current, and that tests need every transition.
package fsmtest

import (
	"testing"

	"troupe/schema/fsm"
	"troupe/schema/golden"
)

// Check fails the test for every error that Table.Check finds.
func Check[S, E comparable](t testing.TB, table fsm.Table[S, E], start S, all []S, ends ...S) {
	t.Helper()
	for _, fault := range table.Check(start, all, ends...) {
		t.Error(fault)
	}
}

// CheckDiagram compares the golden file at path with the diagram and the rows of the table.
func CheckDiagram[S, E comparable](t testing.TB, path string, table fsm.Table[S, E], start S) {
	t.Helper()
	golden.Compare(t, path, "```mermaid\n"+table.Mermaid(start)+"```\n\n"+table.Markdown())
}
