package driver

import (
	"testing"

	"troupe/schema/fsm/fsmtest"
)

func TestTheTableIsSound(t *testing.T) {
	fsmtest.Check(t, Table, Idle, States)
}

func TestEveryStateButErrorLeadsToErrorOnAFault(t *testing.T) {
	for _, s := range States {
		row, ok := Table.Next(s, Faulted)
		if s != Error && (!ok || row.To != Error) {
			t.Errorf("%s on %s: %v, %v", s, Faulted, row.To, ok)
		}
	}
}

func TestOnlyAnOrderLeadsToRun(t *testing.T) {
	for _, row := range Table {
		if row.To == Run && row.On != Enabled {
			t.Errorf("%v leads to run", row.On)
		}
	}
}

func TestTheTableIsDrawn(t *testing.T) {
	fsmtest.Drawn(t, "testdata/unit.md", Table, Idle)
}
