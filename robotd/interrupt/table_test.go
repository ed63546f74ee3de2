package interrupt

import (
	"testing"
	"time"

	"troupe/schema/fsm/fsmtest"
)

func TestTablesAreSound(t *testing.T) {
	fsmtest.Check(t, Table, Requested, Stages, Ends...)
	fsmtest.Check(t, SwitchTable, SuspendedAllowed, Switches)
}

func TestTablesMatchDiagrams(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/interrupt.md", Table, Requested)
	fsmtest.CheckDiagram(t, "testdata/interrupter.md", SwitchTable, SuspendedAllowed)
}

func TestInvalidRegistriesAreReported(t *testing.T) {
	sound := Defaults()
	if faults := sound.Check(); len(faults) > 0 {
		t.Errorf("the defaults have errors: %q", faults)
	}
	for name, spoil := range map[string]func(*Registry){
		"same handler":     func(r *Registry) { r.Handlers = append(r.Handlers, Handler{ID: "power"}) },
		"no name":          func(r *Registry) { r.Handlers[0].ID = "" },
		"deadline":         func(r *Registry) { r.Handlers[0].Deadline = -time.Second },
		"same interrupter": func(r *Registry) { r.Interrupters = append(r.Interrupters, "ai") },
		"too many": func(r *Registry) {
			for i := range MaxHandlers {
				r.Handlers = append(r.Handlers, Handler{ID: string(rune('a' + i))})
			}
		},
	} {
		r := Defaults()
		spoil(&r)
		if faults := r.Check(); len(faults) != 1 {
			t.Errorf("%s: got %q", name, faults)
		}
	}
}
