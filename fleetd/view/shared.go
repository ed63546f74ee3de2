package view

import (
	"reflect"
	"sync"

	"troupe/schema"
)

// sharedParts lets documents of different robots have the lists and maps in common that are equal, such as the verbs and the units of
// all robots of one model: most of a document's memory is in them. Nobody changes a document that the view has.
type sharedParts struct {
	mu     sync.Mutex
	newest map[string]any // document, by its kind and what equal ones agree on
}

// sharedMost is of how many models and releases the newest document is kept.
const sharedMost = 256

func (p *sharedParts) caps(c *schema.Caps) {
	share(p, "caps\x00"+c.Robot.Model+"\x00"+c.Software.Robotd, c)
}
func (p *sharedParts) modes(m *schema.Modes) { share(p, "modes", m) }

// share replaces the lists and maps of doc by those of the document that came before under the same key, where they are equal.
func share[T any](p *sharedParts, key string, doc *T) {
	p.mu.Lock()
	before, found := p.newest[key].(*T)
	p.mu.Unlock()
	if found {
		ours, theirs := reflect.ValueOf(doc).Elem(), reflect.ValueOf(before).Elem()
		for i := range ours.NumField() {
			part, same := ours.Field(i), theirs.Field(i)
			if k := part.Kind(); (k == reflect.Slice || k == reflect.Map) && reflect.DeepEqual(part.Interface(), same.Interface()) {
				part.Set(same)
			}
		}
	}
	p.mu.Lock() // only now: others read it
	defer p.mu.Unlock()
	if p.newest == nil || !found && len(p.newest) >= sharedMost {
		p.newest = map[string]any{}
	}
	p.newest[key] = doc
}
