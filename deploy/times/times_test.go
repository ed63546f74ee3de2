package times

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestTimesAreReadAsWrittenAndAddedUp(t *testing.T) {
	at := filepath.Join(t.TempDir(), "times.tsv")
	a, b := Took{Package, "fleetd/cli", 12500 * time.Millisecond, time.Second}, Took{Target, "check", time.Second, 2 * time.Second}
	if err := os.WriteFile(at, []byte("commit\tabc\n"+a.Line()+b.Line()+a.Line()), 0o600); err != nil {
		t.Fatal(err)
	}
	got, commit, err := Read(at)
	want := All{{Package, "fleetd/cli", 25 * time.Second, 2 * time.Second}, b}
	if err != nil || commit != "abc" || !slices.Equal(got, want) {
		t.Errorf("read %v of %q, %v; want %v", got, commit, err, want)
	}
	if all, _, err := Read(filepath.Join(t.TempDir(), "none")); all != nil || err != nil {
		t.Errorf("without a record: %v, %v", all, err)
	}
}
