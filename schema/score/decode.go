package score

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// decodeAll decodes strictly as DecodeStrict does, but continues after a value that does not
// fit. It returns a problem for each of them; the value has the rest.
func decodeAll[T any](text []byte) (T, []schema.Problem) {
	var found []schema.Problem
	var tree any
	for {
		v, problems := schema.DecodeStrictWithin[T](text, maxNesting)
		if len(problems) == 0 {
			return v, found
		}
		p := problems[0]
		if !canContinueAfter(p) || len(found) == MaxProblems || tree == nil && json.Unmarshal(text, &tree) != nil {
			return *new(T), append(found, problems...)
		}
		value, ok := remove(tree, p.Pointer)
		if !ok {
			return *new(T), append(found, problems...)
		}
		found = append(found, explain(p, reflect.TypeFor[T](), tree, value))
		rest, err := json.Marshal(tree)
		if err != nil {
			return *new(T), found
		}
		text = rest
	}
}

// remove removes the value at a pointer from decoded JSON and returns it. An entry of a
// list becomes null, so that the others keep their places.
func remove(tree any, pointer string) (value any, ok bool) {
	p := jsontext.Pointer(pointer)
	if p == "" {
		return nil, false
	}
	name := p.LastToken()
	switch parent := valueAt(tree, p.Parent()).(type) {
	case map[string]any:
		value, ok = parent[name]
		delete(parent, name)
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i < len(parent) && parent[i] != nil {
			value, ok = parent[i], true
			parent[i] = nil
		}
	}
	return value, ok
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
	all := map[string]reflect.Type{}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
			all[name] = t.Field(i).Type
		}
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
