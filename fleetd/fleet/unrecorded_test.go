package fleet_test

import (
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
)

// Whoever asked was told that nobody knows; nobody sends it, and no other instance may
// wait behind it.
func TestCommandWithAnUnknownCommitIsEndedUnsent(t *testing.T) {
	w, h := hangingWorld(t)
	r := w.robot("r1")
	text := "hall-of-mirrors"
	h.commit.Store(&text)
	p, _ := w.answered("POST", "/commands", `{"verb":"mode/set","args":{"mode":"ato"},"selector":{"ids":["r1"]},"why":"`+text+`"}`)
	if p == nil || !p.Of(api.KindOutcome) {
		t.Fatalf("a command whose commit was not answered: %+v", p)
	}
	h.release()
	var list struct{ Commands []api.Command }
	w.within(20*time.Second, "the command is ended", func() bool {
		return w.ask("GET", "/commands", nil, &list) == nil && len(list.Commands) == 1 && list.Commands[0].State.Final()
	})
	if c := list.Commands[0]; c.State != "CANCELLED" || !strings.Contains(c.Because, "not sent: the database did not say whether it was recorded") {
		t.Errorf("it ended as %s: %s", c.State, c.Because)
	}
	if n := count(r.Received(), "mode/set"); n != 0 {
		t.Errorf("it was sent %d times", n)
	}
}
