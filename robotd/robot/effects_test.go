package robot

import (
	"log/slog"
	"strings"
	"testing"

	"troupe/robotd/effect"
	"troupe/schema"
)

// The driver says once which units an adapter that is gone takes with it; a person who reads the
// log should not get the same sentence again for each of them.
func TestWhatTheDriverHasLoggedIsNotLoggedForEachUnit(t *testing.T) {
	for _, logged := range []bool{false, true} {
		var out strings.Builder
		h := &effectRunner{ctx: t.Context(), log: slog.New(slog.NewTextHandler(&out, nil))}
		h.note(effect.LogTransition{Machine: "diagnosis", From: "normal", To: "disabled", Why: "parrot: the adapter is gone", Cause: "head",
			LoggedByDriver: logged})
		h.logAlert(effect.LogAlert{Level: schema.AlertError, Type: "unit_error", Source: "head", Detail: "unit head: parrot: the adapter is gone",
			LoggedByDriver: logged})
		if n := strings.Count(out.String(), "\n"); n != 2 && !logged || n != 0 && logged {
			t.Errorf("logged already: %t, and there are %d lines:\n%s", logged, n, out.String())
		}
	}
}
