package library

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"troupe/schema"
	"troupe/schema/score"
)

// item is one row of an entry, placed in its list.
type item struct {
	row    int
	place  []int
	fields map[string]any
	inner  []*item
}

// readRows makes entries of rows. A row without an id belongs to the entry above it.
func (s layout) readRows(out *Sheet, all []record) (found []SheetProblem) {
	id := slices.IndexFunc(out.Columns, func(c ImportColumn) bool { return c.Field == string(s.kind) })
	var groups [][]record
	name := ""
	first := map[string]int{}
	for _, r := range all {
		own := ""
		if id < len(r.cells) {
			own = strings.TrimSpace(r.cells[id])
		}
		switch {
		case own == "" && len(groups) == 0:
			found = append(found, cellFault(r.row, out.Columns[id].Header, CodeBadCell, "the first row has no "+string(s.kind),
				"write its id; rows below without one belong to it"))
			return found
		case own != "" && own != name:
			if row, twice := first[own]; twice {
				found = append(found, cellFault(r.row, out.Columns[id].Header, score.CodeDuplicateID,
					fmt.Sprintf("%s begins again; its rows began at row %d", own, row), "put its rows together"))
			}
			name, first[own] = own, r.row
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], r)
	}
	for _, rows := range groups {
		if len(rows) > maxOfEntry {
			found = append(found, cellFault(rows[0].row, "", score.CodeTooMany, fmt.Sprintf("it has %d rows, at most %d are read", len(rows),
				maxOfEntry), "split it in two"))
			continue
		}
		e, problems := s.readEntry(out.Columns, rows)
		listed := min(len(problems), max(0, maxListed-len(found)))
		out.Unlisted += e.Faults - listed
		found = append(found, problems[:listed]...)
		out.Entries = append(out.Entries, e)
	}
	return found
}

func (s layout) readEntry(columns []ImportColumn, rows []record) (SheetEntry, []SheetProblem) {
	var found []SheetProblem
	e := SheetEntry{Row: rows[0].row, rows: map[string]int{}}
	add := func(problems ...SheetProblem) {
		e.Faults += len(problems)
		found = append(found, problems[:min(len(problems), maxListed-len(found))]...)
	}
	whole := map[string]any{}
	var items []*item
	type target struct {
		path  []string
		of    reflect.Type
		ofRow bool
	}
	targets := make([]target, len(columns))
	for i, c := range columns {
		if path, ofRow, _ := s.field(c.Field); len(path) > 0 {
			targets[i] = target{path, s.typeOf(path, ofRow), ofRow}
		}
	}
	for n, r := range rows {
		it := &item{row: r.row, place: []int{n + 1}, fields: map[string]any{}}
		for i, cell := range r.cells {
			if cell = strings.TrimSpace(cell); i >= len(columns) || columns[i].Field == "" || cell == "" {
				if i >= len(columns) && cell != "" {
					add(cellFault(r.row, "", CodeBadCell, fmt.Sprintf("cell %d has no header", i+1),
						"give its column a header, or quote texts with the separator in them"))
				}
				continue
			}
			header := columns[i].Header
			if columns[i].Field == orderColumn {
				place, err := placeOf(cell)
				if err != nil {
					add(cellFault(r.row, header, CodeBadCell, err.Error(), "write 1, 2, 3; 2.1 is the first one in the group at 2"))
				} else {
					it.place = place
				}
				continue
			}
			path, ofRow := targets[i].path, targets[i].ofRow
			v, err := s.valueOf(cell, targets[i].of, path[0])
			if err != nil {
				add(cellFault(r.row, header, CodeBadCell, err.Error(), ""))
				continue
			}
			into := it.fields
			if !ofRow {
				into = whole
			}
			if old, again := at(into, path); again && string(old) != string(v) {
				add(cellFault(r.row, header, CodeBadCell, fmt.Sprintf("%s differs from the one in a row above", columns[i].Field),
					"write the fields of the "+string(s.kind)+" itself in one row"))
			}
			put(into, path, v)
		}
		if len(it.fields) > 0 {
			items = append(items, it)
		}
	}
	list, problems := nest(items)
	add(problems...)
	whole[s.items] = e.values(list, "/"+s.items)
	if e.Faults > 0 {
		whole = map[string]any{string(s.kind): whole[string(s.kind)]}
	}
	e.Text = encodePlain(whole)
	return e, found
}

func placeOf(cell string) (place []int, err error) {
	for part := range strings.SplitSeq(cell, ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%q is not a place in a list", cell)
		}
		place = append(place, n)
	}
	return place, nil
}

// nest puts items in their order, those of groups into them.
func nest(items []*item) (top []*item, found []SheetProblem) {
	slices.SortStableFunc(items, func(a, b *item) int { return slices.Compare(a.place, b.place) })
	for i, it := range items {
		if i > 0 && slices.Equal(items[i-1].place, it.place) {
			found = append(found, cellFault(it.row, orderColumn, CodeBadCell, fmt.Sprintf("row %d has this place, too", items[i-1].row),
				"give each its own"))
		}
		if len(it.place) == 1 {
			top = append(top, it)
			continue
		}
		k := slices.IndexFunc(items[:i], func(o *item) bool { return slices.Equal(o.place, it.place[:len(it.place)-1]) })
		if k < 0 {
			found = append(found, cellFault(it.row, orderColumn, CodeBadCell, "there is no group at the place before its last dot",
				"add the row of the group, or write a place without a dot"))
			continue
		}
		items[k].inner = append(items[k].inner, it)
	}
	return top, found
}

// values returns the values of items, and keeps the row of each pointer.
func (e *SheetEntry) values(items []*item, under string) []map[string]any {
	out := []map[string]any{}
	for i, it := range items {
		pointer := fmt.Sprintf("%s/%d", under, i)
		e.rows[pointer] = it.row
		if inner := e.values(it.inner, pointer+"/actions"); len(inner) > 0 {
			it.fields["actions"] = inner
		}
		out = append(out, it.fields)
	}
	return out
}

func at(fields map[string]any, path []string) (json.RawMessage, bool) {
	if len(path) == 2 {
		parts, _ := fields[path[0]].(map[string]json.RawMessage)
		v, ok := parts[path[1]]
		return v, ok
	}
	v, ok := fields[path[0]].(json.RawMessage)
	return v, ok
}

func put(fields map[string]any, path []string, v json.RawMessage) {
	if len(path) == 1 {
		fields[path[0]] = v
		return
	}
	parts, ok := fields[path[0]].(map[string]json.RawMessage)
	if !ok {
		parts = map[string]json.RawMessage{}
		fields[path[0]] = parts
	}
	parts[path[1]] = v
}

func encodePlain(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // impossible: every cell was read as JSON
	}
	return text
}

// At returns the cell that a problem of an entry is about.
func (sh Sheet) At(e SheetEntry, p schema.Problem) Cell {
	c := Cell{Row: e.Row}
	longest := ""
	for pointer, row := range e.rows {
		if len(pointer) > len(longest) && (p.Pointer == pointer || strings.HasPrefix(p.Pointer, pointer+"/")) {
			longest, c.Row = pointer, row
		}
	}
	parts := strings.Split(strings.Trim(strings.TrimPrefix(p.Pointer, longest), "/"), "/")
	if p.Code == score.CodeNeedsEnd && parts[0] == "" {
		if c.Header = sh.header(longest != "", []string{"timeout_ms"}); c.Header != "" {
			return c
		}
		parts = []string{"end_ms"}
	}
	c.Header = sh.header(longest != "", parts)
	return c
}

// header returns the header of the column of a field, or of the first part of one that is
// missing; empty if the list has none.
func (sh Sheet) header(ofRow bool, field []string) (found string) {
	s := layoutOf(sh.Kind)
	for _, column := range sh.Columns {
		path, inRow, ok := s.field(column.Field)
		if !ok || len(path) == 0 || inRow != ofRow || field[0] == "" {
			continue
		}
		if n := min(len(path), len(field)); !slices.Equal(field[:n], path[:n]) {
			continue
		}
		if len(field) >= len(path) {
			return column.Header
		}
		found = cmp.Or(found, column.Header)
	}
	return found
}
