package cli

import (
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"troupe/fleetd/operation"
	"troupe/schema"
)

// column is one column of a table: its header, the place of its cells in JSON or a method of the row, and the text of
// a cell that is empty.
var column = regexp.MustCompile(`^(.+) ([\w.]+(?:\(\))?)(?:=(.+))?$`)

// columnsTable writes what an answer lists, or the one thing that it is, as a table of these columns.
func columnsTable(out io.Writer, r operation.Row, answer reflect.Value) {
	rows := []reflect.Value{answer}
	for f := range answer.Type().Fields() {
		if f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() != reflect.String {
			rows = rows[:0]
			for i := range answer.FieldByIndex(f.Index).Len() {
				rows = append(rows, answer.FieldByIndex(f.Index).Index(i))
			}
		}
	}
	if len(rows) == 0 && r.None != "" {
		fmt.Fprintln(out, r.None)
		return
	}
	var headers []string
	var places [][]string
	for one := range strings.SplitSeq(r.Columns, " | ") {
		parts := column.FindStringSubmatch(one)
		headers, places = append(headers, parts[1]), append(places, parts[2:])
	}
	writeTable(out, strings.Join(headers, "\t"), rows, func(row reflect.Value) []any {
		cells := make([]any, len(places))
		for i, place := range places {
			cells[i] = dash(orElse(cellAt(row, place[0]), place[1]))
		}
		return cells
	})
}

// cellAt is the text of a place in a row.
func cellAt(v reflect.Value, place string) string {
	for name := range strings.SplitSeq(place, ".") {
		if method, is := strings.CutSuffix(name, "()"); is {
			return fmt.Sprint(v.Addr().MethodByName(method).Call(nil)[0])
		}
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return ""
			}
			v = v.Elem()
		}
		v = fieldNamed(v, name)
	}
	switch value := v.Interface().(type) {
	case schema.Time:
		return formatTime(value)
	case bool:
		if value {
			return "yes"
		}
		return ""
	}
	if v.Kind() == reflect.Slice {
		var all []string
		for i := range v.Len() {
			all = append(all, fmt.Sprint(v.Index(i)))
		}
		return strings.Join(all, ", ")
	}
	return fmt.Sprint(v)
}

// fieldNamed returns the field of a struct that has this name in JSON.
func fieldNamed(v reflect.Value, name string) reflect.Value {
	for _, f := range reflect.VisibleFields(v.Type()) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name {
			return v.FieldByIndex(f.Index)
		}
	}
	panic(v.Type().String() + " has no field " + name)
}
