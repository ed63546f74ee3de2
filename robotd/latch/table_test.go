package latch

import (
	"slices"
	"testing"

	"troupe/schema/fsm/fsmtest"
)

func TestTableHasNoErrors(t *testing.T) {
	fsmtest.Check(t, Table, Free, Phases)
}

func TestTableDiagramIsCurrent(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/latch.md", Table, Free)
}

func TestOnlyTheFleetAndAPersonAtTheRobotRelease(t *testing.T) {
	for _, row := range Table {
		if row.To == Free && !slices.Contains([]Event{OnReleased, OnReadable, OnLocalRelease}, row.On) {
			t.Errorf("%v on %s leads to free", row.From, row.On)
		}
	}
	if _, ok := Table.Next(Recorded, OnLocalRelease); ok {
		t.Error("what fleetd holds is reset at the robot")
	}
	if _, ok := Table.Next(Unrecorded, OnReleased); ok {
		t.Error("a document that never knew of a stop releases it")
	}
}
