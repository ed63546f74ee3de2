// Package desired plans changes of the settings, mode and places of robots, signs their desired
// documents again when a higher revision is due, and describes the last assignments and the
// progress of every kind. Package library plans stories and activities. A plan is a function of
// rows; the caller applies the changes in the transaction in which it read the rows.
//
// The document of settings always has all settings. A request changes some of them, and
// fleetd adds the robot's labels.
package desired

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/audit"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// Codes of problems.
const (
	CodeNoRobot       = "no_robot"
	CodeCountChanged  = "count_changed"
	CodeReserved      = "reserved"
	CodeNotRevertible = "no_way_back"
)

// ReportOn maps the kind of a desired document to that of the robot's report.
var ReportOn = map[schema.TopicKind]schema.TopicKind{
	schema.TopicDesiredStory:      schema.TopicReportedStory,
	schema.TopicDesiredConfig:     schema.TopicReportedConfig,
	schema.TopicDesiredMode:       schema.TopicReportedMode,
	schema.TopicDesiredPlaces:     schema.TopicReportedPlaces,
	schema.TopicDesiredActivities: schema.TopicReportedActivities,
}

// Document is the newest desired document of one kind. Payload is empty if there is none.
type Document struct {
	Rev     int64
	Payload []byte
}

// Robot is one of the selected robots.
type Robot struct {
	ID       string
	Labels   map[string]string
	Current  Document           // newest document of the kind in question
	Previous []byte             // the one before the newest change, noDocument if there was none; empty = not known
	Reported schema.ReportedRev // what the robot reported about it
}

// Rows is the input of a plan.
type Rows struct {
	FleetID string
	Signer  sign.Signer
	Robots  []Robot
	Files   map[string]int64 // size of each file that fleetd has, by digest; only for sets
}

// Request is a request: exactly one of Config, Mode, Places, Points and Revert. Plan takes no
// Points and no Revert: PointRequests and RevertRequests make the others of them.
type Request struct {
	Revert   schema.TopicKind // what the robots had before the newest change of this document
	Config   *Config
	Mode     *Mode
	Places   *Set
	Points   *Points
	Expected *int // number of robots that the caller expects; nil = any
}

// Mode is the mode after start-up, and also once now with Apply now.
type Mode struct {
	Mode  schema.ModeID    `json:"mode"`
	Apply schema.ApplyMode `json:"apply,omitempty" enum:"boot,now" doc:"boot: after start-up; now: also once when the robot receives it; default boot"`
}

// Changes is the result of a plan.
type Changes struct {
	Updated   []string // robots that get a new document
	Unchanged []string // robots whose document stays
	Topic     schema.TopicKind
	Documents []Robot       // those of Updated, each with its new document in Current
	Blob      []byte        // to publish before the documents; nil = none
	Files     []score.Asset // that Blob names
	SHA256    string        // of Blob
	Again     bool          // of Renumber: only the revision changes
	Counter   int64         // the newest signature counter that was used
	Note      string        // for the audit

	Before, After string          // for the audit, as JSON, shortened: what changed; for several robots Before lists them by what they had
	ValuesBefore  []ValueOfRobots // what Updated had before
	ValuesAfter   []ValueOfRobots // what they get
	NotReverted   []NotReverted   // robots that a revert leaves as they are, and why
	Pinned        []string        // robots for which a policy says otherwise, of package change
}

// ValueOfRobots is a value that robots have in common, before or after a change.
type ValueOfRobots struct {
	Value  jsontext.Value // what their documents say about the settings, mode or places of the request; empty = they have none
	Robots []string
}

// Topic returns the kind of document that the request changes.
func (a Request) Topic() schema.TopicKind {
	switch {
	case a.Revert != "":
		return a.Revert
	case a.Config != nil:
		return schema.TopicDesiredConfig
	case a.Mode != nil:
		return schema.TopicDesiredMode
	}
	return schema.TopicDesiredPlaces
}

// withDefaults returns the request with what it leaves out; the document, the audit and comparisons
// must say the same.
func (a Request) withDefaults() Request {
	if a.Mode != nil && a.Mode.Apply == "" {
		a.Mode = &Mode{Mode: a.Mode.Mode, Apply: schema.ApplyModeBoot}
	}
	return a
}

// Plan returns the changes for a request, or problems.
func Plan(rows Rows, a Request, by audit.Attribution) (Changes, []schema.Problem) {
	a = a.withDefaults()
	c := Changes{Topic: a.Topic()}
	p := plan{rows: rows, by: by, signer: rows.Signer}
	if found := p.check(a); len(found) > 0 {
		return c, found
	}
	for _, r := range rows.Robots {
		next, changed, err := p.document(a, r)
		if err != nil {
			return c, []schema.Problem{schema.NewProblem("", "bad_value", err.Error(), "")}
		}
		if !changed {
			c.Unchanged = append(c.Unchanged, r.ID)
			continue
		}
		was := before(a, r.Current.Payload)
		c.addValueBefore(was, r.ID)
		if was != p.value(a) { // otherwise the robot keeps what it has, and a revert still leads to what it had before
			if r.Previous = r.Current.Payload; len(r.Previous) == 0 {
				r.Previous = []byte(noDocument)
			}
		}
		r.Current = next
		c.Updated, c.Documents = append(c.Updated, r.ID), append(c.Documents, r)
	}
	if len(c.Updated) > 0 && p.pin != nil {
		c.Blob, c.SHA256, c.Files = p.body, p.pin.SHA256, p.files
	}
	c.Counter = p.signer.Counter
	c.Note = p.describe(a)
	c.After = shortenForAudit(p.value(a))
	if len(c.Updated) > 0 {
		c.ValuesAfter = []ValueOfRobots{{Value: jsontext.Value(p.value(a)), Robots: c.Updated}}
	}
	switch {
	case len(c.Updated) == 1:
		c.Before = shortenForAudit(string(c.ValuesBefore[0].Value))
	case len(c.Updated) > 1:
		had := map[string][]string{}
		for _, w := range c.ValuesBefore {
			value := shortenForAudit(string(w.Value))
			had[value] = append(had[value], w.Robots...)
		}
		c.Before = audit.Robots(had)
	}
	return c, nil
}

// addValueBefore adds what a robot had before.
func (c *Changes) addValueBefore(value, robot string) {
	i := slices.IndexFunc(c.ValuesBefore, func(w ValueOfRobots) bool { return string(w.Value) == value })
	if i < 0 {
		i, c.ValuesBefore = len(c.ValuesBefore), append(c.ValuesBefore, ValueOfRobots{Value: jsontext.Value(value)})
	}
	c.ValuesBefore[i].Robots = append(c.ValuesBefore[i].Robots, robot)
}

type plan struct {
	rows   Rows
	by     audit.Attribution
	signer sign.Signer
	pin    *schema.ContentPin
	body   []byte

	files []score.Asset // that body names
}

// checkCount refuses a request for no robot, or for another number than expected.
func checkCount(rows Rows, expected *int) []schema.Problem {
	switch n := len(rows.Robots); {
	case n == 0:
		return []schema.Problem{schema.NewProblem("/selector", CodeNoRobot, "no robot is selected", "list the robots with the same selector")}
	case expected != nil && *expected != n:
		return []schema.Problem{schema.NewProblem("/expected_count", CodeCountChanged,
			fmt.Sprintf("%d robots are selected, %d were expected", n, *expected), "check with a dry run")}
	}
	return nil
}

// Check returns what is wrong with a request, whichever robots it is for.
func Check(rows Rows, a Request) []schema.Problem {
	p := plan{rows: rows}
	return p.checkContent(a.withDefaults())
}

// check validates the request, and pins a set.
func (p *plan) check(a Request) []schema.Problem {
	if found := checkCount(p.rows, a.Expected); len(found) > 0 {
		return found
	}
	return p.checkContent(a)
}

func (p *plan) checkContent(a Request) []schema.Problem {
	switch {
	case a.Config != nil:
		return a.Config.check()
	case a.Mode != nil:
		return a.Mode.check()
	}
	return p.pinPlaces(a.Places)
}

func (m *Mode) check() []schema.Problem {
	var found []schema.Problem
	switch m.Mode {
	case schema.ModeMnl, schema.ModeAto:
	case schema.ModeStr:
		found = append(found, schema.NewProblem("/mode/mode", "bad_value", "str runs at start-up and then changes to another mode",
			"write mnl or ato; to calibrate again, use fleetd mode set str"))
	default:
		found = append(found, schema.NewProblem("/mode/mode", "bad_value", fmt.Sprintf("%q cannot be the desired mode", m.Mode),
			"write mnl or ato"))
	}
	switch m.Apply {
	case schema.ApplyModeBoot, schema.ApplyModeNow:
	default:
		found = append(found, schema.NewProblem("/mode/apply", "bad_value", fmt.Sprintf("%q is not a value of apply", m.Apply),
			"write boot or now"))
	}
	return found
}

// document makes a robot's next document, or finds that nothing changes.
func (p *plan) document(a Request, r Robot) (Document, bool, error) {
	switch {
	case a.Config != nil:
		return p.config(*a.Config, r)
	case a.Mode != nil:
		return p.mode(*a.Mode, r)
	}
	return p.set(sign.Places, r)
}

func (p *plan) mode(m Mode, r Robot) (Document, bool, error) {
	was, _ := schema.Decode[schema.DesiredMode](r.Current.Payload)
	// A mode with apply now is always published again: the robot may have left it since.
	if r.Current.Rev > 0 && was.Mode == m.Mode && was.Apply == m.Apply && m.Apply == schema.ApplyModeBoot &&
		!p.mustRepublish(r, was.Sig, nil, nil) {
		return r.Current, false, nil
	}
	d := schema.DesiredMode{Rev: r.Reported.NextRev(r.Current.Rev), FleetID: p.rows.FleetID, Mode: m.Mode, Apply: m.Apply, By: p.by.Who,
		TS: schema.TimeOf(p.by.At), Counter: p.signer.Next(p.by.At)}
	var err error
	d.Sig, err = p.signer.Sign(sign.Mode, r.ID, d)
	return newDocument(d.Rev, d, err)
}

func newDocument(rev int64, v any, err error) (Document, bool, error) {
	if err != nil {
		return Document{}, false, fmt.Errorf("sign the desired state: %w", err)
	}
	payload, err := schema.Encode(v)
	return Document{Rev: rev, Payload: payload}, true, err
}

// describe describes the request for the audit.
func (p *plan) describe(a Request) string {
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
	case p.pin == nil:
		return "no places"
	}
	return strings.TrimSuffix("places "+p.pin.ID+" with "+strings.Join(a.Places.Added, " "), " with ")
}

// value is what the request sets.
func (p *plan) value(a Request) string {
	switch {
	case a.Config != nil:
		values := map[string]any{}
		for key, v := range a.Config.Set {
			values[key] = json.RawMessage(v)
		}
		for _, key := range a.Config.Unset {
			values[key] = nil
		}
		return encoded(values)
	case a.Mode != nil:
		return encoded(map[string]any{"mode": a.Mode.Mode, "apply": a.Mode.Apply})
	}
	return encoded(map[string]any{"places": p.pin})
}

// encoded returns a value as JSON, in full: values that differ only near their ends must compare as different.
func encoded(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// shortenForAudit returns a value as JSON, shortened for the audit.
func shortenForAudit(value string) string {
	if value == "" {
		return ""
	}
	return audit.JSON(json.RawMessage(value))
}

// ValueOf is what a document says about the settings, mode or places that a request sets, as JSON; empty = nothing.
func ValueOf(a Request, document []byte) string { return before(a, document) }

// Before returns the request that gives a robot back what its document says about the settings, mode or places that
// another request sets. Without a mode in the document it is refused, because a desired mode cannot be taken away. The
// mode is entered at the next start unless the other request asked for its own mode now: an old apply now, of a document
// that was obeyed long ago, must not move a robot at which a person has chosen another mode since.
func Before(a Request, document []byte) Request {
	switch {
	case a.Config != nil:
		d, _ := schema.Decode[schema.DesiredConfig](document)
		c := Config{Set: map[string]jsontext.Value{}}
		for _, key := range append(slices.Sorted(maps.Keys(a.Config.Set)), a.Config.Unset...) {
			if value, ok := d.Values[key]; ok {
				c.Set[key] = value
			} else {
				c.Unset = append(c.Unset, key)
			}
		}
		return Request{Config: &c}
	case a.Mode != nil:
		d, _ := schema.Decode[schema.DesiredMode](document)
		m := &Mode{Mode: d.Mode, Apply: d.Apply}
		if a.Mode.Apply != schema.ApplyModeNow {
			m.Apply = schema.ApplyModeBoot
		}
		return Request{Mode: m}
	}
	d, _ := schema.Decode[schema.DesiredSet](document)
	if d.Set == nil {
		return Request{Places: &Set{}}
	}
	return Request{Places: &Set{ID: d.Set.ID, Rev: d.Set.Rev, SHA256: d.Set.SHA256}}
}

// before is what a document says about the settings, mode or places that the request sets.
func before(a Request, was []byte) string {
	switch {
	case len(was) == 0:
		return ""
	case a.Config != nil:
		d, _ := schema.Decode[schema.DesiredConfig](was)
		values := map[string]any{}
		for key := range a.Config.Set {
			values[key] = json.RawMessage(d.Values[key])
		}
		for _, key := range a.Config.Unset {
			values[key] = json.RawMessage(d.Values[key])
		}
		return encoded(values)
	case a.Mode != nil:
		d, _ := schema.Decode[schema.DesiredMode](was)
		return encoded(map[string]any{"mode": d.Mode, "apply": d.Apply})
	}
	d, _ := schema.Decode[schema.DesiredSet](was)
	return encoded(map[string]any{"places": d.Set})
}
