package desired

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/audit"
	"troupe/schema"
	"troupe/schema/intents"
	"troupe/schema/interrupts"
	"troupe/schema/sign"
)

// LabelsKey is the setting with a robot's labels, which is not set as a setting.
const LabelsKey = "labels"

// Config changes settings; those that it does not name stay.
type Config struct {
	Set   map[string]jsontext.Value `json:"set,omitempty" doc:"values by key, as JSON"`
	Unset []string                  `json:"unset,omitempty" doc:"keys to reset to their default"`
}

func (c *Config) check() []schema.Problem {
	var found []schema.Problem
	if len(c.Set)+len(c.Unset) == 0 {
		found = append(found, schema.NewProblem("/config", "missing", "no setting is named",
			"write key=value, or name settings to reset to their default"))
	}
	_, labels := c.Set[LabelsKey]
	if labels || slices.Contains(c.Unset, LabelsKey) {
		found = append(found, schema.NewProblem("/config/set/labels", CodeReserved, "labels cannot be set as a setting",
			"use fleetd robot label, which also updates the setting"))
	}
	for key, value := range c.Set {
		if slices.Contains(c.Unset, key) {
			found = append(found, schema.NewProblem("/config/unset", "bad_value", key+" is both set and unset", ""))
		}
		switch k, known := schema.ConfigKeyOf(key); {
		case key == LabelsKey:
		case !known:
			found = append(found, unknownKey("/config/set/"+key, key))
		case !value.IsValid():
			found = append(found, schema.NewProblem("/config/set/"+key, "syntax", "the value is not JSON", `write a string in double quotes`))
		default:
			if wrong := k.Check(value); wrong != "" {
				found = append(found, schema.NewProblem("/config/set/"+key, "bad_value", key+": "+wrong, "it sets "+k.Purpose))
				break
			}
			for _, p := range append(interrupts.CheckSetting(key, value), intents.CheckSetting(key, value)...) {
				p.Pointer = "/config/set/" + key + p.Pointer
				found = append(found, p)
			}
		}
	}
	for _, key := range c.Unset {
		if _, known := schema.ConfigKeyOf(key); !known {
			found = append(found, unknownKey("/config/unset", key))
		}
	}
	return found
}

func unknownKey(pointer, key string) schema.Problem {
	names := make([]string, len(schema.ConfigKeys))
	for i, k := range schema.ConfigKeys {
		names[i] = k.Name
	}
	hint := "settings are " + strings.Join(names, ", ")
	if near := schema.Closest(key, names); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return schema.NewProblem(pointer, "unknown_field", "there is no setting "+key, hint)
}

// Labels plans to publish robots' present labels to them.
func Labels(rows Rows, by audit.Attribution) (Changes, []schema.Problem) {
	c := Changes{Topic: schema.TopicDesiredConfig}
	p := plan{rows: rows, by: by, signer: rows.Signer}
	for _, r := range rows.Robots {
		if r.Current.Rev == 0 && len(r.Labels) == 0 {
			continue // no document yet, and no labels to publish
		}
		next, changed, err := p.config(Config{}, r)
		if err != nil {
			return c, []schema.Problem{schema.NewProblem("", "bad_value", err.Error(), "")}
		}
		if changed {
			r.Current = next
			c.Updated, c.Documents = append(c.Updated, r.ID), append(c.Documents, r)
		}
	}
	c.Counter = p.signer.Counter
	return c, nil
}

func (p *plan) config(change Config, r Robot) (Document, bool, error) {
	was, _ := schema.Decode[schema.DesiredConfig](r.Current.Payload)
	values := map[string]jsontext.Value{}
	for key, value := range was.Values {
		values[key] = value
	}
	for key, value := range change.Set {
		values[key] = value
	}
	for _, key := range change.Unset {
		delete(values, key)
	}
	delete(values, LabelsKey)
	if len(r.Labels) > 0 {
		text, err := schema.Encode(r.Labels)
		if err != nil {
			return Document{}, false, err
		}
		values[LabelsKey] = text
	}
	if r.Current.Rev > 0 && same(values, was.Values) && !p.mustRepublish(r, was.Sig, nil, nil) {
		return r.Current, false, nil
	}
	d := schema.DesiredConfig{Rev: r.Reported.NextRev(r.Current.Rev), FleetID: p.rows.FleetID, Values: values, By: p.by.Who,
		TS: schema.TimeOf(p.by.At), Counter: p.signer.Next(p.by.At)}
	var err error
	d.Sig, err = p.signer.Sign(sign.Config, r.ID, d)
	return newDocument(d.Rev, d, err)
}

func same(a, b map[string]jsontext.Value) bool {
	if len(a) != len(b) {
		return false
	}
	for key, value := range a {
		other, ok := b[key]
		if !ok || !bytes.Equal(canonical(value), canonical(other)) {
			return false
		}
	}
	return true
}

func canonical(v jsontext.Value) []byte {
	c := v.Clone()
	if err := c.Canonicalize(); err != nil {
		return v
	}
	return c
}
