package schema

import "github.com/go-json-experiment/json/jsontext"

// Event is a piece of history: what happened, once. A consumer never rebuilds
// state from events. Seq rises by one per event of a boot, so that a gap shows.
type Event struct {
	TS        Time           `json:"ts"`
	Boot      string         `json:"boot"`
	Seq       int64          `json:"seq"`
	Type      string         `json:"type"` // snake_case, such as mode_changed
	Source    string         `json:"source"`
	Cause     string         `json:"cause,omitempty"`
	ReqID     string         `json:"req_id,omitempty"`
	Data      jsontext.Value `json:"data,omitempty"`
	Truncated bool           `json:"truncated,omitzero"` // over the limit: its data left out
}

// Validate reports what an event must carry and does not.
func (e *Event) Validate() []Problem {
	var c checks
	c.said("/boot", e.Boot != "")
	c.said("/type", e.Type != "")
	c.said("/source", e.Source != "")
	c.atLeast("/seq", e.Seq, 1)
	return c
}
