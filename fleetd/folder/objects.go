package folder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/policy"
	"troupe/fleetd/schedule"
	"troupe/schema"
	"troupe/schema/score"
)

// CodeNotNamed is a warning about places that no policy names.
const CodeNotNamed = "not_named"

// Site is the file of a site.
type Site struct {
	ID string `json:"site"`
	schedule.Calendar
}

// Schedule is the file of a schedule.
type Schedule struct {
	ID string `json:"schedule"`
	schedule.Schedule
}

// Of is the object of a file with what it says.
type Of[T any] struct {
	Object
	Is T
}

// Objects is what the files of a folder say that are not of the library.
type Objects struct {
	Places    map[string]Of[jsontext.Value] // by id, without layout
	Policies  []Of[policy.Policy]
	Sites     []Of[schedule.Calendar]
	Schedules []Of[schedule.Schedule]
}

// Parse reads the places, policies, sites and schedules of a folder, and reports everything that is wrong with them but for what they
// name. The places that a policy names by their id get their body from their file.
func (f Fleet) Parse() (out Objects, found, warnings []library.FileProblem) {
	out.Places = map[string]Of[jsontext.Value]{}
	named := map[string]bool{}
	refuse := func(o Object, problems []schema.Problem) {
		for _, p := range score.Locate(o.Text, problems) {
			at := library.FileProblem{Path: o.Path, Problem: p}
			if p.Severity == schema.SeverityWarning {
				warnings = append(warnings, at)
			} else {
				found = append(found, at)
			}
		}
	}
	for _, o := range f.Objects {
		if o.Kind != KindPlaces {
			continue
		}
		v, problems := score.ParsePlaces(o.Text)
		if len(schema.Errors(problems)) == 0 {
			problems = append(problems, score.ValidatePlaces(v)...)
		}
		if refuse(o, problems); len(schema.Errors(problems)) == 0 {
			out.Places[o.ID] = Of[jsontext.Value]{o, compact(o.Text)}
		}
	}
	for _, o := range f.Objects {
		switch o.Kind {
		case KindPolicy:
			p, problems := policy.Parse(o.JSON)
			if s := p.Content.Places; s != nil && s.ID != "" && len(s.Body) == 0 && s.SHA256 == "" {
				named[s.ID] = true
				if of, ok := out.Places[s.ID]; ok {
					p.Content.Places = &desired.Set{ID: s.ID, Rev: s.Rev, Body: of.Is}
				} else if !slices.ContainsFunc(f.Objects, func(x Object) bool { return x.Ref == Ref{KindPlaces, s.ID} }) {
					problems = append(problems, schema.NewProblem("/content/places/id", library.CodeNotFound, "the folder has no places "+s.ID,
						"write them: places/"+s.ID+".json"))
				}
			}
			refuse(o, problems)
			out.Policies = append(out.Policies, Of[policy.Policy]{o, p})
		case KindSite:
			s, problems := schema.DecodeStrictWithin[Site](o.JSON, maxDepth)
			if len(schema.Errors(problems)) == 0 {
				problems = append(problems, s.Calendar.Problems()...)
			}
			refuse(o, problems)
			out.Sites = append(out.Sites, Of[schedule.Calendar]{o, s.Calendar})
		case KindSchedule:
			s, problems := schema.DecodeStrictWithin[Schedule](o.JSON, maxDepth)
			if s.Enabled != nil && *s.Enabled {
				s.Enabled = nil // the default
			}
			refuse(o, problems)
			out.Schedules = append(out.Schedules, Of[schedule.Schedule]{o, s.Schedule})
		}
	}
	for _, o := range f.Objects {
		if o.Kind == KindPlaces && !named[o.ID] {
			p := schema.Problem{Severity: schema.SeverityWarning, Code: CodeNotNamed,
				Detail: "no policy of the folder names these places, so no robot gets them", Hint: "write a policy with content: {places: {id: " +
					o.ID + "}}"}
			warnings = append(warnings, library.FileProblem{Path: o.Path, Problem: p})
		}
	}
	return out, found, warnings
}

// Refuse says what is wrong with an object, at its lines.
func (o Object) Refuse(problems []schema.Problem) (found []library.FileProblem) {
	for _, p := range score.Locate(o.Text, problems) {
		found = append(found, library.FileProblem{Path: o.Path, Problem: p})
	}
	return found
}

func compact(body []byte) jsontext.Value {
	v := jsontext.Value(bytes.Clone(body))
	if err := v.Compact(); err != nil {
		return body // it was parsed before
	}
	return v
}

// SamePlaces reports whether two bodies of places are equal, apart from their layout.
func SamePlaces(a, b jsontext.Value) bool { return bytes.Equal(compact(a), compact(b)) }

// texts writes objects as files.
type texts struct {
	newest map[library.Ref]int64  // the newest revisions
	places map[string]desired.Set // those that lie in files of their own
}

// textsOf returns how the objects of a state are written: places lie in a file of their own if all policies that name them by their id
// have the same.
func textsOf(state State) texts {
	w := texts{map[library.Ref]int64{}, map[string]desired.Set{}}
	for _, e := range state.Library.Entries {
		w.newest[library.Ref{Kind: e.Kind, ID: e.ID}] = e.Rev
	}
	differ := map[string]bool{}
	for _, p := range state.Policies {
		s := p.Content.Places
		if s == nil || s.ID == "" {
			continue
		}
		if other, known := w.places[s.ID]; known && !SamePlaces(other.Body, s.Body) {
			differ[s.ID] = true
		}
		w.places[s.ID] = *s
	}
	for id := range differ {
		delete(w.places, id)
	}
	return w
}

// policy writes a policy. The newest revision of what it names is left out: the folder has its text.
func (w texts) policy(p policy.Policy) []byte {
	t := policy.TextOf(p)
	if s := t.Content.Story; s != nil {
		story := *s
		if story.Rev == w.newest[library.Ref{Kind: library.KindStory, ID: story.ID}] {
			story.Rev = 0
		}
		if story.Apply == schema.ApplyNextAct || story.ID == "" {
			story.Apply = "" // the default
		}
		t.Content.Story = &story
	}
	if a := t.Content.Activities; a != nil {
		activities := *a
		activities.Pins = slices.Clone(a.Pins)
		for i, pin := range activities.Pins {
			if pin.Rev == w.newest[library.Ref{Kind: library.KindActivity, ID: pin.ID}] {
				activities.Pins[i].Rev = 0
			}
		}
		t.Content.Activities = &activities
	}
	if s := t.Content.Places; s != nil {
		if _, ofItsOwn := w.places[s.ID]; ofItsOwn {
			t.Content.Places = &desired.Set{ID: s.ID}
		}
	}
	return yamlOf(t)
}

func placesText(body jsontext.Value) []byte {
	v := jsontext.Value(bytes.Clone(body))
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return body // it was parsed before
	}
	return append(v, '\n')
}

func siteText(id string, c schedule.Calendar) []byte { return yamlOf(Site{id, c}) }

func scheduleText(id string, s schedule.Schedule) []byte {
	if s.Enabled != nil && *s.Enabled {
		s.Enabled = nil
	}
	return yamlOf(Schedule{id, s})
}

// yamlOf writes the file of an object, without what has its zero value.
func yamlOf(v any) []byte {
	body, err := json.Marshal(v) // schema.Encode keeps false and 0
	if err == nil {
		body, err = score.FormatYAML(body)
	}
	if err != nil {
		panic(err) // impossible: it was decoded before
	}
	return body
}

// objects returns the files of the places, policies, sites and schedules of a state.
func (s State) objects() (files []File) {
	w := textsOf(s)
	add := func(kind Kind, id string, text []byte) {
		end := ".yaml"
		if kind == KindPlaces {
			end = ".json"
		}
		files = append(files, File{directories[kind] + "/" + fileName(id) + end, string(text)})
	}
	for id, set := range w.places {
		add(KindPlaces, id, placesText(set.Body))
	}
	for _, p := range s.Policies {
		add(KindPolicy, p.ID, w.policy(p))
	}
	for _, one := range s.Sites {
		add(KindSite, one.ID, siteText(one.ID, one.Calendar))
	}
	for _, one := range s.Schedules {
		if one.OfSite == "" { // its site has it otherwise
			add(KindSchedule, one.ID, scheduleText(one.ID, one.Schedule))
		}
	}
	return files
}

// fileName makes the name of a file of the value of a label, which may contain what names of files had better not.
func fileName(id string) string {
	if schema.ValidID(id) {
		return id
	}
	var out bytes.Buffer
	for _, r := range id {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, "_%x", r)
		}
	}
	return cmp.Or(out.String(), "site")
}

// Sites and Schedules of a state.
type (
	// SiteRow is a site of fleetd.
	SiteRow struct {
		ID, Owner string
		schedule.Calendar
	}
	// ScheduleRow is a schedule of fleetd.
	ScheduleRow struct {
		ID, Owner, OfSite string
		schedule.Schedule
	}
)

// PolicyChange is what an apply does to a policy; was is nil if it is new, next if it is deleted. The effect is none if they are equal.
func (m *Made) PolicyChange(before, after State, path string, was, next *policy.Policy) Change {
	c := Change{Path: path, Effect: library.EffectChange}
	var from, to []byte
	if was != nil {
		c.Ref, from = Ref{KindPolicy, was.ID}, textsOf(before).policy(*was)
	}
	if next != nil {
		c.Ref, to = Ref{KindPolicy, next.ID}, textsOf(after).policy(*next)
	}
	switch {
	case was == nil:
		c.Effect = library.EffectCreate
	case next == nil:
		c.Effect = library.EffectDelete
	case bytes.Equal(encode(policy.TextOf(*was)), encode(policy.TextOf(*next))):
		c.Effect = library.EffectNone
	case bytes.Equal(from, to):
		c.Why = fmt.Sprintf("%s becomes %s", was.Content, next.Content)
	}
	c.Diff = m.diff(c, from, to)
	return c
}

// PlacesChange is PolicyChange for places.
func (m *Made) PlacesChange(id, path string, was, next jsontext.Value) Change {
	c := Change{Ref: Ref{KindPlaces, id}, Path: path, Effect: library.EffectChange}
	var from, to []byte
	if was != nil {
		from = placesText(was)
	}
	if next != nil {
		to = placesText(next)
	}
	switch {
	case was == nil:
		c.Effect = library.EffectCreate
	case next == nil:
		c.Effect = library.EffectDelete
	case SamePlaces(was, next):
		c.Effect = library.EffectNone
	}
	c.Diff = m.diff(c, from, to)
	return c
}

// SiteChange is PolicyChange for a site.
func (m *Made) SiteChange(id, path string, was, next *schedule.Calendar) Change {
	var from, to []byte
	if was != nil {
		from = siteText(id, *was)
	}
	if next != nil {
		to = siteText(id, *next)
	}
	return m.textChange(Ref{KindSite, id}, path, from, to)
}

// ScheduleChange is PolicyChange for a schedule.
func (m *Made) ScheduleChange(id, path string, was, next *schedule.Schedule) Change {
	var from, to []byte
	if was != nil {
		from = scheduleText(id, *was)
	}
	if next != nil {
		to = scheduleText(id, *next)
	}
	return m.textChange(Ref{KindSchedule, id}, path, from, to)
}

func (m *Made) textChange(of Ref, path string, from, to []byte) Change {
	c := Change{Ref: of, Path: path, Effect: library.EffectChange}
	switch {
	case from == nil:
		c.Effect = library.EffectCreate
	case to == nil:
		c.Effect = library.EffectDelete
	case bytes.Equal(from, to):
		c.Effect = library.EffectNone
	}
	c.Diff = m.diff(c, from, to)
	return c
}

func (m *Made) diff(c Change, from, to []byte) string {
	if c.Effect == library.EffectNone || bytes.Equal(from, to) {
		return ""
	}
	return Diff(m.Folder, c.Path, from, to)
}

func encode(v any) []byte {
	b, err := schema.Encode(v)
	if err != nil {
		panic(err) // impossible: it was decoded before
	}
	return b
}

// FilePath is where an export writes the file of an object that is not of the library.
func FilePath(of Ref) string {
	if of.Kind == KindPlaces {
		return directories[of.Kind] + "/" + of.ID + ".json"
	}
	return directories[of.Kind] + "/" + fileName(of.ID) + ".yaml"
}
