package main

import (
	"encoding/json"
	"fmt"

	"github.com/invopop/jsonschema"

	"troupe/schema"
)

// settingsSchema describes the values of a desired configuration, for forms. A reader of a
// robot with a later release may see keys that are not listed.
func settingsSchema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.TrueSchema}
	for _, k := range schema.ConfigKeys {
		v := settingSchema(k)
		v.Description = k.Purpose
		if k.Restart {
			v.Extras = map[string]any{"x-restart": true} // in force after the next start
		}
		s.Properties.Set(k.Name, v)
	}
	return s
}

func settingSchema(k schema.ConfigKey) *jsonschema.Schema {
	one := func(words []string) *jsonschema.Schema {
		v := &jsonschema.Schema{Type: "string"}
		for _, w := range words {
			v.Enum = append(v.Enum, w)
		}
		return v
	}
	between := func(kind string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: kind, Minimum: json.Number(fmt.Sprint(k.Min)), Maximum: json.Number(fmt.Sprint(k.Max))}
	}
	each := func(v *jsonschema.Schema) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "object", AdditionalProperties: v}
	}
	switch k.Type {
	case schema.ConfigWord:
		return one(k.OneOf)
	case schema.ConfigMode, schema.ConfigZone:
		return &jsonschema.Schema{Type: "string"}
	case schema.ConfigInteger:
		return between("integer")
	case schema.ConfigNumber:
		return between("number")
	case schema.ConfigBoolean:
		return &jsonschema.Schema{Type: "boolean"}
	case schema.ConfigList:
		least := uint64(1)
		return &jsonschema.Schema{Type: "array", MinItems: &least, Items: one(nil)}
	case schema.ConfigObjects:
		return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "object"}}
	case schema.ConfigRanks, schema.ConfigUnits:
		return each(one(k.OneOf))
	case schema.ConfigLabels:
		return each(one(nil))
	case schema.ConfigThresholds:
		level := jsonschema.NewProperties()
		for _, name := range []string{"warm_c", "hot_c", "critical_c"} {
			level.Set(name, between("number"))
		}
		return each(&jsonschema.Schema{Type: "object", Properties: level, Required: []string{"warm_c", "hot_c", "critical_c"}})
	case schema.ConfigSwitches:
		names := jsonschema.NewProperties()
		for _, name := range k.OneOf {
			names.Set(name, &jsonschema.Schema{Type: "boolean"})
		}
		return &jsonschema.Schema{Type: "object", Properties: names, AdditionalProperties: jsonschema.FalseSchema}
	}
	panic("gen: no schema for settings of type " + string(k.Type))
}
