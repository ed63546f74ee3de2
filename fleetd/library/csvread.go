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
	"strings"

	"troupe/schema"
	"troupe/schema/score"
)

// Sheet is a list that was read.
type Sheet struct {
	Kind    Kind
	Columns []ImportColumn
	Rows    int // without the header
	Entries []SheetEntry
	// Unlisted counts the problems that ReadCSV did not return, because it returned maxListed.
	Unlisted int
}

// Bounds of a list.
const (
	maxColumns = 200
	maxRows    = 20_000
	maxOfEntry = 2000 // rows of one act, story or activity
	maxListed  = 1000 // problems
)

// ImportColumn is one column of a list.
type ImportColumn struct {
	Header string `json:"header"`
	Field  string `json:"field,omitempty" doc:"what it is; left out if it is ignored"`
}

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
	if found := score.NotText(text); len(found) > 0 {
		return Sheet{}, []SheetProblem{cellFault(1, "", found[0].Code, found[0].Detail, "save it as CSV UTF-8, as spreadsheets call it")}
	}
	if !bytes.Contains(text, []byte("\n")) { // old programs for the Mac end lines so
		text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
	}
	separator := delimiterOf(text)
	if m := separatorLine.FindSubmatch(text); m != nil { // for spreadsheets, which do not count it as a row
		text, separator = text[len(m[0]):], rune(m[1][0])
	}
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = separator, -1, false
	header, err := r.Read()
	if err != nil {
		return Sheet{}, []SheetProblem{cellFault(1, "", CodeNoList, "the list has no header",
			"begin it with the names of the columns, such as story,order,act")}
	}
	if len(header) > maxColumns {
		return Sheet{}, []SheetProblem{cellFault(1, "", score.CodeTooMany, fmt.Sprintf("the list has %d columns, at most %d are read",
			len(header), maxColumns), "remove those that are empty")}
	}
	s, out, found := readHeader(header, mapped)
	s.separator = separator
	if len(found) > 0 {
		return out, belowTitle(text, mapped, found)
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
			if len(all) == maxRows {
				return out, append(found, cellFault(row, "", score.CodeTooMany, fmt.Sprintf("the list has over %d rows", maxRows), "split it"))
			}
			all = append(all, record{row, cells})
		}
	}
	out.Rows = len(all)
	found = s.readRows(&out, all)
	return out, found
}

// belowTitle names the row that is a header, if one of the first rows is and those above it are not.
func belowTitle(text []byte, mapped map[string]string, found []SheetProblem) []SheetProblem {
	lines := bytes.SplitAfterN(text, []byte("\n"), 11)
	for i, line := range lines[1:min(len(lines), 10)] {
		r := csv.NewReader(bytes.NewReader(line))
		r.Comma = delimiterOf(line)
		header, err := r.Read()
		if err != nil {
			continue
		}
		if _, out, _ := readHeader(header, mapped); out.Kind != "" {
			return []SheetProblem{cellFault(1, "", CodeNoList, fmt.Sprintf("the names of the columns are in row %d, below a title", i+2),
				"delete the rows above it")}
		}
	}
	return found
}

var separatorLine = regexp.MustCompile(`^(?i:"?sep=([,;\t])"?)\r?\n`)

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
		out.Columns = append(out.Columns, ImportColumn{h, field})
	}
	has := func(field string) bool {
		return slices.ContainsFunc(out.Columns, func(c ImportColumn) bool { return c.Field == field })
	}
	switch {
	case has("story"):
		out.Kind = KindStory
	case has("activity"):
		out.Kind = KindActivity
	case has("act") && has("type"):
		out.Kind = KindAct
	default:
		return layout{}, out, []SheetProblem{cellFault(1, "", CodeNoList, "the header names no kind of list",
			"it needs a column story or activity, or both act and type; map a header to one of these")}
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
			if part := s.partOf(c.Field); part != "" {
				hint = fmt.Sprintf("write %s.%s: it has a column for each of its parts", c.Field, part)
			} else if near := schema.Closest(c.Field, s.names()); near != "" {
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

// partOf returns an example of a part of a field that has a column for each of them, empty for others.
func (s layout) partOf(column string) string {
	for _, of := range []reflect.Type{s.whole, s.row} {
		switch t := fieldsOf(of)[column]; {
		case t == nil || !inParts(t):
		case t == reflect.TypeFor[score.Text]():
			return "en"
		case t == reflect.TypeFor[score.Launch]():
			return "when"
		default:
			return "NAME"
		}
	}
	return ""
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

var listMark = regexp.MustCompile(`[,;\s]+`)

var (
	oneGroup   = regexp.MustCompile(`^([-+]?[1-9]\d{0,2})([.,])(\d{3})$`)
	manyGroups = regexp.MustCompile(`^[-+]?[1-9]\d{0,2}(?:([.,'\x{a0}\x{202f} ])\d{3})+(?:[.,]\d+)?$`)
	decimal    = regexp.MustCompile(`^([-+]?\d*),(\d+(?:[eE][-+]?\d+)?)$`)
)

// numberOf reads a number of a list. Spreadsheets write decimals and thousands with . or with , by
// the language of their computer, so 1,500 is refused: it is 1500 there, and 1.5 here.
func (s layout) numberOf(cell string, whole bool) (json.RawMessage, error) {
	if m := oneGroup.FindStringSubmatch(cell); m != nil && (m[2] == "," || whole || s.separator != ',') {
		part := strings.TrimRight(m[3], "0")
		if part = cmp.Or(part, "0"); len(part) == 3 {
			part += "0" // which is no group of thousands
		}
		return nil, fmt.Errorf("%s is %s%s if the sign groups thousands, and %s.%s if it begins decimals; write the one that you mean", cell,
			m[1], m[3], m[1], part)
	}
	if m := manyGroups.FindStringSubmatch(cell); m != nil && oneGroup.FindString(cell) == "" {
		return nil, fmt.Errorf("%q has signs between its thousands; write its digits without them", cell)
	}
	number, err := schema.ReadNumber(decimal.ReplaceAllString(cell, "$1.$2"))
	switch {
	case errors.Is(err, schema.ErrNotNumber):
		return nil, fmt.Errorf("%q is not a number; write one such as 1500 or 0.5", cell)
	case err != nil:
		return nil, err
	}
	return json.RawMessage(number), nil
}

// valueOf reads a cell as JSON.
func (s layout) valueOf(cell string, t reflect.Type, name string) (json.RawMessage, error) {
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
		if cell[0] > '9' { // a word
			return encode(cell)
		}
		number, err := s.numberOf(cell, true)
		return json.RawMessage(fmt.Sprintf(`{"%s":%s}`, map[bool]string{true: "times", false: "retry"}[name == "repeat"], number)), err
	case reflect.TypeFor[score.Parameter]():
		return encode(score.Parameter{Type: "string", Default: cell})
	}
	switch t.Kind() {
	case reflect.Bool:
		switch strings.ToLower(cell) {
		case "true", "yes", "ja", "wahr", "1", "x":
			return json.RawMessage("true"), nil
		case "false", "no", "nein", "falsch", "0":
			return json.RawMessage("false"), nil
		}
		return nil, fmt.Errorf("%q is neither true nor false; write one of these, yes or no", cell)
	case reflect.Int64, reflect.Float64:
		return s.numberOf(cell, t.Kind() == reflect.Int64)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.String {
			return nil, fmt.Errorf("%q is not a list in JSON", cell)
		}
		return encode(listMark.Split(cell, -1))
	}
	return encode(cell)
}
