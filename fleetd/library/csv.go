package library

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"troupe/schema/score"
)

// A list in CSV has one row for each action of an act, or for each act of a story or an
// activity. Its header names the fields: those of the whole act, story or activity, which stand
// in its first row, and those of the row. A part of a field has a column of its own: name.en,
// labels.site, launch.when.
// order is the place in the list; 2.1 is the first action of the group at 2. A cell that begins
// with a quote is JSON: so WriteCSV writes texts that a spreadsheet would take for something else.

// layout says how a kind is written as a list; a Sheet is a list that was read.
type layout struct {
	kind    Kind
	items   string            // field that has the rows: actions or acts
	whole   reflect.Type      // act, story or activity
	row     reflect.Type      // action or step
	renamed map[string]string // column of a field of a row, by the field's name, if a field of the whole has the same name

	separator rune // between the cells of a list that is read
}

const orderColumn = "order"

func layoutOf(kind Kind) layout {
	switch kind {
	case KindAct:
		return layout{kind, "actions", reflect.TypeFor[score.Act](), score.Wire, map[string]string{"act": "action.act",
			"method": "action.method"}, ','}
	case KindActivity:
		return layout{kind, "acts", reflect.TypeFor[score.Activity](), reflect.TypeFor[score.Step](), nil, ','}
	}
	return layout{kind, "acts", reflect.TypeFor[score.Story](), reflect.TypeFor[score.Step](), nil, ','}
}

// fieldsOf returns the types of a struct's fields by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		of := t.Field(i).Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		out[name] = of
	}
	return out
}

// inParts reports whether a field is written in columns of its own parts: name.en.
func inParts(t reflect.Type) bool {
	return t.Kind() == reflect.Map || t == reflect.TypeFor[score.Launch]()
}

// WriteCSV writes drafts of a kind as a list. A draft that cannot be read is an error.
func WriteCSV(kind Kind, texts [][]byte) ([]byte, error) {
	s := layoutOf(kind)
	var rows []map[string]string
	for _, text := range texts {
		content, problems := Content(kind, text)
		if len(problems) > 0 {
			return nil, fmt.Errorf("read a draft: %s", problems[0].Detail)
		}
		var whole map[string]any
		d := json.NewDecoder(bytes.NewReader(content))
		d.UseNumber()
		if err := d.Decode(&whole); err != nil {
			return nil, fmt.Errorf("read a draft: %w", err)
		}
		list, _ := whole[s.items].([]any)
		delete(whole, s.items)
		first := len(rows)
		rows = s.appendRows(rows, list, "")
		if len(rows) == first {
			rows = append(rows, map[string]string{})
		}
		flatten(rows[first], whole, nil)
		for _, row := range rows[first:] {
			row[string(kind)], _ = whole[string(kind)].(string)
		}
	}
	return s.write(rows)
}

// appendRows adds a row for each item of a list, groups before what is in them.
func (s layout) appendRows(rows []map[string]string, list []any, under string) []map[string]string {
	for i, item := range list {
		fields, _ := item.(map[string]any)
		inner, _ := fields["actions"].([]any)
		delete(fields, "actions")
		place := fmt.Sprintf("%s%d", under, i+1)
		row := map[string]string{orderColumn: place}
		flatten(row, fields, s.renamed)
		rows = s.appendRows(append(rows, row), inner, place+".")
	}
	return rows
}

func flatten(row map[string]string, fields map[string]any, renamed map[string]string) {
	for name, v := range fields {
		column := cmp.Or(renamed[name], name)
		parts, ok := v.(map[string]any)
		if !ok || name == "repeat" || name == "on_act_error" {
			row[column] = cellOf(v)
			continue
		}
		for part, v := range parts {
			if p, ok := v.(map[string]any); ok && name == "parameters" && p["type"] == "string" && len(p) <= 2 {
				v = cmp.Or(p["default"], any(""))
			}
			row[column+"."+part] = cellOf(v)
		}
	}
}

// cellOf writes a value. A text that would read back differently, or that a spreadsheet
// would compute, is written as JSON.
func cellOf(v any) string {
	s, ok := v.(string)
	if ok && s != "" && !strings.ContainsAny(s[:1], "\"=+-@\t{[ ") && !strings.Contains(s, "\r") && strings.TrimSpace(s) == s {
		return s
	}
	text, _ := json.Marshal(v) // it was decoded from JSON
	return string(text)
}

func (s layout) write(rows []map[string]string) ([]byte, error) {
	found := map[string]bool{string(s.kind): true, orderColumn: true}
	for _, row := range rows {
		for column := range row {
			found[column] = true
		}
	}
	header := slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.rank(a), s.rank(b)), cmp.Compare(a, b))
	})
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = false
	cells := make([]string, len(header))
	if err := w.Write(header); err != nil {
		return nil, err
	}
	for _, row := range rows {
		for i, column := range header {
			cells[i] = row[column]
		}
		if err := w.Write(cells); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

// rank orders columns: the id, those of the whole, the place, those of the row.
func (s layout) rank(column string) int {
	name, _, _ := strings.Cut(column, ".")
	whole := fieldOrder(s.whole)
	switch {
	case column == string(s.kind):
		return -1
	case column == orderColumn:
		return 1000
	case slices.Contains(slices.Collect(maps.Values(s.renamed)), column):
		return 1500
	case slices.Contains(whole, name) && !(s.renamed[name] != "" && column != name):
		return slices.Index(whole, name)
	}
	return 1001 + slices.Index(fieldOrder(s.row), name)
}

func fieldOrder(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
