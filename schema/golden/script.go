package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// PlayTraces plays each script testdata/*.trace with its own start. play takes a line and
// returns its output in indented lines.
func PlayTraces(t *testing.T, start func(t *testing.T) (play func(line string) string)) {
	t.Helper()
	CheckScripts(t, "testdata/*.trace", func(t *testing.T, script string) string {
		play := start(t)
		return RewriteOutput(script, func(line string) (before, after string) { return "", play(line) })
	})
}

// ConcatTraces returns the concatenated output of every script testdata/*.trace without
// comparing it.
func ConcatTraces(t *testing.T, start func(t *testing.T) (play func(line string) string)) string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.trace")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in testdata: %v", err)
	}
	var out strings.Builder
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		play := start(t)
		out.WriteString(RewriteOutput(string(script), func(line string) (before, after string) { return "", play(line) }))
	}
	return out.String()
}

// CheckScripts runs each file that matches pattern and compares the result with the file.
func CheckScripts(t *testing.T, pattern string, run func(t *testing.T, script string) string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			Compare(t, file, run(t, string(script)))
		})
	}
}

// RewriteOutput returns the script with new output: before and after each line, what play
// returns for it. Blank lines and comments (#) are kept and not played.
func RewriteOutput(script string, play func(line string) (before, after string)) string {
	var out strings.Builder
	for line := range strings.Lines(script) {
		if strings.HasPrefix(line, " ") {
			continue
		}
		line = strings.TrimSpace(line)
		var before, after string
		if line != "" && line[0] != '#' {
			before, after = play(line)
		}
		out.WriteString(before + line + "\n" + after)
	}
	return out.String()
}

// Timed parses a line with a time, a word and arguments.
func Timed(t testing.TB, line string) (at time.Duration, what string, args []string) {
	t.Helper()
	words := strings.Fields(line)
	if len(words) < 2 {
		t.Fatalf("%q: want a time and a word", line)
	}
	at, err := time.ParseDuration(words[0])
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return at, words[1], words[2:]
}
