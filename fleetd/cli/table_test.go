package cli

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// rows is a table whose last line is longer than any terminal.
const rows = "AT\tROBOT\tSTATE\tRESULT\tCAUSE\tWHY\tID\n" +
	"2026-11-22 18:28:24\tr1\tREJECTED\tnot_in_control\t-\tthe sender does not have control of this robot: no client has control, so " +
	"acquire it first\t01a20484-3bad-79aa-b28c-f7993197f361\n" +
	"2026-11-22 18:28:25\tmuseum-robot-2\tSUCCEEDED\tok\t-\tthe robot says \u4f60\u597d \x1b[2J\t01a20484-3bad-79aa-b28c-f7993197f362\n" +
	"batch 7\n"

func drawn(t *testing.T, columns int, colours bool) string {
	var out strings.Builder
	w := newTable(screen{Writer: &out, columns: columns, colours: colours})
	if _, err := w.Write([]byte(rows)); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTableFitsTheTerminal(t *testing.T) {
	for _, columns := range []int{72, 80, 100, 140} {
		text := drawn(t, columns, false)
		for line := range strings.Lines(text) {
			if n := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); n > columns {
				t.Errorf("%d columns: a line has %d: %q", columns, n, line)
			}
		}
		for _, whole := range []string{"museum-robot-2", "REJECTED", "SUCCEEDED", "\nbatch 7\n"} {
			if !strings.Contains(text, whole) {
				t.Errorf("%d columns: %q is cut\n%s", columns, whole, text)
			}
		}
		if strings.Contains(text, "CAUSE") {
			t.Errorf("%d columns: an empty column takes room\n%s", columns, text)
		}
		words := strings.Join(strings.Fields(text), " ")
		for _, word := range strings.Fields("acquire it first") { // the end of the reason
			if !strings.Contains(words, word) {
				t.Errorf("%d columns: the reason lacks %q\n%s", columns, word, text)
			}
		}
	}
}

func TestPipedTableIsComplete(t *testing.T) {
	var out strings.Builder
	w := newTable(&out)
	_, _ = w.Write([]byte(rows))
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if strings.Contains(text, "\x1b") || strings.Contains(text, "…") || !strings.Contains(text, `CAUSE`) || !strings.Contains(text, "f7993197f361\n") {
		t.Errorf("a pipe gets %q", text)
	}
	if lines := strings.Split(text, "\n"); strings.Index(lines[0], "RESULT") != strings.Index(lines[1], "not_in_control") {
		t.Errorf("not aligned:\n%s", text)
	}
}

func TestColoursOfATable(t *testing.T) {
	text := drawn(t, 140, true)
	for _, want := range []string{"\x1b[31mREJECTED\x1b[0m ", "\x1b[32mSUCCEEDED\x1b[0m ", `\u001b[2J`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%q", want, text)
		}
	}
	for _, none := range []string{"NO_COLOR=1", "TERM=dumb"} {
		if (&shell{Streams: Streams{Environ: []string{none}}}).colours() {
			t.Errorf("colours with %s", none)
		}
	}
}

func TestBytesThatAreNotUTF8AreEscaped(t *testing.T) {
	var out strings.Builder
	if _, err := (sanitizingWriter{&out}).Write([]byte("\x9b2J é \ufffd\xff\n")); err != nil || out.String() != "\\x9b2J é \ufffd\\xff\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
