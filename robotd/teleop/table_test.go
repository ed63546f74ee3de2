package teleop

import (
	"testing"

	"troupe/schema/fsm/fsmtest"
)

func TestTableIsSound(t *testing.T) { fsmtest.Check(t, Table, Standing, Stages) }

func TestTableMatchesDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/stick.md", Table, Standing)
}
