package score_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"troupe/schema"
	"troupe/schema/score"
)

// hostile are files that are small and ask a careless reader for much memory or time.
func hostile() map[string]string {
	many := func(n int, line string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, line, i)
		}
		return b.String()
	}
	return map[string]string{
		"aliases of a long text": "act: x\nname: &n \"" + strings.Repeat("A", 20_000) + "\"\nsteps: [" + strings.Repeat("{say: *n},", 4000) +
			"]\n",
		"aliases of aliases": "act: x\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n" +
			"c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n",
		"over the limit": "act: x\nname: &n \"" + strings.Repeat("A", 20_000) + "\"\nsteps: [" + strings.Repeat("{say: *n},", 40_000) +
			"]\n",
		"unknown fields":           "act: x\n" + many(4000, "f%d: 1\n"),
		"fields of another type":   "act: x\nactions:\n" + many(2500, "- {start_ms: x%d}\n"),
		"nested lists":             "act: x\nactions: " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "\n",
		"nested groups":            "act: x\nactions: " + strings.Repeat("{a: ", 9000) + strings.Repeat("}", 9000) + "\n",
		"a bracket without an end": "act: x\nactions: [\n" + many(5000, "{a: %d},\n"),
		"one key again and again":  "act: x\n" + strings.Repeat("a: 1\n", 12_000),
		"numbers with a zero":      "act: x\nactions: [" + strings.Repeat("05,", 20_000) + "]\n",
		"empty actions":            "act: x\nactions: [" + strings.Repeat("{},", 20_000) + "]\n",
		"JSON with unknown fields": `{"act":"x"` + many(4000, `,"f%d":1`) + "}",
	}
}

func TestReaderIsBounded(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			kind, id := score.NameOf([]byte(text))
			_, _, problems := score.CheckAct([]byte(text), nil)
			runtime.ReadMemStats(&after)
			if kind != "act" || id != "x" {
				t.Errorf("it is %s %s, want act x", kind, id)
			}
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 100 {
				t.Errorf("reading %d bytes allocated %d MiB", len(text), used)
			}
			if n := len(schema.Errors(problems)); n == 0 || n > score.MaxProblems+1 {
				t.Errorf("%d errors, want 1 to %d and one that counts the rest", n, score.MaxProblems)
			}
		})
	}
}

func TestProblemsThatAreNotListedAreCounted(t *testing.T) {
	text := "act: x\n"
	for i := range 900 {
		text += fmt.Sprintf("f%d: 1\n", i)
	}
	_, _, problems := score.CheckAct([]byte(text), nil)
	last := problems[len(problems)-1]
	if last.Code != score.CodeMore || !strings.HasPrefix(last.Detail, "800 more ") {
		t.Errorf("the last of %d problems is %v", len(problems), last)
	}
}

func TestNumbersAreReadAsWritten(t *testing.T) {
	for value, want := range map[string]string{
		"5000": "5000", "5000.0": "5000", "5e3": "5000", "5.0E+3": "5000", "+5000": "5000", "0": "0",
		"05000":  "05000 is 5000 in decimal and 2560 in octal; write 5000 or 2560; quote it if it is a text",
		"08000":  "08000 begins with 0, which marks an octal number to some programs; write 8000; quote it if it is a text",
		"00":     "00 begins with 0, which marks an octal number to some programs; write 0; quote it if it is a text",
		"0o17":   "0o17 is octal; write 15; quote it if it is a text",
		"0x10":   "0x10 is hexadecimal; write 16; quote it if it is a text",
		"0b11":   "0b11 is binary; write 3; quote it if it is a text",
		"1_000":  "1_000 is 1000 to some programs, and a text to others; write 1000; quote it if it is a text",
		".nan":   ".nan is not a number that a robot can use; write a finite number; quote it if it is a text",
		"-.inf":  "-.inf is not a number that a robot can use; write a finite number; quote it if it is a text",
		"1.5":    "1.5 is not a whole number; milliseconds are whole numbers; 1.5 seconds are 1500",
		"1:30":   `"1:30" is not a whole number; write a number of milliseconds, such as 1500`,
		`"5000"`: `"5000" is not a whole number; write it without quotes: 5000`,
	} {
		for _, text := range []string{
			"act: x\nactions:\n- {type: wait, start_ms: 0, end_ms: " + value + "}\n",
			"act: x\nactions:\n- type: wait\n  start_ms: 0\n  end_ms: " + value + " # a comment\n",
		} {
			a, problems := score.ParseAct([]byte(text))
			got := ""
			if len(problems) > 0 {
				got = problems[0].Detail + "; " + problems[0].Hint
			} else {
				got = fmt.Sprint(*a.Actions[0].EndMS)
			}
			if got != want {
				t.Errorf("%s is read as\n%s, want\n%s", value, got, want)
			}
		}
	}
}
