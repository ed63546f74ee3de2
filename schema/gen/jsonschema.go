package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/invopop/jsonschema"

	"troupe/schema"
	"troupe/schema/verb"
)

// messages lists the types of messages by their names in the topic table.
var messages = map[string]any{
	"Presence":       schema.Presence{},
	"Heartbeat":      schema.Heartbeat{},
	"State":          schema.State{},
	"Modes":          schema.Modes{},
	"Caps":           schema.Caps{},
	"Acts":           schema.Acts{},
	"ReportedStory":  schema.ReportedStory{},
	"Event":          schema.Event{},
	"Intent":         schema.Intent{},
	"Ack":            schema.Ack{},
	"Request":        schema.Envelope{},
	"DesiredStory":   schema.DesiredStory{},
	"FleetHeartbeat": schema.FleetHeartbeat{},
	"Notice":         schema.Notice{},
	"DesiredConfig":  schema.DesiredConfig{},
	"ReportedConfig": schema.ReportedConfig{},
	"DesiredMode":    schema.DesiredMode{},
	"ReportedMode":   schema.ReportedMode{},
	"DesiredSet":     schema.DesiredSet{},
	"ReportedSet":    schema.ReportedSet{},
	"DesiredStop":    schema.DesiredStop{},
	"FleetStop":      schema.FleetStop{},
	"StopRequest":    schema.StopRequest{},
	"Revoked":        schema.Revoked{},
	"VelocityFrame":  schema.VelocityFrame{},
	"Telemetry":      schema.Telemetry{},
	"SimInput":       schema.SimInputs,
}

func schemaFile(message string) string { return strings.ToLower(message) + ".schema.json" }

func jsonSchemas() (map[string][]byte, error) {
	for _, t := range schema.Topics {
		if t.Message != "" && messages[t.Message] == nil {
			return nil, fmt.Errorf("topic %s: gen has no type for the message %s", t.Kind, t.Message)
		}
	}
	r := jsonschema.Reflector{
		// Readers ignore unknown fields, so that a minor version can add some.
		AllowAdditionalProperties: true,
		ExpandedStruct:            true,
		Anonymous:                 true,
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			switch t {
			case reflect.TypeFor[schema.Time]():
				return &jsonschema.Schema{Type: "string", Format: "date-time"}
			case reflect.TypeFor[jsontext.Value]():
				return &jsonschema.Schema{}
			}
			return nil
		},
	}
	out := map[string][]byte{}
	for name, value := range messages {
		s := r.Reflect(value)
		if name == "SimInput" { // each has its own fields
			s = simInputSchema()
		}
		s.Title = name
		if name != "SimInput" {
			describe(s, s.Definitions, reflect.TypeOf(value))
		}
		if name == "Request" {
			// Every verb has its own arguments: see commands.schema.json.
			s.Properties.Set("args", &jsonschema.Schema{Type: "object"})
		}
		if name == "DesiredConfig" {
			s.Properties.Set("values", settingsSchema())
		}
		text, err := indent(s)
		if err != nil {
			return nil, fmt.Errorf("encode the schema of %s: %w", name, err)
		}
		out[schemaFile(name)] = text
	}
	text, err := indent(commandSchema())
	if err != nil {
		return nil, fmt.Errorf("encode the schema of the verbs: %w", err)
	}
	out["commands.schema.json"] = text
	return out, nil
}

// simInputSchema describes the fields of each input under $defs/<name>.
func simInputSchema() *jsonschema.Schema {
	strict := jsonschema.Reflector{ExpandedStruct: true, Anonymous: true}
	s := &jsonschema.Schema{Version: jsonschema.Version, Definitions: jsonschema.Definitions{}}
	for _, row := range schema.SimInputs {
		input := strict.Reflect(row.Zero)
		input.Version, input.Description = "", row.Purpose
		s.Definitions[row.Name] = input
		s.AnyOf = append(s.AnyOf, &jsonschema.Schema{Ref: "#/$defs/" + row.Name})
	}
	return s
}

// commandSchema describes the args of each verb under $defs/<group>/<verb>.
func commandSchema() map[string]any {
	defs := map[string]any{}
	for _, v := range verb.All {
		props, required := map[string]any{}, []string{}
		for _, a := range v.Args() {
			p := map[string]any{"description": a.Purpose}
			switch a.Type {
			case verb.TypeAny:
			case verb.TypeString:
				p["type"], p["maxLength"] = "string", schema.MaxShortText
			case verb.TypeText:
				p["type"], p["maxLength"] = "string", schema.MaxText
			case verb.TypeUUID:
				p["type"], p["pattern"] = "string", "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
			case verb.TypeObject:
				p["type"], p["additionalProperties"] = "object", map[string]any{"type": "string", "maxLength": schema.MaxText}
			case verb.TypeArray:
				p["type"], p["items"] = "array", map[string]any{"type": "object"}
			default:
				p["type"] = string(a.Type)
			}
			props[a.Name] = p
			if a.Required {
				required = append(required, a.Name)
			}
		}
		defs[v.ID()] = map[string]any{
			"type": "object", "description": v.Purpose, "properties": props, "required": required,
			"patternProperties": map[string]any{"^x_": true}, "additionalProperties": false,
		}
	}
	return map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Arguments of the verbs", "$defs": defs}
}

func indent(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
