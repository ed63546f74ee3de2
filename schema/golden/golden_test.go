package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// notes is a testing.TB that only records its failures.
type notes struct {
	testing.TB
	failures []string
}

func (n *notes) Helper() {}
func (n *notes) Errorf(format string, a ...any) {
	n.failures = append(n.failures, fmt.Sprintf(format, a...))
}

// goldenFile writes a golden file and unsets -update for the test.
func goldenFile(t *testing.T, text string) string {
	was := *update
	t.Cleanup(func() { *update = was })
	*update = false
	path := filepath.Join(t.TempDir(), "it.trace")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOnlyEqualTextPasses(t *testing.T) {
	const text = "one\ntwo\nthree\n"
	for _, got := range []string{text, "", "one\n", "one\ntwo\nthree", "one\ntwo\nfour\n", text + "\n"} {
		n := notes{TB: t}
		Compare(&n, goldenFile(t, text), got)
		if failed := len(n.failures) > 0; failed != (got != text) {
			t.Errorf("%q: failed %v", got, failed)
		}
	}
}

func TestFailureShowsFirstDifference(t *testing.T) {
	n := notes{TB: t}
	Compare(&n, goldenFile(t, strings.Repeat("same\n", 9)+"was\n"), strings.Repeat("same\n", 9)+"is\n")
	if said := strings.Join(n.failures, ""); !strings.Contains(said, "line 10, got:\nsame\nsame\nsame\nis\n\nwant:\nsame\nsame\nsame\nwas\n") {
		t.Errorf("got %s", said)
	}
}

func TestMissingFileFails(t *testing.T) {
	n := notes{TB: t}
	Compare(&n, goldenFile(t, "")+".gone", "")
	if len(n.failures) != 1 || !strings.Contains(n.failures[0], "-update") {
		t.Errorf("got %q", n.failures)
	}
}

func TestUpdateWritesTheFile(t *testing.T) {
	path, n := goldenFile(t, "old"), notes{TB: t}
	*update = true // goldenFile restores it
	Compare(&n, path, "new")
	if text, err := os.ReadFile(path); err != nil || string(text) != "new" || len(n.failures) > 0 {
		t.Errorf("%q holds %q, %v; %q", path, text, err, n.failures)
	}
}

func TestReplayRewritesOnlyOutput(t *testing.T) {
	const script = "# why\n\n1s go  \n  stale\n2s stop\n  stale\n  stale"
	var played []string
	got := RewriteOutput(script, func(line string) (before, after string) {
		played = append(played, line)
		return "  before\n", "  = " + line + "\n"
	})
	if want := "# why\n\n  before\n1s go\n  = 1s go\n  before\n2s stop\n  = 2s stop\n"; got != want {
		t.Errorf("got:\n%s", got)
	}
	if len(played) != 2 {
		t.Errorf("played %q", played)
	}
}

func TestTimedParsesLine(t *testing.T) {
	at, what, args := Timed(t, "1.5s press  pad hard")
	if at != 1500*time.Millisecond || what != "press" || strings.Join(args, ",") != "pad,hard" {
		t.Errorf("got %v %s %q", at, what, args)
	}
}
