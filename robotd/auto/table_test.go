package auto

import (
	"testing"

	"troupe/schema"
	"troupe/schema/fsm/fsmtest"
)

func TestTableIsSound(t *testing.T) {
	fsmtest.Check(t, Table, schema.AutoNotActive, Statuses)
}

func TestTableMatchesDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/auto.md", Table, schema.AutoNotActive)
}

func TestLeaveEndsEveryStatus(t *testing.T) {
	for _, s := range []schema.AutoStatus{schema.AutoPerforming, schema.AutoPaused, schema.AutoStopped} {
		if row, ok := Table.Next(s, OnLeave); !ok || row.To != schema.AutoNotActive {
			t.Errorf("%s on leave: %v, %v", s, row.To, ok)
		}
	}
}
