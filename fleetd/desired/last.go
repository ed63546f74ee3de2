package desired

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/audit"
	"troupe/schema"
)

// NewestChange is the newest change of one desired document of one robot.
type NewestChange struct {
	Robot string
	Topic schema.TopicKind
	Rev   int64
	At    time.Time
	By    string
	// PreviousAssignedAt is when what it had before was assigned; zero if that is not known.
	PreviousAssignedAt time.Time
	// Payload is the document, and Previous what was there before the change: a document, or of
	// stories and activities their names and revisions.
	Payload, Previous []byte
	Activities        jsontext.Value // their names and revisions, only of activities
}

// LastQuery selects the newest changes of desired documents.
type LastQuery struct {
	Robot string    // only requests that gave it something; empty = any
	At    time.Time // only requests of this time; zero = any
	Limit int
}

// LastAssignment is a change of desired documents that some robots still have as their newest one.
type LastAssignment struct {
	Topic  schema.TopicKind
	At     time.Time
	By     string
	Groups []Group
	// Why is the reason that the person gave, and Reverts whether they assigned the stories of before again.
	Why     string
	Reverts bool
}

// Group is the robots of an assignment to which the same happened.
type Group struct {
	Now    jsontext.Value // what they were given
	Before jsontext.Value // what they had before
	Why    string         // why they cannot be reverted; empty if they can
	Robots []NewestChange
	// Replaced is the newest assignment of what they had before; without a time it is not known.
	Replaced Replaced
}

// Replaced is an assignment that a later one replaced.
type Replaced struct {
	At      time.Time
	By, Why string
}

// LastAssignments groups changes by the request that made them, the newest first.
func LastAssignments(all []NewestChange) []LastAssignment {
	var out []LastAssignment
	for _, g := range all {
		i := slices.IndexFunc(out, func(a LastAssignment) bool { return a.Topic == g.Topic && a.At.Equal(g.At) && a.By == g.By })
		if i < 0 {
			i, out = len(out), append(out, LastAssignment{Topic: g.Topic, At: g.At, By: g.By})
		}
		now, had, why := g.difference()
		groups := &out[i].Groups
		k := slices.IndexFunc(*groups, func(o Group) bool {
			return string(o.Now) == string(now) && string(o.Before) == string(had) && o.Why == why
		})
		if k < 0 {
			k, *groups = len(*groups), append(*groups, Group{Now: now, Before: had, Why: why})
		}
		group := &(*groups)[k]
		group.Robots = append(group.Robots, g)
		if g.PreviousAssignedAt.After(group.Replaced.At) {
			group.Replaced.At = g.PreviousAssignedAt
		}
	}
	slices.SortStableFunc(out, func(a, b LastAssignment) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.By, b.By))
	})
	return out
}

// Times lists when assignments and those that they replaced were made, the newest first.
func Times(all []LastAssignment) (times []time.Time) {
	for _, a := range all {
		times = append(times, a.At)
		for _, g := range a.Groups {
			if !g.Replaced.At.IsZero() {
				times = append(times, g.Replaced.At)
			}
		}
	}
	slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	return slices.CompactFunc(times, time.Time.Equal)
}

// AddReasons adds what the audit says about assignments, and about those that they replaced.
func AddReasons(all []LastAssignment, notes []audit.Entry) {
	at := make(map[int64]audit.Entry, len(notes))
	for _, n := range notes {
		at[n.At.UnixMicro()] = n
	}
	for i := range all {
		n := at[all[i].At.UnixMicro()]
		all[i].Why, all[i].Reverts = n.Why, n.What == audit.ActionRevert
		for k := range all[i].Groups {
			r := &all[i].Groups[k].Replaced
			n := at[r.At.UnixMicro()]
			r.By, r.Why = n.Who, n.Why
		}
	}
}

// difference is what a change gave, and what was there before. Of settings it is those that differ.
func (g NewestChange) difference() (now, had jsontext.Value, why string) {
	switch g.Topic {
	case schema.TopicDesiredActivities:
		return g.Activities, jsontext.Value(g.Previous), ""
	case schema.TopicDesiredStory:
		d, _ := schema.Decode[schema.DesiredStory](g.Payload)
		story := struct {
			ID  string `json:"id,omitempty"`
			Rev int64  `json:"rev,omitzero"`
		}{}
		if d.Story != nil {
			story.ID, story.Rev = d.Story.ID, d.Story.Rev
		}
		text, _ := schema.Encode(story) // cannot fail: a text and a number
		return text, jsontext.Value(g.Previous), ""
	case schema.TopicDesiredConfig:
		was, _ := schema.Decode[schema.DesiredConfig](g.Previous)
		is, _ := schema.Decode[schema.DesiredConfig](g.Payload)
		ask, why := revertSettings(was.Values, is.Values)
		if why != "" {
			return nil, nil, why
		}
		return jsontext.Value(before(ask, g.Payload)), jsontext.Value((&plan{}).value(ask)), ""
	}
	ask := Request{Places: &Set{}}
	if g.Topic == schema.TopicDesiredMode {
		ask = Request{Mode: &Mode{}}
		if was, _ := schema.Decode[schema.DesiredMode](g.Previous); was.Mode == "" {
			return jsontext.Value(before(ask, g.Payload)), nil, noModeBefore
		}
	}
	return jsontext.Value(before(ask, g.Payload)), jsontext.Value(before(ask, g.Previous)), ""
}
