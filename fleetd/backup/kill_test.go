package backup_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"troupe/fleetd/backup"
)

// killedDatabase names the database of the process that beKilled is.
const killedDatabase = "TROUPE_TEST_KILLED"

// beKilled makes backups of a database and restores them over another one until it is killed. It prints a byte at each step.
func beKilled(address string) {
	dir := filepath.Dir(strings.TrimPrefix(address, "sqlite:"))
	path := filepath.Join(dir, "museum.backup")
	o := restoreOptions("sqlite:" + filepath.Join(dir, "target", "fleet.db"))
	o.Replace = true
	step := func(string, int64, int64) { _, _ = os.Stdout.Write([]byte{'.'}) }
	from := options(address)
	o.Progress, from.Progress = step, step
	for {
		_, err := backup.Make(context.Background(), path, from)
		if err == nil {
			_, err = backup.Restore(context.Background(), path, o)
		}
		if err != nil {
			println(err.Error())
			os.Exit(1)
		}
	}
}

func TestKilledBackupLeavesAWholeFileOrNone(t *testing.T) {
	address := filled(t)
	dir := filepath.Dir(strings.TrimPrefix(address, "sqlite:"))
	path, target := filepath.Join(dir, "museum.backup"), filepath.Join(dir, "target", "fleet.db")
	for range kills {
		killed := exec.CommandContext(t.Context(), os.Args[0])
		killed.Env = append(os.Environ(), killedDatabase+"="+address)
		var said strings.Builder
		killed.Stderr = &said
		steps, err := killed.StdoutPipe()
		if err == nil {
			err = killed.Start()
		}
		if err == nil {
			_, err = io.CopyN(io.Discard, steps, 1+rand.Int64N(16))
		}
		if err != nil {
			t.Fatal(err, said.String())
		}
		_ = killed.Process.Kill()
		_ = killed.Wait()
		if said.Len() > 0 {
			t.Fatal(said.String())
		}
		if _, _, err := backup.VerifySealed(t.Context(), path, passphrase, nil); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the backup: %v", err)
		}
		if _, err := os.Stat(target); err == nil {
			if got := labels(t, "sqlite:"+target); got != "first" {
				t.Errorf("the restored database has %q", got)
			}
		}
	}
	// The next backup removes what the killed ones left.
	if _, err := backup.Make(t.Context(), path, options(address)); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(dir)
	for _, f := range left {
		if strings.Contains(f.Name(), ".copy-") || strings.Contains(f.Name(), ".partial") {
			t.Errorf("left is %s", f.Name())
		}
	}
	if err != nil {
		t.Error(err)
	}
}
