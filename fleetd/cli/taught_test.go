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

func TestRobotShowsTaughtActsAndTheRunningRecording(t *testing.T) {
	fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		d := view.Detail{
			Robot: view.Robot{ID: "r1"},
			Acts:  &schema.Acts{Acts: []schema.ActRef{{ID: "my-bow"}, {ID: "wave"}}},
			State: &schema.State{Recording: &schema.StateRecording{Act: "nod", Holder: "fleetd", By: "ann"}},
		}
		if err := json.NewEncoder(w).Encode(d); err != nil {
			t.Error(err)
		}
	}))
	defer fleetd.Close()
	var out, errs strings.Builder
	if code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: &errs}, "v0", "robot", "get", "r1", "--server", fleetd.URL); code != 0 {
		t.Fatalf("ended with %d: %s", code, &errs)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"taught acts my-bow wave", "recording nod by ann at fleetd since "} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q:\n%s", want, out.String())
		}
	}
}
