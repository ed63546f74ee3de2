package schema

import "github.com/go-json-experiment/json/jsontext"

// Event reports something that happened, once. Consumers do not derive state from
// events. Seq rises by one with each event of a boot, so that gaps are visible.
type Event struct {
	TS        Time           `json:"ts"`
	Boot      string         `json:"boot"`
	Seq       int64          `json:"seq"`
	Type      string         `json:"type"` // snake_case, such as mode_changed
	Source    string         `json:"source"`
	Cause     string         `json:"cause,omitempty"`
	ReqID     string         `json:"req_id,omitempty"`
	Data      jsontext.Value `json:"data,omitempty"`
	Truncated bool           `json:"truncated,omitzero"` // over the size limit: data is left out
}

// Validate reports missing or invalid fields.
func (e *Event) Validate() []Problem {
	var c checks
	c.present("/boot", e.Boot != "")
	c.present("/type", e.Type != "")
	c.present("/source", e.Source != "")
	c.atLeast("/seq", e.Seq, 1)
	return c
}
