package safety

import (
	"testing"

	"troupe/schema/fsm/fsmtest"
	"troupe/schema/golden"
)

func TestTracesNeedEveryTransition(t *testing.T) {
	fsmtest.CheckEveryRowIsNeeded(t, &Table, func() string {
		return golden.ConcatTraces(t, func(t *testing.T) func(string) string {
			w := newWorld()
			return func(line string) string { return w.play(t, line) }
		})
	})
}
