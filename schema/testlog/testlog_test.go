package testlog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// failing is a test that collects what it prints.
type failing struct {
	testing.TB
	name    string
	failed  bool
	printed []string
	cleanup []func()
}

func (f *failing) Helper()           {}
func (f *failing) Name() string      { return f.name }
func (f *failing) Failed() bool      { return f.failed }
func (f *failing) Cleanup(do func()) { f.cleanup = append(f.cleanup, do) }
func (f *failing) Logf(format string, args ...any) {
	f.printed = append(f.printed, fmt.Sprintf(format, args...))
}

// inModule makes the folder of a package in a module of its own, as that of the tests.
func inModule(t *testing.T) (root string) {
	root = t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := started
	started = filepath.Join(root, "deploy", "e2e")
	t.Cleanup(func() { started = before })
	return root
}

func TestFailedTestShowsTheEndOfALogAndKeepsAllOfIt(t *testing.T) {
	root := inModule(t)
	left := filepath.Join(root, ".cache/e2e/TestX-own_broker/r1.log")
	if err := os.MkdirAll(filepath.Dir(left), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(left, []byte("of an earlier run"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &failing{name: "TestX/own_broker"}
	w := Writer(f, "r1")
	for i := range 24_000 {
		fmt.Fprintf(w, "packet %d %s\n", i, strings.Repeat("x", i%1000))
	}
	f.failed = true
	f.cleanup[0]()
	Show(f, "r1", strings.Repeat("line\n", 51)) // it was started again
	for i, want := range []struct {
		path  string
		lines int
	}{{".cache/e2e/TestX-own_broker/r1.log", 24_000}, {".cache/e2e/TestX-own_broker/r1-2.log", 51}} {
		said := f.printed[i]
		first, _, _ := strings.Cut(said, "\n")
		if first != fmt.Sprintf("log of r1, its end; all %d lines: %s", want.lines, want.path) {
			t.Errorf("printed %q", first)
		}
		if n := strings.Count(said, "\n"); n != 1+lastLines || len(said) > 200+lastLines*(lineBytes+30) {
			t.Errorf("printed %d lines, %d bytes", n, len(said))
		}
		text, err := os.ReadFile(filepath.Join(root, want.path))
		if err != nil || strings.Count(string(text), "\n") != want.lines {
			t.Errorf("%s: %v, %d lines", want.path, err, strings.Count(string(text), "\n"))
		}
	}
}

func TestShortLogIsPrintedWithoutAFile(t *testing.T) {
	root := inModule(t)
	f := &failing{name: "TestX", failed: true}
	Show(f, "broker", "one\ntwo\n")
	Show(f, "silent", "")
	if len(f.printed) != 1 || f.printed[0] != "log of broker:\none\ntwo\n" {
		t.Errorf("printed %q", f.printed)
	}
	if _, err := os.Stat(filepath.Join(root, ".cache")); !os.IsNotExist(err) {
		t.Errorf("a folder of logs: %v", err)
	}
}

func TestTestThatPassesPrintsAndKeepsNothing(t *testing.T) {
	root := inModule(t)
	f := &failing{name: "TestX"}
	Show(f, "broker", strings.Repeat("line\n", 1000))
	if _, err := os.Stat(filepath.Join(root, ".cache")); !os.IsNotExist(err) || len(f.printed) > 0 {
		t.Errorf("printed %q, a folder of logs: %v", f.printed, err)
	}
}
