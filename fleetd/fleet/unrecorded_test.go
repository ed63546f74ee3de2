package fleet_test

import (
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/store/pgtest"
)

// The sender was answered that the outcome is unknown; nobody sends it, and no other instance may
// wait behind it.
func TestCommandWithAnUnknownCommitIsEndedUnsent(t *testing.T) {
	hanging(t, func(w *world, h *pgtest.Cable) {
		r := w.robot("r1")
		text := "hall-of-mirrors"
		h.HoldCommit(text)
		p, _ := w.answered("POST", "/commands", `{"verb":"mode/set","args":{"mode":"ato"},"selector":{"ids":["r1"]},"why":"`+text+`"}`)
		if p == nil || !p.Of(api.KindOutcome) {
			w.Fatalf("a command whose commit was not answered: %+v", p)
		}
		h.Release()
		var list struct{ Commands []api.Command }
		w.within(20*time.Second, "the command is ended", func() bool {
			return w.ask("GET", "/commands", nil, &list) == nil && len(list.Commands) == 1 && list.Commands[0].State.Final()
		})
		if c := list.Commands[0]; c.State != "CANCELLED" || !strings.Contains(c.Because, "not sent: the database did not say whether it was recorded") {
			w.Errorf("it ended as %s: %s", c.State, c.Because)
		}
		if n := count(r.Received(), "mode/set"); n != 0 {
			w.Errorf("it was sent %d times", n)
		}
	})
}
