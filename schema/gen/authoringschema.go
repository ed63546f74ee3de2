package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"troupe/schema"
	"troupe/schema/score"
)

// The JSON Schemas of the files of authors, for editors. They refuse what fleetd refuses as
// far as a schema can say it, and nothing else.

type object = map[string]any

// authorSchemas returns the schema of each kind of file by its file name.
func authorSchemas() (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, o := range score.Objects {
		if !o.File {
			continue
		}
		defs := object{}
		for _, part := range partsOf(o) {
			if part.Name == "action" {
				maps.Copy(defs, actionSchemas())
				continue
			}
			defs[part.Name] = objectSchema(part)
		}
		s := objectSchema(o)
		s["$schema"], s["title"] = "https://json-schema.org/draft/2020-12/schema", o.Name
		if len(defs) > 0 {
			s["$defs"] = defs
		}
		text, err := indent(s)
		if err != nil {
			return nil, fmt.Errorf("encode the schema of %s: %w", o.Name, err)
		}
		out[schema.AuthorSchema(o.Name)] = text
	}
	return out, nil
}

// partsOf lists the objects that are within o.
func partsOf(o score.Object) []score.Object {
	var parts []score.Object
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
			t = t.Elem()
		}
		for _, part := range score.Objects {
			if part.Type == t && part.Name != o.Name && !slices.ContainsFunc(parts, func(p score.Object) bool { return p.Name == part.Name }) {
				parts = append(parts, part)
				for i := range asWritten(t).NumField() {
					add(asWritten(t).Field(i).Type)
				}
			}
		}
	}
	for i := range o.Type.NumField() {
		add(o.Type.Field(i).Type)
	}
	return parts
}

func objectSchema(o score.Object) object {
	s := object{"type": "object", "description": o.Doc, "additionalProperties": false}
	addFields(s, o.Type, o.Fields)
	return s
}

// addFields adds the properties of fields, which are of the struct t.
func addFields(s object, t reflect.Type, fields []score.Field) {
	props, required := object{}, []string{}
	for _, f := range fields {
		props[f.Name] = fieldSchema(f, typeOf(t, f.Name))
		if f.Required {
			required = append(required, f.Name)
		}
	}
	s["properties"] = props
	if len(required) > 0 {
		s["required"] = required
	}
}

// actionSchemas returns the schema of an action, which depends on its type, and that of each
// type.
func actionSchemas() map[string]any {
	t := reflect.TypeFor[score.Action]()
	var common score.Object
	for _, o := range score.Objects {
		if o.Type == t {
			common = o
		}
	}
	defs, cases := map[string]any{}, []any{}
	for _, row := range score.Table {
		name := "action-" + string(row.Type)
		s := object{"type": "object", "description": "Ends " + row.Ends + ".", "additionalProperties": false}
		addFields(s, t, slices.Concat(ofAction(row, common.Fields), row.Fields))
		s["properties"].(object)["type"] = object{"const": string(row.Type)}
		defs[name] = s
		cases = append(cases, object{
			"if":   object{"properties": object{"type": object{"const": string(row.Type)}}, "required": []string{"type"}},
			"then": object{"$ref": "#/$defs/" + name},
		})
	}
	kind := fieldSchema(common.Fields[0], reflect.TypeFor[string]())
	defs["action"] = object{"type": "object", "description": common.Doc, "required": []string{"type"}, "properties": object{"type": kind},
		"allOf": cases}
	return defs
}

// ofAction returns the fields of every action that an action of a row may have.
func ofAction(row score.ActionRow, fields []score.Field) []score.Field {
	var out []score.Field
	for _, f := range fields {
		switch f.Name {
		case "end_ms":
			if !row.End {
				continue
			}
		case "timeout_ms":
			if !row.Timeout {
				continue
			}
		case "on_resume":
			if row.OnResume == "" {
				continue
			}
			f.Default = string(row.OnResume)
		case "method":
			f.Default = string(row.Method)
			f.OneOf = slices.Compact([]string{string(row.Method), string(score.MethodExclusive)})
		}
		out = append(out, f)
	}
	return out
}

// asWritten returns the type of an object as files have it.
func asWritten(t reflect.Type) reflect.Type {
	if t == reflect.TypeFor[score.Action]() {
		return score.Wire
	}
	return t
}

// typeOf returns the Go type of the field of t with this name in JSON.
func typeOf(t reflect.Type, name string) reflect.Type {
	t = asWritten(t)
	for i := range t.NumField() {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); tag == name {
			f := t.Field(i).Type
			if f.Kind() == reflect.Pointer {
				f = f.Elem()
			}
			return f
		}
	}
	panic(fmt.Sprintf("%s has no field %s", t, name))
}

const idPattern = "^[a-z0-9][a-z0-9-]{0,62}$"

func fieldSchema(f score.Field, t reflect.Type) object {
	s := typeSchema(t)
	doc := strings.ToUpper(f.Doc[:1]) + f.Doc[1:] + "."
	if u := f.Measure(); u != "" {
		doc += " In " + u + "."
	}
	if f.Default != "" {
		doc += " Default: " + f.Default + "."
	}
	s["description"] = doc
	if f.Min != f.Max {
		s["minimum"], s["maximum"] = f.Min, f.Max
	}
	if len(f.OneOf) > 0 {
		s["enum"] = f.OneOf
	}
	switch f.Form {
	case score.FormName:
		s["pattern"] = idPattern
	case score.FormColour:
		s["pattern"] = "^#[0-9a-fA-F]{6}$"
	case score.FormPlain:
		if each, byLanguage := s["additionalProperties"].(object); byLanguage {
			each["maxLength"] = score.MaxPlain
		} else {
			s["maxLength"] = score.MaxPlain
		}
	case score.FormDuration:
		s["pattern"] = `^([0-9.]+(h|m|s|ms))+$`
	}
	if example := value(f.Example); example != nil {
		s["examples"] = []any{example}
	}
	if known := value(f.Default); known != nil && (len(f.OneOf) == 0 || slices.Contains(f.OneOf, f.Default)) && fitsKind(known, s) {
		s["default"] = known
	}
	return s
}

// fitsKind reports whether a default in words is a value of the field.
func fitsKind(v any, s object) bool {
	switch v.(type) {
	case float64:
		return s["type"] == "number" || s["type"] == "integer"
	case bool:
		return s["type"] == "boolean"
	case string:
		return s["enum"] != nil
	}
	return false
}

func value(example string) any {
	var v any
	if example == "" || yaml.Unmarshal([]byte(example), &v) != nil {
		return nil
	}
	return v
}

func typeSchema(t reflect.Type) object {
	rule := func(word string, most int, words ...string) object {
		return object{"oneOf": []any{
			object{"enum": words},
			object{"type": "object", "additionalProperties": false, "required": []string{word},
				"properties": object{word: object{"type": "integer", "minimum": 1, "maximum": most}}},
		}}
	}
	switch t {
	case reflect.TypeFor[score.Text]():
		return object{"type": "object", "minProperties": 1, "additionalProperties": object{"type": "string", "maxLength": score.MaxText}}
	case reflect.TypeFor[score.Repeat]():
		return rule("times", score.MaxRounds, "once", "loop")
	case reflect.TypeFor[score.ActError]():
		return rule("retry", score.MaxRetries, "skip", "stop")
	}
	for _, o := range score.Objects {
		if o.Type == t {
			return object{"$ref": "#/$defs/" + o.Name}
		}
	}
	switch t.Kind() {
	case reflect.Int64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Slice:
		return object{"type": "array", "items": typeSchema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": typeSchema(t.Elem())}
	}
	return object{"type": "string"}
}
