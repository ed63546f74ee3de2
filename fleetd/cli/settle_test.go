package cli_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/cli"
	"troupe/fleetd/command"
	"troupe/schema"
)

// The units settle for about a second after a fault: a script that resets with --wait must not
// fail because it was faster.
func TestResetThatWaitsAsksAgainUntilTheUnitsHaveSettled(t *testing.T) {
	for _, c := range []struct {
		flags    string
		code     int
		asked    []string // robots of each request
		says     string
		unsettle int // how many requests find r1 settling
	}{
		{"--wait", 0, []string{"r1 r2", "r1", "r1"}, "r1     SUCCEEDED", 2},
		{"--wait=1ms", 3, []string{"r1 r2"}, "r1     REJECTED   reset_settling", 2},
		{"", 0, []string{"r1 r2"}, "r1     REJECTED   reset_settling", 2},
		{"--wait", 0, []string{"r1 r2"}, "r1     SUCCEEDED", 0},
	} {
		var asked []string
		fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var request api.CommandRequest
			if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
				t.Error(err)
			}
			b := api.Batch{ID: "batch-1", Verb: request.Verb, Total: len(request.Selector.IDs)}
			var states []command.State
			for _, id := range request.Selector.IDs {
				one := api.Command{Robot: id, State: command.Succeeded, Answer: &schema.Ack{Status: schema.StatusSucceeded}}
				if id == "r1" && len(asked) < c.unsettle {
					one.State = command.Rejected
					one.Answer = &schema.Ack{Status: schema.StatusRejected, Reason: schema.ReasonResetSettling,
						Detail: "the units settle for another 71 ms"}
				}
				b.Commands, states = append(b.Commands, one), append(states, one.State)
			}
			asked = append(asked, strings.Join(request.Selector.IDs, " "))
			b.Outcome = command.Summarise(states).Outcome
			if err := json.NewEncoder(w).Encode(b); err != nil {
				t.Error(err)
			}
		}))
		var out strings.Builder
		args := append([]string{"safety", "reset", "r1", "r2", "--server", fleetd.URL}, strings.Fields(c.flags)...)
		code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: &out}, "v0", args...)
		fleetd.Close()
		if code != c.code || !slices.Equal(asked, c.asked) || !strings.Contains(out.String(), c.says) {
			t.Errorf("%q: exit code %d after the requests %q:\n%s", c.flags, code, asked, out.String())
		}
	}
}
