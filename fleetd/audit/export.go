package audit

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// WriteLine writes an entry as one line of JSON. ReadLines reads it back.
func WriteLine(out io.Writer, e Entry) error {
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode audit entry %d: %w", e.Seq, err)
	}
	_, err = out.Write(append(b, '\n'))
	return err
}

// maxLine bounds one line of an export.
const maxLine = 1 << 20

// ReadLines calls each for every entry of an export, until it returns false.
func ReadLines(in io.Reader, each func(Entry) bool) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var e Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("line %d is not an entry of the audit log: %w", n, err)
		}
		if !each(e) {
			return nil
		}
	}
	return lines.Err()
}

// Columns is the header of an export as CSV.
var Columns = []string{"seq", "at", "principal", "who", "address", "via", "what", "target", "why", "detail", "before", "after", "outcome",
	"of", "id", "prev", "hash"}

// Record is an entry as a row of CSV. A text that a spreadsheet would take for a formula
// gets an apostrophe in front, so CSV cannot be verified; JSON lines can.
func (e *Entry) Record() []string {
	row := []string{
		strconv.FormatInt(e.Seq, 10), e.At.UTC().Format(time.RFC3339Nano), e.Principal, e.Who, e.Address, string(e.Via), string(e.What), e.Target,
		e.Why, e.Detail, e.Before, e.After, string(e.Outcome), e.Of, e.ID, e.Prev, e.Hash,
	}
	for i, text := range row {
		if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
			row[i] = "'" + text
		}
	}
	return row
}

// WriteCSV returns a function that writes entries as CSV below the header.
func WriteCSV(out io.Writer) (write func(Entry) error, flush func() error) {
	w := csv.NewWriter(out)
	_ = w.Write(Columns) // flush returns its error
	return func(e Entry) error { return w.Write(e.Record()) }, func() error { w.Flush(); return w.Error() }
}
