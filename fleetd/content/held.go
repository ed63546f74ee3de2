package content

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/schema"
)

// Held returns what a desired document gives to its robot; nothing if there is no document. The document of activities has only
// their digest, so their revisions are given beside it.
func Held(topic schema.TopicKind, document []byte, activities []library.Pin) (c Content) {
	if len(document) == 0 {
		return c
	}
	switch topic {
	case schema.TopicDesiredStory:
		d, _ := schema.Decode[schema.DesiredStory](document)
		c.Story = &Story{Apply: d.Apply}
		if d.Story != nil {
			c.Story.ID, c.Story.Rev = d.Story.ID, d.Story.Rev
		}
	case schema.TopicDesiredActivities:
		c.Activities = &Activities{Pins: activities}
	case schema.TopicDesiredConfig:
		d, _ := schema.Decode[schema.DesiredConfig](document)
		values := maps.Clone(d.Values)
		delete(values, desired.LabelsKey) // labels are no setting
		if len(values) > 0 {
			c.Config = &desired.Config{Set: values}
		}
	case schema.TopicDesiredMode:
		d, _ := schema.Decode[schema.DesiredMode](document)
		c.Mode = &desired.Mode{Mode: d.Mode, Apply: d.Apply}
	case schema.TopicDesiredPlaces:
		d, _ := schema.Decode[schema.DesiredSet](document)
		c.Places = &desired.Set{}
		if d.Set != nil {
			c.Places = &desired.Set{ID: d.Set.ID, Rev: d.Set.Rev, SHA256: d.Set.SHA256}
		}
	}
	return c
}

// Within reports whether a robot that has held has c, too: of settings, held may have more. When and how c takes effect does not
// count: a mode that robots entered once is published again under a higher revision to be entered at the next start.
func (c Content) Within(held Content) bool {
	switch {
	case c.Story != nil:
		was := Story{} // a robot without a document has no default story
		if held.Story != nil {
			was = *held.Story
		}
		return c.Story.ID == was.ID && c.Story.Rev == was.Rev
	case c.Activities != nil:
		var was []library.Pin
		if held.Activities != nil {
			was = held.Activities.Pins
		}
		return slices.Equal(c.Activities.Pins, was)
	case c.Config != nil:
		values := map[string]jsontext.Value{}
		if held.Config != nil {
			values = held.Config.Set
		}
		return !contradicts(*c.Config, func(key string) (jsontext.Value, bool) { v := values[key]; return v, true })
	case c.Mode != nil:
		return held.Mode != nil && c.Mode.Mode == held.Mode.Mode
	case c.Places != nil:
		was := desired.Set{}
		if held.Places != nil {
			was = *held.Places
		}
		return placesDigest(*c.Places) == placesDigest(was)
	}
	return true
}

// AtNextStart returns c, with a mode that robots enter at their next start, and not now as well: robots that get it because labels,
// pins or other policies changed must not begin to move by that.
func (c Content) AtNextStart() Content {
	if c.Mode != nil {
		c.Mode = &desired.Mode{Mode: c.Mode.Mode, Apply: schema.ApplyModeBoot}
	}
	return c
}

// Contradicts reports whether a robot that has c no longer has it after it was given other.
func (c Content) Contradicts(other Content) bool {
	if c.Topic() != other.Topic() {
		return false
	}
	if c.Config == nil {
		return !c.Within(other)
	}
	return contradicts(*c.Config, func(key string) (jsontext.Value, bool) {
		v, set := other.Config.Set[key]
		return v, set || slices.Contains(other.Config.Unset, key)
	})
}

// contradicts reports whether some setting that c names gets another value. value returns what a setting gets, empty for its default,
// and whether it gets one.
func contradicts(c desired.Config, value func(key string) (v jsontext.Value, given bool)) bool {
	for key, v := range c.Set {
		if got, given := value(key); given && !bytes.Equal(canonical(got), canonical(v)) {
			return true
		}
	}
	for _, key := range c.Unset {
		if got, given := value(key); given && len(got) > 0 {
			return true
		}
	}
	return false
}

func canonical(v jsontext.Value) []byte {
	c := v.Clone()
	if err := c.Canonicalize(); err != nil {
		return v
	}
	return c
}

func placesDigest(s desired.Set) string {
	if len(s.Body) == 0 {
		return s.SHA256
	}
	sum := sha256.Sum256(s.Body)
	return hex.EncodeToString(sum[:])
}
