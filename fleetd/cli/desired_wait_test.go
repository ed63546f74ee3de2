package cli_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"troupe/fleetd/cli"
)

// The robots of the fake fleetd: r1 accepts at its second report, r2 refuses a key, r3
// belongs to another fleet, r4 never reports, r5 has it at the second attempt, and r6 reports the same revision of another fleet.
func TestDesiredWaitEndsWithWhatRobotsReported(t *testing.T) {
	reports := map[string]string{
		"r1": `{"ts":"2026-01-02T03:04:05Z","session":"s","desired_rev":7,"phase":"active","applied":{},"restart_needed":[],"rejected":[]}`,
		"r2": `{"ts":"2026-01-02T03:04:05Z","session":"s","desired_rev":7,"phase":"active","applied":{},"restart_needed":[],"rejected":[{"key":"interrupts.rules","reason":"invalid","detail":"there is no handler pat"}]}`,
		"r3": `{"desired_rev":0,"phase":"idle","reason":"wrong_fleet"}`,
		"r4": `{"desired_rev":6,"phase":"active"}`,
		"r5": `{"desired_rev":7,"phase":"active"}`,
		"r6": `{"fleet_id":"another","desired_rev":7,"phase":"active"}`,
	}
	first := map[string]string{"r1": reports["r4"], "r5": `{"desired_rev":7,"phase":"failed","reason":"fetch_failed"}`}
	asked := map[string]int{}
	fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			fmt.Fprintf(w, `{"topic":"desired_config","total":1,"updated":["%s"],"unchanged":[]}`, strings.ReplaceAll(r.Header.Get("X-Robots"), ",", `","`))
			return
		}
		id := path.Base(path.Dir(r.URL.Path))
		report := reports[id]
		if asked[id]++; asked[id] == 1 {
			report = cmp.Or(first[id], report)
		}
		fmt.Fprintf(w, `{"desired":[{"topic":"desired_mode","desired":{"rev":9},"reported":{"desired_rev":9,"phase":"active"}},{"topic":"desired_config","desired":{"rev":7,"fleet_id":"own"},"reported":%s}]}`, report)
	}))
	defer fleetd.Close()
	for _, x := range []struct {
		robots string
		code   int
		shows  string
	}{
		{"r1", 0, "active (revision 7)"},
		{"r2", 1, "interrupts.rules refused: invalid there is no handler pat"},
		{"r3", 1, "wrong_fleet"},
		{"r1,r2", 3, "active (revision 7) except interrupts.rules"},
		{"r4", 4, "active (revision 6)"},
		{"r5", 0, "active (revision 7)"},
		{"r6", 1, "obeys another fleet"},
	} {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("X-Robots", x.robots)
			fleetd.Config.Handler.ServeHTTP(w, r)
		}))
		var out strings.Builder
		line := "desired config low_battery=0.3 --wait=500ms " + strings.ReplaceAll(x.robots, ",", " ")
		code := cli.Main(t.Context(), cli.Streams{Out: &out, Err: &out}, "v0", append(strings.Fields(line), "--server", proxy.URL)...)
		proxy.Close()
		if code != x.code || !strings.Contains(out.String(), x.shows) {
			t.Errorf("%s: code %d, want %d and %q in\n%s", line, code, x.code, x.shows, out.String())
		}
	}
}
