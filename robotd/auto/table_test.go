package auto

import (
	"testing"

	"troupe/schema"
	"troupe/schema/fsm/fsmtest"
)

func TestTableIsSound(t *testing.T) {
	fsmtest.Check(t, Table, schema.AutoHalt, Statuses)
}

func TestTableMatchesDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/auto.md", Table, schema.AutoHalt)
}

func TestLeaveEndsEveryStatus(t *testing.T) {
	for _, s := range []schema.AutoStatus{schema.AutoIdle, schema.AutoPaused, schema.AutoStopped} {
		if row, ok := Table.Next(s, OnLeave); !ok || row.To != schema.AutoHalt {
			t.Errorf("%s on leave: %v, %v", s, row.To, ok)
		}
	}
}
