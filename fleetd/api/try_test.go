package api

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/change"
	"troupe/fleetd/library"
	"troupe/fleetd/store/storetest"
	"troupe/schema/score"
)

// TestTrialPerformsTheActionsThatAreNamed names actions of an act whose text is not in the order of
// their starts.
func TestTrialPerformsTheActionsThatAreNamed(t *testing.T) {
	text := []byte(`
act: hello
name: {en: Hello}
actions:
  - {type: say, start_ms: 2000, text: {en: second}, timeout_ms: 1000}
  - {type: say, start_ms: 0, text: {en: first}, timeout_ms: 1000}
  - type: group
    start_ms: 4000
    actions:
      - {type: say, start_ms: 2000, text: {en: fourth}, timeout_ms: 1000}
      - {type: say, start_ms: 0, text: {en: third}, timeout_ms: 1000}
`)
	for _, c := range []struct {
		only []string
		want string
	}{
		{[]string{"/actions/0"}, "second"},
		{[]string{"/actions/1"}, "first"},
		{[]string{"/actions/2/actions/0"}, "fourth"},
		{[]string{"/actions/0", "/actions/2/actions/1"}, "third second"},
		{nil, "first second third fourth"},
	} {
		actions, found := trialOf(library.KindAct, text, c.only, "", score.In(nil))
		if len(found) > 0 {
			t.Fatalf("%v: %v", c.only, found)
		}
		var said []string
		for _, part := range strings.Split(string(actions), `"en":"`)[1:] {
			word, _, _ := strings.Cut(part, `"`)
			said = append(said, word)
		}
		if got := strings.Join(said, " "); got != c.want {
			t.Errorf("%v: %q is performed, want %q", c.only, got, c.want)
		}
	}
}

// An author would be told to save an act that is saved.
func TestActIsNotCalledUnknownWhileTheDatabaseIsAway(t *testing.T) {
	text := `{"kind":"act","text":"act: hello\nname: {en: Hello}\nactions:\n- {type: act, act: welcome, start_ms: 0}\n"}`
	mux := http.NewServeMux()
	routes(mux, Deps{Log: slog.New(slog.DiscardHandler), Now: time.Now, Library: &change.Library{Deps: change.Deps{Store: storetest.Away}}})
	for _, path := range []string{"/library/timeline", "/robots/r1/try"} {
		r := httptest.NewRequest(http.MethodPost, Prefix+path, strings.NewReader(text))
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		Guard(mux, slog.New(slog.DiscardHandler), anyHost, rights(auth.All)).ServeHTTP(answer, r)
		if body := answer.Body.String(); answer.Code != http.StatusServiceUnavailable || !strings.Contains(body, KindDatabase.Type()) {
			t.Errorf("%s: %d %s", path, answer.Code, body)
		}
	}
}
