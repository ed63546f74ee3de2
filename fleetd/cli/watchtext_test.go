package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestWatchSaysWhatTheRobotSays looks acts up in the revision that the robot performs, with the
// parameters of its steps.
func TestWatchSaysWhatTheRobotSays(t *testing.T) {
	const say = `"name":{"en":"Tea time"},"parameters":{"place":{"type":"string","default":"the café"}},"actions":[{"type":"say","start_ms":0,"timeout_ms":3000,"text":{"en":"Tea at ${place}"}}]`
	answers := map[string]string{
		"/api/v1/robots/r1": `{"id":"r1","caps":{"languages":["en"]},"story":{"id":"tour","rev":2}}`,
		"/api/v1/stories/tour/revisions/2": `{"schema":1,"rev":2,"story":{"story":"tour","name":{"en":"Tour"},"repeat":"loop","acts":[{"act":"tea","with":{"place":"the garden"}},{"act":"tea"},{"act":"tea-2","with":{"place":"the hall"}}]},` +
			`"acts":{"tea":{"act":"tea",` + say + `},"tea-2":{"act":"tea-2",` + say + `}}}`,
		"/api/v1/acts/tea":             `{"kind":"act","id":"tea","rev":3,"draft":"act: tea\nactions: [{type: say, start_ms: 0, timeout_ms: 3000, text: {en: a draft}}]"}`,
		"/api/v1/acts/tea/revisions/3": `{"act":"tea",` + say + `}`,
	}
	fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = w.Write([]byte(body))
	}))
	defer fleetd.Close()
	w := &watcher{sh: &shell{Streams: Streams{Out: new(strings.Builder), Err: new(strings.Builder)}, server: fleetd.URL}}
	for _, c := range []struct {
		what, story, act string
		want             actText
	}{
		{"one step", "tour", "tea-2", actText{"Tea time", "Tea at the hall"}},
		{"two steps that say different things", "tour", "tea", actText{name: "Tea time"}},
		{"outside the story", "", "tea", actText{"Tea time", "Tea at the café"}},
		{"unknown", "tour", "none", actText{name: "none"}},
	} {
		if got := w.readAct(t.Context(), "r1", c.story, c.act); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
}
