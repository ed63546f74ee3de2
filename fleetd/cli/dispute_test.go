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
)

func TestDisputedNameIsShown(t *testing.T) {
	fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		twins := view.Robot{ID: "r1", Adopted: true, Presence: view.Presence{Status: "lost",
			Why: "its connection broke; two robots connect under this name", Disputed: true}}
		var answer any
		switch {
		case strings.HasSuffix(r.URL.Path, "/version"):
			answer = api.Status{Name: "fleetd", Broker: api.Health{OK: true}, Disputed: "another client connects under the name fleetd",
				Leadership: api.Leadership{Leader: "fleetd-a", Why: "fleetd-a leads"}}
		case strings.HasSuffix(r.URL.Path, "/r1"):
			answer = view.Detail{Robot: twins}
		default:
			answer = map[string]any{"robots": []view.Robot{twins}, "disputed": "another client connects under the name fleetd"}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	defer fleetd.Close()
	for line, want := range map[string][]string{
		"robot list": {"r1     lost (name used by two robots)", "warning: another client connects under the name fleetd",
			"start it with another --name"},
		"robot get r1": {"two robots connect under this name"},
		"version":      {"DISPUTED: another client connects under the name fleetd", "leader: fleetd-a"},
	} {
		var out strings.Builder
		if code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: &out}, "v0", append(strings.Fields(line), "--server",
			fleetd.URL)...); code != 0 {
			t.Errorf("fleetd %s ended with %d", line, code)
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("fleetd %s does not say %q:\n%s", line, w, out.String())
			}
		}
	}
}
