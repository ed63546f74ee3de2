package main

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

	"troupe/schema/bus"
	"troupe/schema/score"
)

// busSchemas returns the JSON Schemas of the messages between robotd and adapters, by their
// file below schema/bus.
func busSchemas() (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, t := range bus.Topics {
		// An adapter ignores fields that it does not know, and robotd refuses them.
		r := jsonschema.Reflector{ExpandedStruct: true, Anonymous: true, AllowAdditionalProperties: t.From == "robotd", Namer: nameOf}
		s := r.Reflect(t.Message)
		s.Title, s.Description = messageName(t), t.Purpose
		describe(s, s.Definitions, reflect.TypeOf(t.Message))
		text, err := indent(s)
		if err != nil {
			return nil, fmt.Errorf("encode the schema of %s: %w", messageName(t), err)
		}
		out[busFile(t)] = text
	}
	return out, nil
}

// nameOf names the one type of the contract that has no name in Go; the others keep theirs.
func nameOf(t reflect.Type) string {
	if t == score.Wire {
		return "Action"
	}
	return ""
}

func messageName(t bus.Topic) string { return reflect.TypeOf(t.Message).Name() }

func busFile(t bus.Topic) string { return strings.ToLower(messageName(t)) + ".schema.json" }

// describe copies the field docs of a type, and of the contract's types within it, into its
// schema.
func describe(s *jsonschema.Schema, all jsonschema.Definitions, t reflect.Type) {
	for f := range fieldsOf(t) {
		p, ok := s.Properties.Get(f.name)
		if !ok {
			continue
		}
		p.Description = f.doc
		inner := element(f.field.Type)
		if def := all[inner.Name()]; def != nil && inner.PkgPath() == t.PkgPath() {
			describe(def, all, inner)
		}
	}
}

// element returns the type that t contains, through pointers, lists and maps.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

type messageField struct {
	field reflect.StructField
	name  string // in JSON
	doc   string
	must  bool
}

func fieldsOf(t reflect.Type) func(yield func(messageField) bool) {
	return func(yield func(messageField) bool) {
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Anonymous {
				for inner := range fieldsOf(f.Type) {
					if !yield(inner) {
						return
					}
				}
				continue
			}
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !yield(messageField{f, name, f.Tag.Get("doc"), options == ""}) {
				return
			}
		}
	}
}

func busTopicTable() string {
	var b strings.Builder
	b.WriteString("| topic | from | QoS | retained | payload | rate |\n|---|---|---|---|---|---|\n")
	for _, t := range bus.Topics {
		retained := "no"
		if t.Retained {
			retained = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %d | %s | [%s](schema/bus/json/%s): %s | %s |\n", t.Pattern, t.From, t.QoS, retained, messageName(t),
			busFile(t), t.Purpose, t.Rate)
	}
	return b.String()
}

// busFieldTable lists the fields of each message and of the types within them.
func busFieldTable() string {
	var b strings.Builder
	b.WriteString("| payload | field | what it says |\n|---|---|---|\n")
	types := []reflect.Type{}
	for _, t := range bus.Topics {
		types = append(types, reflect.TypeOf(t.Message))
	}
	types = append(types, reflect.TypeFor[bus.Describe](), reflect.TypeFor[bus.UnitState](), reflect.TypeFor[bus.Calibrated](),
		reflect.TypeFor[bus.MapResult](), reflect.TypeFor[bus.Map]())
	for _, t := range types {
		for f := range fieldsOf(t) {
			may := ""
			if !f.must {
				may = " (may be left out)"
			}
			fmt.Fprintf(&b, "| %s | `%s` | %s%s |\n", t.Name(), f.name, f.doc, may)
		}
	}
	return b.String()
}
