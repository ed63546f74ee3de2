package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"troupe/schema"
)

// sanitizingWriter escapes control characters, so that untrusted text cannot control the
// terminal. It writes them as JSON does, except line feeds and tabs, and bytes that are not
// UTF-8 as \xNN: a terminal of another encoding may obey them. A write must not end within a character.
type sanitizingWriter struct{ io.Writer }

func (p sanitizingWriter) Write(b []byte) (int, error) {
	var out bytes.Buffer
	for rest := b; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch at := rest[:n]; {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&out, `\x%02x`, at[0])
		case r == '\n', r == '\t', schema.Printable(string(at)):
			out.Write(at)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
		rest = rest[n:]
	}
	if _, err := p.Writer.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}

// unsanitized returns the writer below a sanitizingWriter, for progress lines and colours.
func unsanitized(w io.Writer) io.Writer {
	switch p := w.(type) {
	case screen:
		return unsanitized(p.Writer)
	case sanitizingWriter:
		return p.Writer
	}
	return w
}

// maxCell is the limit of characters in a table cell.
const maxCell = 160

// writeRow writes one line of a table. It escapes line feeds and tabs, so that no text can
// fake a line or a column.
func writeRow(w io.Writer, cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = oneLine(fmt.Sprint(c))
	}
	fmt.Fprintln(w, strings.Join(texts, "\t"))
}

// cell makes a text fit into a table cell.
func cell(s string) string {
	s = oneLine(s)
	if utf8.RuneCountInString(s) > maxCell {
		s = string([]rune(s)[:maxCell-1]) + "…"
	}
	return s
}

var visibleBreaks = strings.NewReplacer("\n", `\n`, "\t", `\t`)

func oneLine(s string) string { return visibleBreaks.Replace(s) }
