package driver

import (
	"testing"

	"troupe/schema/fsm/fsmtest"
)

func TestTableIsSound(t *testing.T) {
	fsmtest.Check(t, Table, Idle, States)
}

func TestFaultLeadsToErrorFromEveryState(t *testing.T) {
	for _, s := range States {
		row, ok := Table.Next(s, Faulted)
		if s != Error && (!ok || row.To != Error) {
			t.Errorf("%s on %s: %v, %v", s, Faulted, row.To, ok)
		}
	}
}

func TestOnlyEnableLeadsToRun(t *testing.T) {
	for _, row := range Table {
		if row.To == Run && row.On != Enabled {
			t.Errorf("%v leads to run", row.On)
		}
	}
}

func TestTableMatchesItsDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/unit.md", Table, Idle)
}
