// Package golden is for tests: it compares what came out with what is kept in a
// file, and plays scripts whose lines are followed by what they led to.
//
// A script is read by people first. A line is something that happens; the
// indented lines below it are what was decided, and are what a run writes anew.
// What the words of a line mean is for each room to say.
//
// Its flag -update writes the files instead of comparing with them. The diff is
// then the change of behaviour, to be read before it is committed.
package golden

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Updating tells whether files are to be written anew, for what one comparison
// of two texts cannot decide.
func Updating() bool { return *update }

// Compare fails the test where the file at path does not hold what we got.
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

// difference shows the first lines that differ, with a few around them.
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
