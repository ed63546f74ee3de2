package fsmtest

import (
	"fmt"
	"slices"
	"testing"

	"troupe/schema/fsm"
)

// CheckEveryRowIsNeeded removes each transition from the table in turn and fails the test if
// run then returns the same as with the full table. Another test compares the result of
// run with golden files, so a difference here would be a failure there. A panic of run
// counts as a difference. If events are named, only their transitions are removed.
//
// The table is changed in place and restored, so tests that use it must not run in
// parallel.
func CheckEveryRowIsNeeded[S, E comparable](t testing.TB, table *fsm.Table[S, E], run func() string, on ...E) {
	t.Helper()
	whole := *table
	defer func() { *table = whole }()
	want := run()
	for i, row := range whole {
		if len(on) > 0 && !slices.Contains(on, row.On) {
			continue
		}
		for _, from := range row.From {
			*table = without(whole, i, from)
			if got := runOrPanic(run); got == want {
				t.Errorf("no test notices that %v on %v no longer leads to %v (%s)", from, row.On, row.To, row.Why)
			}
		}
	}
}

// without returns a copy of the table in which row i does not start from from.
func without[S, E comparable](table fsm.Table[S, E], i int, from S) fsm.Table[S, E] {
	less := slices.Clone(table)
	less[i].From = slices.DeleteFunc(slices.Clone(less[i].From), func(s S) bool { return s == from })
	return less
}

func runOrPanic(run func() string) (out string) {
	defer func() {
		if r := recover(); r != nil {
			out = fmt.Sprint("panic: ", r)
		}
	}()
	return run()
}
