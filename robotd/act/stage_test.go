package act

import (
	"testing"

	"troupe/schema/fsm/fsmtest"
)

func TestTableIsSound(t *testing.T) {
	fsmtest.Check(t, Table, Pending, Stages, Missed, Cancelled, Failed)
}

func TestTableMatchesDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/stages.md", Table, Pending)
}
