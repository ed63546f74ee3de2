package score

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// decodeAll decodes strictly as DecodeStrict does, but continues after a value that does not
// fit. It returns a problem for each of them; the value has the rest.
func decodeAll[T any](text []byte) (T, []schema.Problem) {
	v, problems := schema.DecodeStrictWithin[T](text, maxNesting)
	var tree any
	if len(problems) == 0 || !canContinueAfter(problems[0]) || json.Unmarshal(text, &tree) != nil {
		return v, problems
	}
	m := misfits{root: reflect.TypeFor[T](), tree: tree, fields: map[reflect.Type]map[string]reflect.Type{}}
	m.remove(m.root, tree, "")
	found := withMore(m.found, m.more)
	rest, err := json.Marshal(tree)
	if err != nil || len(m.found) == 0 {
		return *new(T), append(found, problems...)
	}
	if v, problems = schema.DecodeStrictWithin[T](rest, maxNesting); len(problems) > 0 {
		return *new(T), append(found, problems...)
	}
	return v, found
}

// misfits removes from decoded JSON what does not fit a type, in one pass.
type misfits struct {
	root   reflect.Type
	tree   any
	fields map[reflect.Type]map[string]reflect.Type
	found  []schema.Problem
	more   int // problems that found has no room for
}

// remove removes what does not fit t from value, and reports whether value itself fits. A null fits
// every type. An entry of a list that does not fit becomes null, so that the others keep their places.
func (m *misfits) remove(t reflect.Type, value any, pointer string) (fits bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if value == nil {
		return true
	}
	if t == reflect.TypeFor[Action]() {
		t = Wire
	}
	_, custom := reflect.New(t).Interface().(json.UnmarshalerFrom)
	if !custom {
		_, custom = reflect.New(t).Interface().(json.Unmarshaler)
	}
	if !custom {
		_, custom = reflect.New(t).Interface().(encoding.TextUnmarshaler)
	}
	switch v := value.(type) {
	case map[string]any:
		if custom || t.Kind() != reflect.Struct && t.Kind() != reflect.Map {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			below, member := at(pointer, name), v[name]
			of, known := m.memberOf(t, name)
			if !known {
				m.add(schema.NewProblem(below, "unknown_field", "", ""), member)
			}
			if !known || !m.remove(of, member, below) {
				delete(v, name)
			}
		}
		return true
	case []any:
		if custom || t.Kind() != reflect.Slice {
			break
		}
		for i, entry := range v {
			if !m.remove(t.Elem(), entry, at(pointer, i)) {
				v[i] = nil
			}
		}
		return true
	case string:
		if !custom && t.Kind() == reflect.String {
			return true
		}
	}
	text, err := json.Marshal(map[string]any{"": value})
	if err != nil {
		return true // impossible: it was decoded from JSON
	}
	problems := schema.DecodeStrictInto(text, reflect.New(reflect.MapOf(reflect.TypeFor[string](), t)).Interface(), maxNesting)
	if len(problems) == 0 {
		return true
	}
	problems[0].Pointer = pointer + strings.TrimPrefix(problems[0].Pointer, "/")
	m.add(problems[0], value)
	return false
}

// memberOf returns the type of a member of an object of type t.
func (m *misfits) memberOf(t reflect.Type, name string) (of reflect.Type, known bool) {
	if t.Kind() == reflect.Map {
		return t.Elem(), true
	}
	fields, ok := m.fields[t]
	if !ok {
		fields = fieldsOf(t)
		m.fields[t] = fields
	}
	of, known = fields[name]
	return of, known
}

func (m *misfits) add(p schema.Problem, value any) {
	if len(m.found) == MaxProblems {
		m.more++
		return
	}
	m.found = append(m.found, explain(p, m.root, m.tree, value))
}

func valueAt(tree any, pointer jsontext.Pointer) any {
	for token := range pointer.Tokens() {
		switch parent := tree.(type) {
		case map[string]any:
			tree = parent[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(parent) {
				return nil
			}
			tree = parent[i]
		default:
			return nil
		}
	}
	return tree
}

// typeAt returns the Go type at a pointer within t, nil if there is none.
func typeAt(t reflect.Type, pointer jsontext.Pointer) reflect.Type {
	for token := range pointer.Tokens() {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Map, reflect.Slice:
			t = t.Elem()
		case reflect.Struct:
			f, ok := fieldsOf(t)[token]
			if !ok {
				return nil
			}
			t = f
		default:
			return nil
		}
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// fieldsOf returns the JSON fields of a struct with their types.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	if t == reflect.TypeFor[Action]() {
		t = Wire
	}
	all := map[string]reflect.Type{}
	for _, f := range jsonFields(t) {
		all[nameOf(f)] = f.Type
	}
	return all
}

// explain puts a problem of the decoder into the words of an author. value is what does
// not fit.
func explain(p schema.Problem, root reflect.Type, tree, value any) schema.Problem {
	pointer := jsontext.Pointer(p.Pointer)
	if p.Code == "unknown_field" {
		what, known := "it", []string{}
		if t := typeAt(root, pointer.Parent()); t != nil && t.Kind() == reflect.Struct {
			what, known = knownFields(t, valueAt(tree, pointer.Parent()))
		}
		name := pointer.LastToken()
		p.Detail = what + " has no field " + name
		if p.Hint = durationHint(name, known, value, valueAt(tree, pointer.Parent())); p.Hint == "" {
			p.Hint = unknownFieldHint(name, known, value)
		}
		return p
	}
	t := typeAt(root, pointer)
	if t == nil {
		return p
	}
	if p.Code == "bad_type" || t.Kind() == reflect.Int64 || t.Kind() == reflect.Float64 {
		p.Code, p.Detail = "bad_type", fmt.Sprintf("%s is not %s", written(value), wanted(t, pointer))
	}
	p.Hint = typeHint(t, pointer, value)
	return p
}
