package api

import (
	"encoding/json"
	"testing"
)

// A robot publishes the reason of a pause, whichever client sent it.
func TestReasonIsAnArgumentOfVerbsThatTakeIt(t *testing.T) {
	for _, c := range []struct{ verb, args, why, want string }{
		{"auto/pause", "", "a speech", `{"why":"a speech"}`},
		{"auto/pause", `{"why":"lunch"}`, "a speech", `{"why":"lunch"}`},
		{"auto/pause", "", "", ""},
		{"mode/set", `{"mode":"ato"}`, "a speech", `{"mode":"ato"}`},
		{"auto/pause", `7`, "a speech", `7`}, // refused later
	} {
		if got := withReason(CommandRequest{Verb: c.verb, Args: json.RawMessage(c.args), Why: c.why}); string(got) != c.want {
			t.Errorf("%s %s with the reason %q has the arguments %s, want %s", c.verb, c.args, c.why, got, c.want)
		}
	}
}
