package deploy

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// testRun runs deploy/setup/test.sh over a module with these files.
func testRun(t *testing.T, files map[string]string, args ...string) (status int, out string) {
	t.Helper()
	script, err := filepath.Abs("setup/test.sh")
	if err != nil {
		t.Fatal(err)
	}
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
	cmd := exec.Command(script, args...)
	cmd.Dir = root
	text, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

func lastLine(out string) string {
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	return lines[len(lines)-1]
}

func TestRunThatPassesEndsWithTotals(t *testing.T) {
	t.Parallel()
	status, out := testRun(t, map[string]string{
		"a/a_test.go": `package a
import ("testing"; "time")
func TestOne(t *testing.T) { t.Log("chatter") }
func TestSlow(t *testing.T) { time.Sleep(110 * time.Millisecond) }
func FuzzParse(f *testing.F) { f.Add("x"); f.Fuzz(func(t *testing.T, s string) { t.Skip("not our format") }) }
`,
		"b/b.go": "package b\n",
	}, "./...")
	if status != 0 || !strings.HasPrefix(lastLine(out), "DONE 4 tests") || strings.Contains(out, "chatter") {
		t.Fatalf("status %d:\n%s", status, out)
	}
	if !strings.Contains(out, "slowest tests:\n    example/a TestSlow ") {
		t.Errorf("the slowest test is missing:\n%s", out)
	}
}

func TestRunThatFailsCountsAndShowsFailuresInFull(t *testing.T) {
	t.Parallel()
	status, out := testRun(t, map[string]string{
		"fails/fails_test.go": `package fails
import "testing"
func TestGood(t *testing.T) {}
func TestBad(t *testing.T) { t.Log("first of two lines"); t.Error("second of two lines") }
func TestOuter(t *testing.T) { t.Run("inner", func(t *testing.T) { t.Error("inside") }) }
`,
		"panics/panics_test.go": `package panics
import "testing"
func TestPanic(t *testing.T) { panic("unexpected state") }
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
	}, "./...")
	if status == 0 || !strings.HasPrefix(lastLine(out), "DONE ") || !strings.Contains(lastLine(out), "failures") ||
		!strings.Contains(lastLine(out), "error") {
		t.Errorf("status %d: %s", status, lastLine(out))
	}
	_, end, _ := strings.Cut(out, "=== Failed")
	for _, want := range []string{"TestBad", "first of two lines", "second of two lines", "TestOuter/inner", "inside", "unexpected state",
		"leaked a goroutine", "undefined: undefined"} {
		if !strings.Contains(end, want) {
			t.Errorf("%q is missing at the end:\n%s", want, out)
		}
	}
}

// TestWebConsole logs this line for a spec that passed on its second run (RETRIES=1).
func TestRunNamesASpecThatPassedOnRetry(t *testing.T) {
	t.Parallel()
	status, out := testRun(t, map[string]string{"a/a_test.go": `package a
import "testing"
func TestWebConsole(t *testing.T) {
	t.Run("robots", func(t *testing.T) { t.Logf("passed on retry: %s: %s", "robots", "a \"quoted\" spec, with a comma") })
	t.Run("shell", func(t *testing.T) { t.Log("passed at once") })
}
`}, "./...")
	if want := "passed only on retry:\n    robots: a \"quoted\" spec, with a comma\n"; status != 0 || !strings.Contains(out, want) ||
		strings.Contains(out, "passed at once") {
		t.Errorf("status %d, want %q in\n%s", status, want, out)
	}
}

func TestRunRepeatsAFailedTestOnce(t *testing.T) {
	t.Setenv("TROUPE_TEST_RETRIES", "1")
	late := `package a
import ("os"; "testing")
func TestOuter(t *testing.T) {
	t.Run("late", func(t *testing.T) {
		if _, err := os.Stat("played"); err != nil {
			_ = os.WriteFile("played", nil, 0o644)
			t.Error("later than the test waits")
		}
	})
}
`
	status, out := testRun(t, map[string]string{"a/a_test.go": late}, "-count=1", "./...")
	if want := "passed only on retry:\n    example/a.TestOuter"; status != 0 || !strings.Contains(out, want) ||
		!strings.Contains(out, "later than the test waits") {
		t.Errorf("status %d, want %q in\n%s", status, want, out)
	}
	always := "package b\nimport \"testing\"\nfunc TestBad(t *testing.T) { t.Error(\"wrong\") }\n"
	if status, out := testRun(t, map[string]string{"b/b_test.go": always}, "./..."); status == 0 || strings.Contains(out, "passed only") {
		t.Errorf("a test that always fails is named as passed:\n%s", out)
	}
	races := "package c\nimport \"testing\"\nvar n int\nfunc TestRaces(t *testing.T) { done := make(chan bool); go func() { n++; " +
		"close(done) }(); n++; <-done }\n"
	if status, out := testRun(t, map[string]string{"c/c_test.go": races}, "-race", "./..."); status == 0 || strings.Contains(out, "2 runs") {
		t.Errorf("status %d of a test that races, want one run:\n%s", status, out)
	}
}

func TestRunThatProvesNothingFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file, text, says string
		args             []string
	}{
		"skipped test": {"a/a_test.go", "package a\nimport \"testing\"\nfunc TestGood(t *testing.T) {}\n" +
			"func TestLeftOut(t *testing.T) { t.Skip(\"no database here\") }\n",
			"skipped, which counts as failed:\n    example/a TestLeftOut\n", []string{"./..."}},
		"no test":         {"a/a.go", "package a\n", "no test passed, which proves nothing", []string{"./..."}},
		"no such package": {"a/a.go", "package a\n", "[setup failed]", []string{"./nowhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, out := testRun(t, map[string]string{c.file: c.text}, c.args...)
			if status == 0 || !strings.Contains(out, c.says) {
				t.Errorf("status %d:\n%s", status, out)
			}
		})
	}
}
