package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// With any flag that selects robots, each argument is an activity.
func TestActivitiesAreAssignedToSelectedRobots(t *testing.T) {
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		body = string(text)
	}))
	defer server.Close()
	for _, flags := range []string{"--all", "-l site=museum", "--in-mode ato", "--presence online"} {
		body = ""
		var text strings.Builder
		Main(t.Context(), Streams{Out: &text, Err: &text}, "test", strings.Fields("activity assign greet look-around --wait=0 --server "+
			server.URL+" "+flags)...)
		if !strings.Contains(body, `"activities":["greet","look-around"]`) {
			t.Errorf("%s: the request is %q: %s", flags, body, text.String())
		}
	}
}
