// Package content describes what robots can be given: a story, activities, settings, a mode or places. A rollout brings
// one content to many robots, a policy says which robots have it, and a schedule assigns it at its time.
package content

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/schema"
)

// Content is what robots shall have: exactly one of its fields is given.
type Content struct {
	Story      *Story          `json:"story,omitempty"`
	Activities *Activities     `json:"activities,omitempty"`
	Config     *desired.Config `json:"config,omitempty" doc:"settings that change; the others stay"`
	Mode       *desired.Mode   `json:"mode,omitempty"`
	Places     *desired.Set    `json:"places,omitempty"`
}

// Story is a default story.
type Story struct {
	ID    string       `json:"id,omitempty" maxLength:"63" doc:"empty = no default story"`
	Rev   int64        `json:"rev,omitempty" minimum:"0" doc:"0 = the newest, until the content is resolved"`
	Apply schema.Apply `json:"apply,omitempty" enum:"next_act,now,next_start" doc:"when it takes over; default next_act"`
}

// Activities is a whole set of activities; an empty list removes all.
type Activities struct {
	Pins []library.Pin `json:"pins" maxItems:"64" doc:"in the order in which people see them; a revision of 0 = the newest, until the content is resolved"`
}

// Topics are the kinds of desired documents that a content can be for, in the order in which people see them.
var Topics = []schema.TopicKind{
	schema.TopicDesiredStory, schema.TopicDesiredActivities, schema.TopicDesiredConfig, schema.TopicDesiredMode, schema.TopicDesiredPlaces,
}

// Topic returns the kind of desired document that the content is for; empty if none or several are given.
func (c Content) Topic() schema.TopicKind {
	var topics []schema.TopicKind
	if c.Story != nil {
		topics = append(topics, schema.TopicDesiredStory)
	}
	if c.Activities != nil {
		topics = append(topics, schema.TopicDesiredActivities)
	}
	if c.Config != nil {
		topics = append(topics, schema.TopicDesiredConfig)
	}
	if c.Mode != nil {
		topics = append(topics, schema.TopicDesiredMode)
	}
	if c.Places != nil {
		topics = append(topics, schema.TopicDesiredPlaces)
	}
	if len(topics) != 1 {
		return ""
	}
	return topics[0]
}

// Problems reports whether exactly one kind of content is given; what is in it is checked by the plans that assign it.
func (c Content) Problems(pointer string) []schema.Problem {
	if c.Topic() != "" {
		return nil
	}
	return []schema.Problem{schema.NewProblem(pointer, "one_of",
		"it has to name exactly one of story, activities, config, mode and places", "name one of them")}
}

// Digest identifies a resolved content, whose revisions are given: equal contents have equal digests.
func (c Content) Digest() (string, error) {
	b, err := schema.Encode(c)
	if err != nil {
		return "", fmt.Errorf("write content: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// String describes the content in a few words.
func (c Content) String() string {
	switch {
	case c.Story != nil && c.Story.ID == "":
		return "no default story"
	case c.Story != nil && c.Story.Rev == 0:
		return "story " + c.Story.ID
	case c.Story != nil:
		return fmt.Sprintf("story %s revision %d", c.Story.ID, c.Story.Rev)
	case c.Activities != nil && len(c.Activities.Pins) == 0:
		return "no activities"
	case c.Activities != nil:
		var names []string
		for _, p := range c.Activities.Pins {
			if p.Rev == 0 {
				names = append(names, p.ID)
			} else {
				names = append(names, fmt.Sprintf("%s@%d", p.ID, p.Rev))
			}
		}
		return "activities " + strings.Join(names, ", ")
	case c.Config != nil:
		keys := slices.Sorted(maps.Keys(c.Config.Set))
		for _, key := range c.Config.Unset {
			keys = append(keys, key+" (default)")
		}
		return "settings " + strings.Join(keys, ", ")
	case c.Mode != nil:
		return "mode " + string(c.Mode.Mode)
	case c.Places != nil && c.Places.ID == "":
		return "no places"
	case c.Places != nil:
		return "places " + c.Places.ID
	}
	return "nothing"
}
