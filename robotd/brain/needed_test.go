package brain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/robotd/mode"
	"troupe/schema/fsm/fsmtest"
)

// What a guard finds in a mode reaches each row of the supervisor that is about it.
func TestTracesOfFailedModesNeedEveryTransition(t *testing.T) {
	files, err := filepath.Glob("testdata/mode-*.trace")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	replays := func() string {
		var b strings.Builder
		for _, file := range files {
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(replay(t, string(script)))
		}
		return b.String()
	}
	fsmtest.CheckEveryRowIsNeeded(t, &mode.Table, replays, mode.OnDied, mode.OnStartFailed, mode.OnSafeFailed)
	fsmtest.CheckEveryRowIsNeeded(t, &mode.StatusTable, replays, mode.StatusDied, mode.StatusFailed)
}
