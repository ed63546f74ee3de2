package latch

import (
	"slices"
	"testing"

	"troupe/schema/fsm/fsmtest"
)

func TestTheTableIsSound(t *testing.T) {
	fsmtest.Check(t, Table, Free, Phases)
}

func TestTheTableIsDrawn(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/latch.md", Table, Free)
}

func TestOnlyTheFleetAndSomebodyAtTheRobotLetGo(t *testing.T) {
	for _, row := range Table {
		if row.To == Free && !slices.Contains([]Event{OnDropped, OnLegible, OnReset}, row.On) {
			t.Errorf("%v on %s leads to free", row.From, row.On)
		}
	}
	if _, ok := Table.Next(Written, OnReset); ok {
		t.Error("what fleetd holds is reset at the robot")
	}
	if _, ok := Table.Next(Loose, OnDropped); ok {
		t.Error("a document that never knew of a stop releases it")
	}
}
