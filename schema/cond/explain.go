package cond

import (
	"fmt"
	"strings"
)

// Part is one operand of a condition's outermost &&, and what it is now. All parts
// of a true condition are true.
type Part struct {
	Text    string         `json:"text"`
	True    bool           `json:"true"`
	Facts   map[string]any `json:"facts,omitempty"`   // the values of the keys that it names
	Missing []string       `json:"missing,omitempty"` // the keys that it names and that have no value now
	Error   string         `json:"error,omitempty"`   // why it has no result, if no key is missing
}

func (p Part) String() string {
	switch {
	case p.True:
		return p.Text + " is true"
	case len(p.Missing) > 0:
		return fmt.Sprintf("%s is not true: %s unknown", p.Text, strings.Join(p.Missing, " and "))
	case p.Error != "":
		return fmt.Sprintf("%s is not true: %s", p.Text, p.Error)
	}
	return p.Text + " is not true"
}

// Explain evaluates each part of the condition.
func (c *Condition) Explain(facts Facts) []Part {
	parts := make([]Part, 0, len(c.parts))
	for _, p := range c.parts {
		truth, err := evaluate(p.program, facts)
		explained := Part{Text: p.text, True: truth}
		for _, key := range p.keys {
			value, ok := facts[key]
			if !ok {
				explained.Missing = append(explained.Missing, key)
				continue
			}
			if explained.Facts == nil {
				explained.Facts = map[string]any{}
			}
			explained.Facts[key] = value
		}
		if err != nil && len(explained.Missing) == 0 {
			explained.Error = err.Error()
		}
		parts = append(parts, explained)
	}
	return parts
}
