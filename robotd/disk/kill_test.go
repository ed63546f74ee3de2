package disk

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"troupe/robotd/command"
	"troupe/robotd/effect"
)

// writeUntilKilled names the environment variable that makes this test program write to
// a directory until it is killed.
const writeUntilKilled = "TROUPE_TEST_WRITE_UNTIL_KILLED"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writeUntilKilled); dir != "" {
		if err := writeForever(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// writeForever writes a record and a setting per transaction and prints the number of
// each transaction after Apply has returned.
func writeForever(dir string) error {
	d, saved, err := Open(dir)
	if err != nil {
		return err
	}
	for n := int64(len(saved.Commands)) + 1; ; n++ {
		put := effect.SaveRequests{Put: []command.Record{record(n)}}
		if err := d.Apply(put, setting("newest", fmt.Sprint(n)), effect.SaveEvent{Payload: fmt.Append(nil, n)}); err != nil {
			return err
		}
		if _, err := fmt.Println(n); err != nil {
			return err
		}
	}
}

func TestAcknowledgedWritesSurviveKill(t *testing.T) {
	dir, acknowledged := t.TempDir(), int64(0)
	for round := 1; round <= 3; round++ {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writeUntilKilled+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for written := 0; lines.Scan(); written++ {
			if _, err := fmt.Sscan(lines.Text(), &acknowledged); err != nil {
				t.Fatalf("%q: %v", lines.Text(), err)
			}
			if written == 50*round {
				if err := cmd.Process.Kill(); err != nil { // SIGKILL, in the middle of a write
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() > 0 {
			t.Fatalf("the writer ended by itself: %v", err)
		}

		d, saved, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		have := map[string]bool{}
		for _, r := range saved.Commands {
			have[r.ID] = true
		}
		for n := int64(1); n <= acknowledged; n++ {
			if !have[fmt.Sprintf("k%d", n)] {
				t.Errorf("round %d: record %d of %d was acknowledged but is lost", round, n, acknowledged)
			}
		}
		if n := int64(len(saved.Commands)); acknowledged < 50 || n > acknowledged+1 || saved.Values["newest"] != fmt.Sprint(n) {
			t.Errorf("round %d: %d acknowledged, %d records, newest %q", round, acknowledged, n, saved.Values["newest"])
		}
		if want := int64(2 * round); saved.Starts != want {
			t.Errorf("round %d: %d starts, want %d", round, saved.Starts, want)
		}
	}
}
