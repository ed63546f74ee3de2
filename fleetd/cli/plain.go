package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"troupe/schema"
)

// plain writes what unknown clients have said so that a terminal shows it and obeys none
// of it: what is no printable character is written as JSON writes it, but for the
// ends of lines and tabs.
type plain struct{ io.Writer }

func (p plain) Write(b []byte) (int, error) {
	var out bytes.Buffer
	for rest := b; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		switch at := rest[:n]; {
		case r == '\n', r == '\t', r == utf8.RuneError, schema.Printable(string(at)):
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

// raw is what plain writes to: for what the program itself draws.
func raw(w io.Writer) io.Writer {
	if p, ok := w.(plain); ok {
		return p.Writer
	}
	return w
}

// widest is how many characters a cell of a table has at most.
const widest = 160

// row writes one line of a table. No text, whoever wrote it, makes a line or a
// column of its own.
func row(w io.Writer, cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = oneLine(fmt.Sprint(c))
	}
	fmt.Fprintln(w, strings.Join(texts, "\t"))
}

// cell is a text that keeps to its place in a table.
func cell(s string) string {
	s = oneLine(s)
	if utf8.RuneCountInString(s) > widest {
		s = string([]rune(s)[:widest-1]) + "…"
	}
	return s
}

func oneLine(s string) string { return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(s) }
