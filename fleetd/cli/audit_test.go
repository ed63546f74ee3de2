package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/fleetd/cli"
)

// auditOf returns a chain of entries.
func auditOf(notes ...audit.Note) (all []audit.Entry) {
	var head audit.Head
	for i, n := range notes {
		e := audit.Entry{ID: string(rune('a' + i)), At: time.Date(2026, 5, 17, 9, 30, i, 123456000, time.UTC), Note: n}
		head = e.Link(head)
		all = append(all, e)
	}
	return all
}

func runCLI(t *testing.T, args ...string) (code int, out, errs string) {
	var o, e strings.Builder
	code = cli.Main(t.Context(), cli.Streams{Out: &o, Err: &e}, "v0", args...)
	return code, o.String(), e.String()
}

func TestAuditListFollowsPages(t *testing.T) {
	var asked []string
	fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Query().Get("who")+" "+r.URL.Query().Get("page_token")+" by "+r.UserAgent())
		if r.URL.Query().Get("page_token") == "" {
			_, _ = w.Write([]byte(`{"entries":[{"seq":7,"at":"2026-05-17T09:30:00Z","who":"anna","principal":"token-7","via":"cli","address":"10.0.0.7","what":"label","target":"robot r1","why":"moved","detail":"hall=a","outcome":"done"}],"next":"7"}`))
			return
		}
		_, _ = w.Write([]byte(`{"entries":[{"seq":6,"at":"2026-05-17T09:29:00Z","principal":"op1","via":"mqtt","what":"command mode/set","target":"robot r1","outcome":"accepted"}]}`))
	}))
	defer fleetd.Close()
	code, out, errs := runCLI(t, "audit", "list", "--who", "a", "--server", fleetd.URL)
	if code != 0 {
		t.Fatalf("ended with %d: %s", code, errs)
	}
	lines := strings.Split(out, "\n")
	for i, want := range []string{"WHO PRINCIPAL FROM WHAT TARGET OUTCOME WHY DETAIL",
		"anna token-7 cli 10.0.0.7 label robot r1 done moved hall=a", "- op1 mqtt command mode/set robot r1 accepted -"} {
		if got := strings.Join(strings.Fields(lines[i]), " "); !strings.HasSuffix(got, want) {
			t.Errorf("line %d is %q, want %q at its end", i, got, want)
		}
	}
	if got := strings.Join(asked, ", "); got != "a  by fleetd/v0, a 7 by fleetd/v0" {
		t.Errorf("asked %s", got)
	}
}

func TestAuditExportIsVerifiedOffline(t *testing.T) {
	chain := auditOf(audit.Note{Who: "anna", What: "label", Target: "robot <b>"}, audit.Note{Who: "bén", What: "release", Why: "=1+1"},
		audit.Note{What: "stop"})
	write := func(entries ...audit.Entry) string {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, e := range entries {
			if err := audit.WriteLine(f, e); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	changed := chain[1]
	changed.Who = "eve"
	for name, test := range map[string]struct {
		file string
		args []string
		code int
		says string
	}{
		"whole":       {write(chain...), nil, 0, "intact: 3 entries, 1 to 3\nhead 3:" + chain[2].Hash},
		"changed":     {write(chain[0], changed, chain[2]), nil, 1, "BROKEN at entry 2 b: its hash is not that of its contents"},
		"removed":     {write(chain[0], chain[2]), nil, 1, "BROKEN at entry 3 c: it does not follow entry 1"},
		"begins late": {write(chain[1:]...), nil, 1, "BROKEN at entry 2 b: entries before it are missing"},
		"partial":     {write(chain[1:]...), []string{"--partial"}, 0, "intact: 2 entries, 2 to 3"},
		"end removed": {write(chain[:2]...), []string{"--head", "3:" + chain[2].Hash}, 1,
			"BROKEN at entry 3: this entry was noted earlier and is missing"},
		"end not removed": {write(chain...), []string{"--head", "2:" + chain[1].Hash}, 0, "intact: 3"},
		"replaced": {write(chain...), []string{"--head", "2:" + chain[0].Hash}, 1,
			"BROKEN at entry 2 b: its hash is not the one that was noted"},
		"not a chain at all": {filepath.Join("testdata", "script", "points.txtar"), nil, 1, ""},
	} {
		code, out, errs := runCLI(t, append([]string{"audit", "verify", test.file}, test.args...)...)
		if code != test.code || !strings.HasPrefix(out, test.says) {
			t.Errorf("%s: code %d, %q %s, want %d %q", name, code, out, errs, test.code, test.says)
		}
	}
}
