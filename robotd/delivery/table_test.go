package delivery

import (
	"testing"

	"troupe/schema"
	"troupe/schema/fsm/fsmtest"
)

func TestTableIsSound(t *testing.T) {
	fsmtest.Check(t, Table, schema.DeployIdle, Phases)
}

func TestTableMatchesDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/delivery.md", Table, schema.DeployIdle)
}

func TestNewerDocumentIsAcceptedInEveryPhase(t *testing.T) {
	for _, p := range Phases {
		if p == schema.DeployVerifying || p == schema.DeployStaged {
			continue // left within the step that enters them
		}
		_, moving := Table.Next(p, OnNewer)
		_, resting := Table.Next(p, OnFetch)
		if moving == resting {
			t.Errorf("%s: superseded %v, begun %v", p, moving, resting)
		}
	}
}
