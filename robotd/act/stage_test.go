package act

import (
	"testing"

	"troupe/schema/fsm/fsmtest"
)

func TestTheTableIsSound(t *testing.T) {
	fsmtest.Check(t, Table, Pending, Stages, Missed, Cancelled, Failed)
}

func TestTheTableIsDrawn(t *testing.T) {
	fsmtest.Drawn(t, "testdata/stages.md", Table, Pending)
}
