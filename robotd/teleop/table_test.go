package teleop

import (
	"testing"

	"troupe/schema/fsm/fsmtest"
)

func TestTheTableIsSound(t *testing.T) { fsmtest.Check(t, Table, Standing, Stages) }

func TestTheTableIsDrawn(t *testing.T) { fsmtest.Drawn(t, "testdata/stick.md", Table, Standing) }
