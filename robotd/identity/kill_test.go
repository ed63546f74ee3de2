package identity

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// renewUntilKilled names the environment variable that makes this test program store
// two identities in turn until it is killed.
const renewUntilKilled = "TROUPE_TEST_RENEW_UNTIL_KILLED"

func TestMain(m *testing.M) {
	if dir := os.Getenv(renewUntilKilled); dir != "" {
		if err := renewForever(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

func renewForever(dir string) error {
	var all [2]*Identity
	var chain, key [2][]byte
	for n := range all {
		from := filepath.Join(dir, fmt.Sprint(n), linkName)
		var err error
		if all[n], err = readIdentity(from); err != nil {
			return err
		}
		if chain[n], err = os.ReadFile(filepath.Join(from, chainFile)); err != nil {
			return err
		}
		if key[n], err = os.ReadFile(filepath.Join(from, keyFile)); err != nil {
			return err
		}
	}
	for n := 0; ; n = 1 - n {
		if err := save(filepath.Join(dir, "data"), all[n], chain[n], key[n]); err != nil {
			return err
		}
		fmt.Println(all[n].Serial())
	}
}

// After a kill at any time, one of the two identities is complete and its key belongs to
// its certificate.
func TestKeyAndCertificateChangeTogether(t *testing.T) {
	dir, d := t.TempDir(), newFakeFleetd(t)
	var serials []string
	for n := range 2 {
		serials = append(serials, d.must(d.enrol(filepath.Join(dir, fmt.Sprint(n)))).Serial())
	}
	for round := range 25 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), renewUntilKilled+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, last := bufio.NewScanner(out), ""
		for written := 0; lines.Scan(); written++ {
			last = lines.Text()
			if written == 2+round%3 {
				<-time.After(time.Duration(round) * 400 * time.Microsecond)                      // at another time in each round
				if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) { // SIGKILL during a change
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() > 0 {
			t.Fatalf("the writer ended by itself: %v", err)
		}
		i, err := Load(filepath.Join(dir, "data")) // Load compares key and certificate
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if s := i.Serial(); s != serials[0] && s != serials[1] {
			t.Errorf("round %d: after %s the identity is %s", round, last, s)
		}
	}
}
