package policy

import (
	"troupe/fleetd/content"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// Text is a policy as people write it, such as in a file.
type Text struct {
	ID       string            `json:"policy"`
	Place    int               `json:"place,omitempty"`
	Selector selector.Selector `json:"selector"`
	Content  content.Content   `json:"content"`
	Enabled  *bool             `json:"enabled,omitempty"` // nil = true
}

// TextOf returns a policy as people write it.
func TextOf(p Policy) Text {
	t := Text{ID: p.ID, Place: p.Place, Selector: p.Selector, Content: p.Content}
	if !p.Enabled {
		t.Enabled = new(bool)
	}
	return t
}

// Policy returns the policy that a text describes.
func (t Text) Policy() Policy {
	return Policy{ID: t.ID, Place: t.Place, Selector: t.Selector, Content: t.Content, Enabled: t.Enabled == nil || *t.Enabled}
}

// Parse reads a policy from JSON, and reports everything that is wrong with it but for what its content names.
func Parse(text []byte) (Policy, []schema.Problem) {
	t, problems := schema.DecodeStrict[Text](text)
	if len(schema.Errors(problems)) > 0 {
		return Policy{}, problems
	}
	p := t.Policy()
	found := p.Problems()
	for i := range found {
		if found[i].Pointer == "/id" {
			found[i].Pointer = "/policy"
		}
	}
	return p, append(problems, found...)
}
