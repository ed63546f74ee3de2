package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// screen is an output that tables fit into: the width of a terminal, and whether it shows
// colours. A pipe and a file are no screen, and get every table in full and without
// colours.
type screen struct {
	io.Writer
	columns int
	colours bool
}

// screenOf makes a writer a screen if it is a terminal.
func (sh *shell) screenOf(out io.Writer) io.Writer {
	f, ok := unsanitized(out).(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return out
	}
	return screen{Writer: out, columns: sh.columns(), colours: sh.colours()}
}

// colours reports whether people want colours: https://no-color.org.
func (sh *shell) colours() bool { return sh.Env("NO_COLOR") == "" && sh.Env("TERM") != "dumb" }

// table aligns the lines written to it whose cells are separated by tabs. A line without a
// tab ends a table. On a screen it leaves out columns and shortens cells until lines fit.
type table struct {
	out     io.Writer
	columns int // 0 = no limit
	colours bool
	to      io.Writer // during Flush
	text    bytes.Buffer
}

// newFacts makes a table of names and values, which are never shortened.
func newFacts(out io.Writer) *table {
	t := newTable(out)
	t.columns = 0
	return t
}

// newTable makes a table. Flush writes it.
func newTable(out io.Writer) *table {
	t := &table{out: out}
	if s, ok := out.(screen); ok {
		t.columns, t.colours = s.columns, s.colours
	}
	return t
}

// writeTable writes a table with a line for each row. The header has a tab between columns.
func writeTable[T any](out io.Writer, header string, rows []T, cells func(T) []any) {
	w := newTable(out)
	fmt.Fprintln(w, header)
	for _, row := range rows {
		writeRow(w, cells(row)...)
	}
	_ = w.Flush() // a write error shows at the next write
}

func (t *table) Write(b []byte) (int, error) { return t.text.Write(b) }

// Flush writes what was collected, without control characters.
func (t *table) Flush() error {
	var text strings.Builder
	if _, err := (sanitizingWriter{&text}).Write(t.text.Bytes()); err != nil {
		return err
	}
	t.text.Reset()
	out := bufio.NewWriter(unsanitized(t.out))
	t.to = out
	var block [][]string
	for line := range strings.Lines(text.String()) {
		line = strings.TrimSuffix(line, "\n")
		if strings.Contains(line, "\t") {
			block = append(block, strings.Split(line, "\t"))
			continue
		}
		t.layOut(block)
		block = nil
		t.print("", line+"\n")
	}
	t.layOut(block)
	return out.Flush()
}

func (t *table) print(colour, text string) {
	_ = writeInColour(t.to, colour, text) // Flush returns the error
}

const (
	columnGap = 2
	minColumn = 10 // columns of characters that a shortened cell keeps, at least
)

// wrapped are the columns that are wrapped and not shortened: a reason that is cut helps
// nobody.
var wrapped = []string{"WHY", "BECAUSE"}

// layOut writes the rows of one table, the first of which is the header.
func (t *table) layOut(rows [][]string) {
	if len(rows) == 0 {
		return
	}
	widths := widthsOf(rows)
	if t.columns > 0 && total(widths) > t.columns {
		rows = keepColumns(rows, hasValue)
		if widths = t.shrink(rows); total(widths) > t.columns {
			rows = keepColumns(rows, func(rows [][]string, i int) bool { return i == 0 || rows[0][i] != "ID" })
			widths = t.shrink(rows)
		}
	}
	for _, row := range rows {
		t.printRow(rows[0], row, widths)
	}
}

// printRow writes one row; a reason that is too wide continues below itself.
func (t *table) printRow(header, row []string, widths []int) {
	for len(row) > 0 && row[len(row)-1] == "" {
		row = row[:len(row)-1]
	}
	rest := make([]string, len(row)) // of reasons
	for i, text := range row {
		colour := ""
		if t.colours && (i > 0 || len(header) > 2) {
			colour = colourOf(text)
		}
		switch {
		case t.columns == 0:
		case i < len(header) && slices.Contains(wrapped, header[i]):
			text, rest[i] = wrap(text, widths[i])
		default:
			text = shorten(text, widths[i])
		}
		t.print(colour, text)
		if i < len(row)-1 {
			t.print("", strings.Repeat(" ", widths[i]+columnGap-uniseg.StringWidth(text)))
		}
	}
	t.print("", "\n")
	if slices.ContainsFunc(rest, func(text string) bool { return text != "" }) {
		t.printRow(header, rest, widths)
	}
}

func widthsOf(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], uniseg.StringWidth(text))
		}
	}
	return widths
}

func total(widths []int) int {
	n := columnGap * (len(widths) - 1)
	for _, w := range widths {
		n += w
	}
	return n
}

// keepColumns returns the rows with only the columns that keep accepts.
func keepColumns(rows [][]string, keep func(rows [][]string, i int) bool) [][]string {
	left := make([][]string, len(rows))
	for i := range rows[0] {
		if !keep(rows, i) {
			continue
		}
		for j, row := range rows {
			if i < len(row) {
				left[j] = append(left[j], row[i])
			}
		}
	}
	return left
}

// hasValue reports whether a column has a value in any row but the header.
func hasValue(rows [][]string, i int) bool {
	return slices.ContainsFunc(rows[1:], func(row []string) bool { return i < len(row) && row[i] != "" && row[i] != "-" })
}

// shrink returns the widths of columns, the widest narrower until the table fits, or none
// can be. A name that is cut cannot be pasted into the next command, so names and ids stay.
func (t *table) shrink(rows [][]string) []int {
	header, widths := rows[0], widthsOf(rows)
	for over := total(widths) - t.columns; over > 0; over-- {
		widest := -1
		for i, w := range widths {
			named := i == 0 && len(widths) > 2 || i < len(header) && slices.Contains([]string{"ID", "ROBOT"}, header[i])
			if !named && w > minColumn && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// wrap returns as much of a text as fits into so many columns, to the end of a word if it
// can, and the rest.
func wrap(text string, columns int) (line, rest string) {
	if uniseg.StringWidth(text) <= columns {
		return text, ""
	}
	end, width := 0, 0
	for g := uniseg.NewGraphemes(text); g.Next() && width+g.Width() <= columns; width += g.Width() {
		_, end = g.Positions()
	}
	if space := strings.LastIndexByte(text[:end], ' '); space > 0 && text[end] != ' ' {
		end = space
	}
	return text[:end], strings.TrimLeft(text[end:], " ")
}

// shorten cuts a text that is wider than so many columns.
func shorten(text string, columns int) string {
	if uniseg.StringWidth(text) <= columns {
		return text
	}
	var b strings.Builder
	width := 0
	for g := uniseg.NewGraphemes(text); g.Next() && width+g.Width() < columns; width += g.Width() {
		b.WriteString(g.Str())
	}
	return b.String() + "…"
}

// Colours of cells, by the word they begin with. The word itself says what the colour
// says.
var wordColours = colouring(map[string]string{
	green: "online ENABLED SUCCEEDED performing ok active fits",
	yellow: "unknown degraded sleeping DISABLED RESET QUEUED SENT ACKED RUNNING UNKNOWN EXPIRED CANCELLED SUPERSEDED paused stopped warn " +
		"draft skipped",
	red: "lost offline E_STOP STOP SOFT_STOP HALT REJECTED FAILED UNDELIVERED error safety deleted rejected failed",
})

// colouring turns words by colour into colours by word.
func colouring(words map[string]string) map[string]string {
	colours := map[string]string{}
	for colour, all := range words {
		for word := range strings.FieldsSeq(all) {
			colours[word] = colour
		}
	}
	return colours
}

// Colours of a terminal.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
)

func colourOf(cell string) string {
	word, _, _ := strings.Cut(cell, " ")
	return wordColours[word]
}

// writeInColour writes a text, in a colour unless that is empty. Only the colour passes the
// sanitizing writer: the text contains what other programs wrote.
func writeInColour(out io.Writer, colour, text string) error {
	if colour == "" {
		_, err := io.WriteString(out, text)
		return err
	}
	if _, err := io.WriteString(unsanitized(out), "\x1b["+colour+"m"); err != nil {
		return err
	}
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	_, err := io.WriteString(unsanitized(out), "\x1b[0m")
	return err
}
