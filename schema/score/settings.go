package score

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	yamlv3 "go.yaml.in/yaml/v3"

	"troupe/schema"
)

// maxSettings is the greatest size of a file of settings.
const maxSettings = 1 << 20

// SettingsParser parses files of settings for koanf, with the reader of all other files, but only
// true and false are truth values: no is a language.
type SettingsParser struct{}

// Unmarshal parses YAML or JSON. A file without fields has no settings.
func (SettingsParser) Unmarshal(text []byte) (map[string]any, error) {
	var data jsontext.Value
	found := unreadable(text, maxSettings)
	if n := (*yamlv3.Node)(nil); len(found) == 0 {
		if n, found = parseYAML(text); len(found) == 0 {
			c := conversion{words: true}
			c.value(n)
			data, found = c.out, c.problems()
		}
	}
	if slices.ContainsFunc(found, func(p schema.Problem) bool { return p.Code == CodeEmpty }) || string(data) == "null" {
		return map[string]any{}, nil
	}
	var faults []error
	for _, p := range found {
		faults = append(faults, fmt.Errorf("line %d: %s", p.Line, p))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, errors.New("the file has no fields")
	}
	return integers(all).(map[string]any), nil
}

// Marshal is a part of koanf's interface.
func (SettingsParser) Marshal(all map[string]any) ([]byte, error) { return yamlv3.Marshal(all) }

// integers makes each number without a fraction an int.
func integers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = integers(member)
		}
	case []any:
		for i, entry := range v {
			v[i] = integers(entry)
		}
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int(v)
		}
	}
	return value
}
