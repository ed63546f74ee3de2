package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"troupe/fleetd/cli"
	"troupe/fleetd/view"
	"troupe/schema"
)

func TestLatchedStopIsNamedWithTheWayOut(t *testing.T) {
	fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r1 := view.Robot{ID: "r1", Safety: schema.SafetyDisabled, Latches: []schema.StopLatch{{ID: "stop-1"}, {ID: "lost-disk"}}}
		var answer any = map[string]any{"robots": []view.Robot{r1}}
		if strings.HasSuffix(r.URL.Path, "/r1") {
			answer = view.Detail{Robot: r1}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer fleetd.Close()
	for command, want := range map[string]string{
		"list":   "DISABLED (latched stop-1, latched lost-disk)",
		"get r1": "lost-disk: fleetd stop release lost-disk --why REASON releases it",
	} {
		var out, errs strings.Builder
		args := append([]string{"robot"}, strings.Fields(command)...)
		code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: &errs}, "v0", append(args, "--server", fleetd.URL)...)
		if code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("robot %s: status %d, without %q:\n%s%s", command, code, want, out.String(), errs.String())
		}
	}
}
