package recorder

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/invopop/jsonschema"

	"troupe/schema"
	"troupe/schema/score"
)

// schemaOf returns the JSON Schema of a channel's messages. That of events belongs to the
// contract.
func schemaOf(c channel) ([]byte, error) {
	var text []byte
	var err error
	if c.of == reflect.TypeFor[Event]() {
		text, err = schema.JSONSchemas.ReadFile("json/event.schema.json")
	} else {
		text, err = json.Marshal(reflected(c))
	}
	var s map[string]any
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", c.topic, err)
	}
	reduceForFoxglove(s)
	return json.Marshal(s)
}

// reflected returns the schema of the Go type of a channel's messages.
func reflected(c channel) *jsonschema.Schema {
	r := jsonschema.Reflector{
		Anonymous: true, DoNotReference: true, ExpandedStruct: true, AllowAdditionalProperties: true,
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			switch t {
			case reflect.TypeFor[schema.Time]():
				return &jsonschema.Schema{Type: "string", Format: "date-time"}
			case reflect.TypeFor[jsontext.Value]():
				return &jsonschema.Schema{}
			case score.Wire:
				return &jsonschema.Schema{Type: "object", Description: "an action of an act: see act.schema.json"}
			}
			return nil
		},
	}
	s := r.ReflectFromType(c.of)
	s.Title, s.Description = c.of.Name(), c.about
	return s
}

// reduceForFoxglove reduces the schema of an object to what Foxglove reads: each declared property is
// a boolean, a string, a number, an object whose properties are declared, or an array of these.
// Foxglove refuses the whole channel otherwise. A property whose content belongs to another contract,
// such as the payload of a command, is an object that declares nothing; additional properties
// are allowed, and shown.
func reduceForFoxglove(object map[string]any) {
	declared, _ := object["properties"].(map[string]any)
	if declared == nil {
		declared = map[string]any{}
		object["properties"] = declared
	}
	for name, p := range declared {
		property, _ := p.(map[string]any)
		if property == nil { // the schema true, which takes anything
			property = map[string]any{}
			declared[name] = property
		}
		if property["type"] == nil {
			property["type"] = "object"
		}
		if !isTyped(property) {
			delete(declared, name)
			if required, ok := object["required"].([]any); ok {
				object["required"] = slices.DeleteFunc(required, func(r any) bool { return r == name })
			}
		}
	}
}

// isTyped reports whether a property has one type that Foxglove reads, and reduces the objects in it.
func isTyped(property map[string]any) bool {
	switch property["type"] {
	case "boolean", "string", "number", "integer":
		return true
	case "object":
		reduceForFoxglove(property)
		return true
	case "array":
		items, ok := property["items"].(map[string]any)
		return ok && items["type"] != "array" && isTyped(items)
	}
	return false
}
