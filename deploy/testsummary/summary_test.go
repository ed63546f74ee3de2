package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// module writes Go files into a module of their own and goes there.
func module(t *testing.T, files map[string]string) {
	t.Helper()
	root := t.TempDir()
	files["go.mod"] = "module example\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
}

func run(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	var b strings.Builder
	code, err := test(args, &b)
	if err != nil {
		t.Fatal(err)
	}
	return code, b.String()
}

func lastLine(out string) string {
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	return lines[len(lines)-1]
}

func TestPassingRunPrintsOneLinePerPackageAndTotals(t *testing.T) {
	module(t, map[string]string{
		"a/a_test.go": `package a
import "testing"
func TestOne(t *testing.T) { t.Log("chatter") }
func TestTwo(t *testing.T) { t.Run("x", func(t *testing.T) {}); t.Run("y", func(t *testing.T) {}) }
`,
		"b/b.go": "package b\n",
	})
	code, out := run(t, "./...")
	if code != 0 || lastLine(out) != "3 passed, 0 failed" {
		t.Fatalf("status %d:\n%s", code, out)
	}
	if !strings.Contains(out, "ok  \texample/a\t") || !strings.Contains(out, "example/b\t[no test files]") || strings.Contains(out, "chatter") {
		t.Fatalf("want one line for each package and nothing of what passed:\n%s", out)
	}
}

func TestEveryKindOfFailureIsCountedAndShownInFull(t *testing.T) {
	module(t, map[string]string{
		"fails/fails_test.go": `package fails
import "testing"
func TestGood(t *testing.T) {}
func TestBad(t *testing.T) { t.Log("first of two lines"); t.Error("second of two lines") }
func TestOuter(t *testing.T) { t.Run("inner", func(t *testing.T) { t.Error("inside") }) }
func TestOwn(t *testing.T) { t.Run("fine", func(t *testing.T) {}); t.Error("after its subtest") }
`,
		"panics/panics_test.go": `package panics
import "testing"
func TestPanic(t *testing.T) { panic("out of the blue") }
`,
		"exits/exits_test.go": `package exits
import ("fmt"; "os"; "testing")
func TestMain(m *testing.M) { m.Run(); fmt.Println("leaked a goroutine"); os.Exit(1) }
func TestFine(t *testing.T) {}
`,
		"broken/broken_test.go": `package broken
import "testing"
func TestBroken(t *testing.T) { undefined() }
`,
	})
	code, out := run(t, "./...")
	// fails: Good and Own/fine; exits: Fine.
	if code == 0 || lastLine(out) != "3 passed, 6 failed" {
		t.Fatalf("status %d:\n%s", code, out)
	}
	for _, want := range []string{
		"first of two lines", "second of two lines", "failed: example/fails TestBad\n",
		"inside", "failed: example/fails TestOuter/inner\n",
		"after its subtest", "failed: example/fails TestOwn\n",
		"out of the blue", "failed: example/panics TestPanic\n",
		"leaked a goroutine", "failed: example/exits\n",
		"undefined: undefined", "failed: example/broken\n",
		"FAIL\texample/fails\t",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not told:\n%s", want, out)
		}
	}
	if strings.Contains(out, "failed: example/fails TestOuter\n") {
		t.Errorf("a test that failed through its subtest alone is counted twice:\n%s", out)
	}
}

func TestSkippedTestFailsThePassingRun(t *testing.T) {
	module(t, map[string]string{"a/a_test.go": `package a
import "testing"
func TestGood(t *testing.T) {}
func TestSkipped(t *testing.T) { t.Skip("no database here") }
func FuzzParse(f *testing.F) { f.Add("x"); f.Fuzz(func(t *testing.T, s string) { t.Skip("not our format") }) }
`})
	code, out := run(t, "./...")
	if code != 1 || lastLine(out) != "1 passed, 1 failed" || !strings.Contains(out, "example/a TestSkipped: a_test.go:4: no database here\n") {
		t.Fatalf("status %d:\n%s", code, out)
	}
}

func TestRunWithoutTestsFails(t *testing.T) {
	module(t, map[string]string{"a/a.go": "package a\n"})
	code, out := run(t, "./...")
	if code != 1 || lastLine(out) != "0 passed, 0 failed" || !strings.Contains(out, "no test ran") {
		t.Fatalf("status %d:\n%s", code, out)
	}
}

func TestBuildErrorIsAFailure(t *testing.T) {
	module(t, map[string]string{"a/a.go": "package a\n"})
	var b strings.Builder
	if code, err := test([]string{"-no-such-flag"}, &b); code == 0 {
		t.Fatalf("status 0, %v:\n%s", err, b.String())
	}
}

func TestPackageThatNeverEndedIsAFailure(t *testing.T) {
	var b strings.Builder
	s := newSummary(&b)
	stream := `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestHangs"}
not an event
{"Action":"output","Package":"p","Test":"TestHangs","Output":"=== RUN TestHangs\n"}`
	lines, err := follow(strings.NewReader(stream), s, func() time.Duration { return 0 })
	if err != nil || lines != 4 {
		t.Fatalf("%d lines, %v; want all 4, the last without its newline", lines, err)
	}
	s.stillRunning(time.Minute)
	if code := s.close(0, time.Minute); code != 1 {
		t.Fatalf("status %d:\n%s", code, b.String())
	}
	for _, want := range []string{"not an event\n", "... 1m0s: 0 packages done, 0 tests passed, 0 failed; in p TestHangs\n", "unfinished: p TestHangs\n", "0 passed, 1 failed\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not told:\n%s", want, b.String())
		}
	}
}
