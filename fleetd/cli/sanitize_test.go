package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/cli"
	"troupe/fleetd/view"
	"troupe/schema"
)

// TestUntrustedTextIsEscaped lets a robot publish text that would clear the screen, start
// a new line, and reverse the writing direction.
func TestUntrustedTextIsEscaped(t *testing.T) {
	const nasty = "ann\x1b[2J\x1b]0;x\x07\nr2     online\tENABLED \u202e\u009b2J"
	fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r1 := view.Robot{ID: "r1", Presence: view.Presence{Status: "online", Why: nasty}, Safety: "STOP", StoppedBy: nasty + strings.Repeat("x",
			1000), Labels: map[string]string{"site": nasty}}
		var answer any = map[string]any{"robots": []view.Robot{r1}, "disputed": nasty}
		if strings.HasSuffix(r.URL.Path, "/r1") {
			answer = view.Detail{Robot: r1}
		} else if strings.HasSuffix(r.URL.Path, "/desired") {
			reported, err := json.Marshal(map[string]any{"desired_rev": 1, "phase": "rejected", "detail": nasty})
			if err != nil {
				t.Error(err)
			}
			answer = map[string]any{"desired": []api.DesiredState{{Topic: "desired_mode", Reported: reported}}}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer fleetd.Close()
	for line, lines := range map[string]int{"robot list": 2, "robot get r1": 0, "desired get r1": 2, "robot list -o json": 0,
		"robot get r1 -o json": 0, "robot list --no-such \x1b[2J": 0} {
		var out, errs strings.Builder
		cli.Main(t.Context(), cli.Streams{Out: &out, Err: &errs}, "v0", append(strings.Fields(line), "--server", fleetd.URL)...)
		for _, text := range []string{out.String(), errs.String()} {
			if !schema.Printable(strings.NewReplacer("\n", "", "\t", "").Replace(text)) || strings.Contains(text, "\nr2     online") {
				t.Errorf("fleetd %s:\n%q", line, text)
			}
		}
		if n := strings.Count(out.String(), "\n"); lines > 0 && n != lines {
			t.Errorf("fleetd %s has %d lines:\n%s", line, n, out.String())
		}
		if strings.HasSuffix(line, "json") && !json.Valid([]byte(out.String())) {
			t.Errorf("fleetd %s is no JSON:\n%s", line, out.String())
		}
	}
}
