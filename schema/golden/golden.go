// Package golden compares the output of tests with golden files, and plays scripts whose
// lines are followed by their output.
//
// A script is written for human readers. A line is an input; the indented lines below it
// are the output and are rewritten by -update. Each package defines the words of its
// lines.
//
// The flag -update writes the files instead of comparing. The diff then shows the change
// of behaviour, which has to be reviewed before it is committed.
package golden

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Updating reports whether -update is set, for tests that compare in other ways.
func Updating() bool { return *update }

// Compare fails the test if the content of the file at path is not got.
func Compare(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Errorf("write the golden file: %v", err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("read the golden file: %v (-update writes it)", err)
		return
	}
	if got != string(want) {
		t.Errorf("%s differs; read the change, then run with -update\n%s", path, difference(got, string(want)))
	}
}

// difference returns the first lines that differ, with a few around them.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	at := 0
	for at < len(g) && at < len(w) && g[at] == w[at] {
		at++
	}
	around := func(lines []string) string {
		return strings.Join(lines[max(0, at-3):min(at+4, len(lines))], "\n")
	}
	return fmt.Sprintf("line %d, got:\n%s\nwant:\n%s", at+1, around(g), around(w))
}
