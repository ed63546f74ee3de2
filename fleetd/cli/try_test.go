package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/cli"
	"troupe/fleetd/command"
	"troupe/schema"
)

func TestInterruptedTrialStopsTheRobotAndSaysWhetherItHas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bow.yaml")
	if err := os.WriteFile(file, []byte("act: bow\nactions:\n- {type: face, start_ms: 0, end_ms: 1000, face: calm}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		during string // the request that Ctrl-C interrupts
		state  command.State
		answer *schema.Ack
		code   int
		says   string
	}{
		{"/batches/", command.Succeeded, &schema.Ack{Status: schema.StatusSucceeded}, 0, "r1 has stopped"},
		{"/try", command.Succeeded, &schema.Ack{Status: schema.StatusSucceeded}, 0, "r1 has stopped"},
		{"/batches/", command.Sent, nil, 4, "r1 may still perform it: manual/stop: sent; fleetd stop r1 stops it"},
		{"/batches/", command.Rejected, &schema.Ack{Status: schema.StatusRejected, Reason: schema.ReasonForbidden}, 6,
			"r1 may still perform it: manual/stop: rejected forbidden; fleetd stop r1 stops it"},
	} {
		ctx, interrupt := context.WithCancel(t.Context())
		var sent []string
		fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body) // all of it, so that the server notices when the client closes the connection
			if err != nil {
				t.Error(err)
			}
			running := api.Batch{ID: "b1", Total: 1, Outcome: command.OutcomeRunning, Commands: []api.Command{{Robot: "r1", State: command.Sent}}}
			var answer any = running
			if strings.HasSuffix(r.URL.Path, "/try") {
				answer = api.Tried{Perform: running}
			}
			if strings.HasSuffix(r.URL.Path, "/commands") {
				var request api.CommandRequest
				if err := json.Unmarshal(body, &request); err != nil {
					t.Error(err)
				}
				sent = append(sent, request.Verb)
				answer = api.Batch{ID: "b2", Total: 1, Outcome: command.Summarise([]command.State{c.state}).Outcome,
					Commands: []api.Command{{Robot: "r1", State: c.state, Answer: c.answer}}}
			}
			if strings.Contains(r.URL.Path, c.during) {
				interrupt()
				<-r.Context().Done() // the request is abandoned
			}
			if err := json.NewEncoder(w).Encode(answer); err != nil {
				t.Error(err)
			}
		}))
		var out strings.Builder
		code := cli.Main(ctx, cli.Streams{Out: &out, Err: &out}, "v0", "act", "try", "-f", file, "--robot", "r1", "--server", fleetd.URL)
		fleetd.Close()
		interrupt()
		if code != c.code || !strings.Contains(out.String(), c.says) || !slices.Equal(sent, []string{"manual/stop", "control/release"}) {
			t.Errorf("interrupted in %s, with the stop %s: exit code %d, sent %q:\n%s", c.during, c.state, code, sent, out.String())
		}
	}
}
