package library

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"troupe/schema"
	"troupe/schema/score"
)

// Sheet is a list that was read.
type Sheet struct {
	Kind    Kind
	Columns []Column
	Rows    int // without the header
	Entries []SheetEntry
}

// Column is one column of a list: its header, and the field that it is; empty = ignored.
type Column struct{ Header, Field string }

// SheetEntry is one entry of a list, with the rows of its items.
type SheetEntry struct {
	Text []byte // JSON
	Row  int    // its first
	// Faults counts its cells that could not be read. Text is only its id then, so it is never valid.
	Faults int
	rows   map[string]int
}

// Cell is the place of a problem in a list: the number of the row, as a spreadsheet counts,
// and the header of the column; empty if it is about the row.
type Cell struct {
	Row    int
	Header string
}

// SheetProblem is a problem of a list with its place.
type SheetProblem struct {
	Cell
	schema.Problem
}

// Codes of problems of lists.
const (
	CodeNoList        = "no_list"
	CodeUnknownColumn = "unknown_column"
	CodeBadCell       = "bad_cell"
)

func cellFault(row int, header, code, detail, hint string) SheetProblem {
	return SheetProblem{Cell{row, header}, schema.NewProblem("", code, detail, hint)}
}

// ReadCSV reads a list. mapped gives the field of each header that is not itself the name of a
// field; an empty field ignores the column. The problems are all that keep the list from being read.
func ReadCSV(text []byte, mapped map[string]string) (Sheet, []SheetProblem) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		return Sheet{}, []SheetProblem{cellFault(1, "", score.CodeNotUTF8, "the list is not UTF-8", "save it as CSV UTF-8")}
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = delimiterOf(text), -1, false
	header, err := r.Read()
	if err != nil {
		return Sheet{}, []SheetProblem{cellFault(1, "", CodeNoList, "the list has no header", "begin it with the names of the columns, such as story,order,act")}
	}
	s, out, found := readHeader(header, mapped)
	if len(found) > 0 {
		return out, found
	}
	var all []record
	line, read := 1, int64(0) // where the reader is, to count empty lines, which it leaves out
	for row := 2; ; row++ {
		line += bytes.Count(text[read:r.InputOffset()], []byte("\n"))
		read = r.InputOffset()
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if bad := (*csv.ParseError)(nil); errors.As(err, &bad) {
			return out, append(found, cellFault(row+bad.StartLine-line, "", CodeNoList, bad.Err.Error(), "write \"\" for a quote inside quotes"))
		}
		began, _ := r.FieldPos(0)
		row += began - line
		if strings.TrimSpace(strings.Join(cells, "")) != "" {
			all = append(all, record{row, cells})
		}
	}
	out.Rows = len(all)
	found = s.readRows(&out, all)
	return out, found
}

type record struct {
	row   int
	cells []string
}

// delimiterOf returns what separates the cells: what the header has most.
func delimiterOf(text []byte) rune {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return slices.MaxFunc([]rune{',', ';', '\t'}, func(a, b rune) int {
		return cmp.Compare(bytes.Count(line, []byte(string(a))), bytes.Count(line, []byte(string(b))))
	})
}

// readHeader finds out which kind of list it is, and the field of each column.
func readHeader(header []string, mapped map[string]string) (layout, Sheet, []SheetProblem) {
	out := Sheet{}
	for _, h := range header {
		h = strings.TrimSpace(h)
		field, ok := mapped[h]
		if !ok {
			field = strings.ToLower(strings.ReplaceAll(h, " ", "_"))
		}
		out.Columns = append(out.Columns, Column{h, field})
	}
	has := func(field string) bool {
		return slices.ContainsFunc(out.Columns, func(c Column) bool { return c.Field == field })
	}
	switch {
	case has("story"):
		out.Kind = KindStory
	case has("activity"):
		out.Kind = KindActivity
	case has("act") && has("type"):
		out.Kind = KindAct
	default:
		return layout{}, out, []SheetProblem{cellFault(1, "", CodeNoList, "the header names no kind of list", "it needs a column story or activity, or both act and type; map a header to one of these")}
	}
	s := layoutOf(out.Kind)
	var found []SheetProblem
	seen := map[string]bool{}
	for i, c := range out.Columns {
		_, _, known := s.field(c.Field)
		switch {
		case c.Field == "" || c.Header == "":
			out.Columns[i].Field = ""
		case !known:
			hint := "map it to a field, or ignore it"
			if near := schema.Closest(c.Field, s.names()); near != "" {
				hint = "did you mean " + near + "? " + hint
			}
			found = append(found, cellFault(1, c.Header, CodeUnknownColumn, fmt.Sprintf("%q is no field of a list of this kind", c.Header), hint))
		case seen[c.Field]:
			found = append(found, cellFault(1, c.Header, CodeUnknownColumn, fmt.Sprintf("two columns are %s", c.Field), "ignore one of the two"))
		}
		seen[c.Field] = true
	}
	return s, out, found
}

// names lists the fields of a list.
func (s layout) names() []string {
	names := []string{orderColumn}
	for name := range fieldsOf(s.whole) {
		names = append(names, name)
	}
	for name := range fieldsOf(s.row) {
		names = append(names, cmp.Or(s.renamed[name], name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// field returns the path of a column's field, and whether it is one of the row.
func (s layout) field(column string) (path []string, ofRow, known bool) {
	if column == orderColumn {
		return nil, true, true
	}
	for name, as := range s.renamed {
		if column == as {
			return []string{name}, true, true
		}
	}
	name, part, hasPart := strings.Cut(column, ".")
	for i, of := range []reflect.Type{s.whole, s.row} {
		t, ok := fieldsOf(of)[name]
		if !ok || name == s.items || name == "actions" || i == 1 && s.renamed[name] != "" {
			continue
		}
		if inParts(t) != hasPart || hasPart && part == "" {
			continue
		}
		if hasPart {
			return []string{name, part}, i == 1, true
		}
		return []string{name}, i == 1, true
	}
	return nil, false, false
}

// typeOf returns the type of a field.
func (s layout) typeOf(path []string, ofRow bool) reflect.Type {
	of := s.whole
	if ofRow {
		of = s.row
	}
	t := fieldsOf(of)[path[0]]
	if len(path) == 1 {
		return t
	}
	if t.Kind() == reflect.Map {
		return t.Elem()
	}
	return reflect.TypeFor[string]()
}

var (
	number   = regexp.MustCompile(`^-?(0|[1-9]\d*)([.,]\d+)?([eE][+-]?\d+)?$`)
	listMark = regexp.MustCompile(`[,;\s]+`)
)

// valueOf reads a cell as JSON.
func valueOf(cell string, t reflect.Type, name string) (json.RawMessage, error) {
	if strings.HasPrefix(cell, `"`) || strings.HasPrefix(cell, "{") || strings.HasPrefix(cell, "[") && t.Kind() != reflect.String {
		var v any
		if err := json.Unmarshal([]byte(cell), &v); err == nil {
			if text, ok := v.(string); ok && t == reflect.TypeFor[score.Parameter]() {
				return json.Marshal(score.Parameter{Type: "string", Default: text})
			}
			return json.RawMessage(cell), nil
		} else if t.Kind() != reflect.String {
			return nil, fmt.Errorf("%q is not JSON", cell)
		}
	}
	encode := func(v any) (json.RawMessage, error) { return json.Marshal(v) }
	switch t {
	case reflect.TypeFor[score.Repeat](), reflect.TypeFor[score.ActError]():
		if n, err := strconv.ParseInt(cell, 10, 64); err == nil {
			return encode(map[string]int64{map[bool]string{true: "times", false: "retry"}[name == "repeat"]: n})
		}
		return encode(cell)
	case reflect.TypeFor[score.Parameter]():
		return encode(score.Parameter{Type: "string", Default: cell})
	}
	switch t.Kind() {
	case reflect.Bool:
		switch strings.ToLower(cell) {
		case "true", "yes", "ja", "1", "x":
			return json.RawMessage("true"), nil
		case "false", "no", "nein", "0":
			return json.RawMessage("false"), nil
		}
		return nil, fmt.Errorf("%q is neither true nor false; write one of these, yes or no", cell)
	case reflect.Int64, reflect.Float64:
		if !number.MatchString(cell) {
			return nil, fmt.Errorf("%q is not a number; write one such as 1500 or 0.5", cell)
		}
		return json.RawMessage(strings.Replace(cell, ",", ".", 1)), nil
	case reflect.Slice:
		if t.Elem().Kind() != reflect.String {
			return nil, fmt.Errorf("%q is not a list in JSON", cell)
		}
		return encode(listMark.Split(cell, -1))
	}
	return encode(cell)
}
