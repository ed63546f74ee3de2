package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// notes is a test that only writes down why it failed.
type notes struct {
	testing.TB
	said []string
}

func (n *notes) Helper()                        {}
func (n *notes) Errorf(format string, a ...any) { n.said = append(n.said, fmt.Sprintf(format, a...)) }

// kept is a golden file of one test, whatever flags the run was given.
func kept(t *testing.T, text string) string {
	was := *update
	t.Cleanup(func() { *update = was })
	*update = false
	path := filepath.Join(t.TempDir(), "it.trace")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOnlyTheSameTextPasses(t *testing.T) {
	const text = "one\ntwo\nthree\n"
	for _, got := range []string{text, "", "one\n", "one\ntwo\nthree", "one\ntwo\nfour\n", text + "\n"} {
		n := notes{TB: t}
		Compare(&n, kept(t, text), got)
		if failed := len(n.said) > 0; failed != (got != text) {
			t.Errorf("%q: failed %v", got, failed)
		}
	}
}

func TestAFailureShowsTheFirstLineThatDiffers(t *testing.T) {
	n := notes{TB: t}
	Compare(&n, kept(t, strings.Repeat("same\n", 9)+"was\n"), strings.Repeat("same\n", 9)+"is\n")
	if said := strings.Join(n.said, ""); !strings.Contains(said, "line 10, got:\nsame\nsame\nsame\nis\n\nwant:\nsame\nsame\nsame\nwas\n") {
		t.Errorf("got %s", said)
	}
}

func TestAFileThatIsNotThereFails(t *testing.T) {
	n := notes{TB: t}
	Compare(&n, kept(t, "")+".gone", "")
	if len(n.said) != 1 || !strings.Contains(n.said[0], "-update") {
		t.Errorf("got %q", n.said)
	}
}

func TestUpdateWritesTheFile(t *testing.T) {
	path, n := kept(t, "old"), notes{TB: t}
	*update = true // kept puts it back
	Compare(&n, path, "new")
	if text, err := os.ReadFile(path); err != nil || string(text) != "new" || len(n.said) > 0 {
		t.Errorf("%q holds %q, %v; %q", path, text, err, n.said)
	}
}

func TestAReplayWritesOnlyWhatFollowsFromTheLinesAnew(t *testing.T) {
	const script = "# why\n\n1s go  \n  stale\n2s stop\n  stale\n  stale"
	var played []string
	got := Replay(script, func(line string) (before, after string) {
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

func TestATimedLine(t *testing.T) {
	at, what, args := Timed(t, "1.5s press  pad hard")
	if at != 1500*time.Millisecond || what != "press" || strings.Join(args, ",") != "pad,hard" {
		t.Errorf("got %v %s %q", at, what, args)
	}
}
