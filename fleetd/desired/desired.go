// Package desired state plans what fleetd desired documents of robots beside their story: settings,
// a mode, places and activities. A plan is a function of rows; whoever calls it
// applies its changes in the transaction in which the rows were read.
//
// A desired state for settings is always the whole document. What a person asks for is a
// change of it, and the labels, which are the fleet's own, are put in by fleetd.
package desired

import (
	"fmt"
	"slices"
	"time"

	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// The codes of problems that stand in the way of a plan.
const (
	CodeNobody       = "nobody"
	CodeCountChanged = "count_changed"
	CodeReserved     = "reserved"
)

// Told is the newest desired state of one kind that a robot was told. Payload is empty
// before the first.
type Told struct {
	Rev     int64
	Payload []byte
}

// Robot is one of those that are meant.
type Robot struct {
	ID     string
	Labels map[string]string
	Told   Told // of the kind in question
	Heard  schema.Heard
}

// Rows is what a plan looks at.
type Rows struct {
	FleetID string
	Seal    sign.Seal
	Robots  []Robot
	Files   map[string]int64 // bytes of each file that fleetd keeps, by digest; only for sets
}

// Ask is what somebody wants of robots: exactly one of its parts.
type Ask struct {
	Config     *Config
	Mode       *Mode
	Places     *Set
	Activities *Set
	Expected   *int // how many robots the caller saw; nil = any
}

// Mode is the mode to be in after start-up, or once now.
type Mode struct {
	Mode  schema.ModeID
	Apply schema.ApplyMode // empty = after start-up
}

// By is who wants it, and when.
type By struct {
	Who string
	Why string
	At  time.Time
}

// Changes is what a plan decided.
type Changes struct {
	Told      []string // robots that get a new desired state
	Unchanged []string // robots that had this desired state already
	Topic     schema.TopicKind
	Documents []Robot       // with their new desired state
	Blob      []byte        // what the desired documents need first; nil = nothing
	Files     []score.Asset // that it names
	SHA256    string
	Again     bool  // the desired state stays; only the number is another
	Counter   int64 // the newest that is given out now
	Note      string
}

// Topic is where the desired documents of a are told.
func (a Ask) Topic() schema.TopicKind {
	switch {
	case a.Config != nil:
		return schema.TopicDesiredConfig
	case a.Mode != nil:
		return schema.TopicDesiredMode
	case a.Places != nil:
		return schema.TopicDesiredPlaces
	}
	return schema.TopicDesiredActivities
}

// Plan decides who is told what. With problems nothing is to be changed.
func Plan(rows Rows, a Ask, by By) (Changes, []schema.Problem) {
	c := Changes{Topic: a.Topic()}
	p := plan{rows: rows, by: by, seal: rows.Seal}
	if found := p.check(a); len(found) > 0 {
		return c, found
	}
	for _, r := range rows.Robots {
		next, changed, err := p.document(a, r)
		if err != nil {
			return c, []schema.Problem{schema.Fault("", "bad_value", err.Error(), "")}
		}
		if !changed {
			c.Unchanged = append(c.Unchanged, r.ID)
			continue
		}
		r.Told = next
		c.Told, c.Documents = append(c.Told, r.ID), append(c.Documents, r)
	}
	if len(c.Told) > 0 && p.pin != nil {
		c.Blob, c.SHA256, c.Files = p.body, p.pin.SHA256, p.files
	}
	c.Counter = p.seal.Counter
	c.Note = p.what(a)
	return c, nil
}

type plan struct {
	rows Rows
	by   By
	seal sign.Seal
	pin  *schema.StoryPin
	body []byte

	files []score.Asset // that body names
}

// check judges the ask itself, and freezes a set.
func (p *plan) check(a Ask) []schema.Problem {
	switch {
	case len(p.rows.Robots) == 0:
		return []schema.Problem{schema.Fault("/selector", CodeNobody, "no robot is selected", "list the robots with the same selector")}
	case a.Expected != nil && *a.Expected != len(p.rows.Robots):
		return []schema.Problem{schema.Fault("/expected_count", CodeCountChanged,
			fmt.Sprintf("%d robots are selected, %d were expected", len(p.rows.Robots), *a.Expected), "look again with a dry run")}
	case a.Config != nil:
		return a.Config.check()
	case a.Mode != nil:
		return a.Mode.check()
	}
	set, judge, pointer := a.Places, judgePlaces, "/places"
	if set == nil {
		set, judge, pointer = a.Activities, judgeActivities, "/activities"
	}
	return p.freeze(set, judge, pointer)
}

func (m *Mode) check() []schema.Problem {
	var found []schema.Problem
	switch m.Mode {
	case schema.ModeMnl, schema.ModeAto:
	case schema.ModeStr:
		found = append(found, schema.Fault("/mode/mode", "bad_value", "start-up runs str by itself and ends in another mode", "mnl or ato; to calibrate again, set the mode str"))
	default:
		found = append(found, schema.Fault("/mode/mode", "bad_value", fmt.Sprintf("%q is not a mode that can be desired", m.Mode), "mnl or ato"))
	}
	switch m.Apply {
	case "", schema.ApplyModeBoot, schema.ApplyModeNow:
	default:
		found = append(found, schema.Fault("/mode/apply", "bad_value", fmt.Sprintf("%q is not a time to take a mode", m.Apply), "boot or now"))
	}
	return found
}

// document makes a robot's next desired state, or finds that it was told the same before.
func (p *plan) document(a Ask, r Robot) (Told, bool, error) {
	switch {
	case a.Config != nil:
		return p.config(*a.Config, r)
	case a.Mode != nil:
		return p.mode(*a.Mode, r)
	case a.Places != nil:
		return p.set(sign.Places, r)
	}
	return p.set(sign.Activities, r)
}

func (p *plan) mode(m Mode, r Robot) (Told, bool, error) {
	if m.Apply == "" {
		m.Apply = schema.ApplyModeBoot
	}
	was, _ := schema.Decode[schema.DesiredMode](r.Told.Payload)
	// A mode that is to be taken now is asked for anew: it may have been left since.
	if r.Told.Rev > 0 && was.Mode == m.Mode && was.Apply == m.Apply && m.Apply == schema.ApplyModeBoot && !p.again(r, was.Sig) {
		return r.Told, false, nil
	}
	d := schema.DesiredMode{Rev: r.Heard.Next(r.Told.Rev), FleetID: p.rows.FleetID, Mode: m.Mode, Apply: m.Apply, By: p.by.Who, TS: schema.TimeOf(p.by.At), Counter: p.seal.Next(p.by.At)}
	var err error
	d.Sig, err = p.seal.Sign(sign.Mode, r.ID, d)
	return told(d.Rev, d, err)
}

func told(rev int64, v any, err error) (Told, bool, error) {
	if err != nil {
		return Told{}, false, fmt.Errorf("sign the desired state: %w", err)
	}
	payload, err := schema.Encode(v)
	return Told{Rev: rev, Payload: payload}, true, err
}

// what says for the record what was asked.
func (p *plan) what(a Ask) string {
	switch {
	case a.Config != nil:
		text := "settings"
		keys := slices.Clone(a.Config.Unset)
		for key := range a.Config.Set {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			text += " " + key
		}
		return text
	case a.Mode != nil:
		return "mode " + string(a.Mode.Mode) + " " + string(a.Mode.Apply)
	case p.pin == nil && a.Places != nil:
		return "no places"
	case p.pin == nil:
		return "no activities"
	case a.Places != nil:
		return "places " + p.pin.ID
	}
	return "activities " + p.pin.ID
}
