package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"troupe/fleetd/cli"
)

func TestIncompleteStopListIsNotShownAsEmpty(t *testing.T) {
	for answer, want := range map[string]struct {
		code     int
		out, err string
	}{
		`{"ts":"2026-05-17T09:30:00Z","complete":true,"stops":[]}`:                                                               {0, "no latched stops\n", ""},
		`{"ts":"2026-05-17T09:30:00Z","complete":true,"broker":"connection refused","stops":[]}`:                                 {0, "no latched stops\n", "not connected to its broker"},
		`{"ts":"2026-05-17T09:30:00Z","complete":false,"stops":[]}`:                                                              {3, "", "may hold more stops"},
		`{"ts":"2026-05-17T09:30:00Z","complete":false,"stops":[{"id":"stop-1","level":"stop","since":"2026-05-17T09:30:00Z"}]}`: {3, "stop-1", "may hold more stops"},
	} {
		fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if _, err := io.WriteString(w, answer); err != nil {
				t.Error(err)
			}
		}))
		var out, errs strings.Builder
		code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: &errs}, "v0", "stop", "list", "--server", fleetd.URL)
		fleetd.Close()
		if code != want.code || !strings.Contains(out.String(), want.out) || want.out == "" && out.Len() > 0 || !strings.Contains(errs.String(),
			want.err) || want.err == "" && errs.Len() > 0 {
			t.Errorf("%s: ended with %d, %q and %q", answer, code, out.String(), errs.String())
		}
	}
}
