package library

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/audit"
	"troupe/schema"
	"troupe/schema/score"
)

var morning = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

// world stores rows in memory as the store does.
type world struct {
	entries   map[Ref]Entry
	revisions map[revisionKey]Revision
	defaults  map[string]Default
	sets      map[string]ActivitySet
	blobs     map[string]SetBlob
	assets    map[string]Asset
	files     map[string]File
	catalogue Catalogue
	outbox    []Message
	steps     int

	otherFiles int64 // bytes of files without a name
}

func newWorld() *world {
	return &world{entries: map[Ref]Entry{}, revisions: map[revisionKey]Revision{}, defaults: map[string]Default{},
		sets: map[string]ActivitySet{}, blobs: map[string]SetBlob{}, assets: map[string]Asset{}, files: map[string]File{}}
}

// rows returns the whole library, with the newest revisions, those that robots have, and
// those in also.
func (w *world) rows(also ...Pin) Rows {
	rows := Rows{FleetID: "fleet-1", Catalogue: w.catalogue, FileBytes: w.otherFiles}
	for _, a := range w.assets {
		rows.Assets = append(rows.Assets, a)
	}
	for _, f := range w.files {
		rows.FileBytes += int64(len(f.Body))
	}
	for _, e := range w.entries {
		rows.Entries = append(rows.Entries, e)
		if e.Kind == KindAct && e.Rev > 0 && !e.Deleted() {
			rows.ActIDs = append(rows.ActIDs, e.ID)
		}
	}
	slices.Sort(rows.ActIDs)
	for at, v := range w.revisions {
		performed := func(d Default) bool { return at.Kind == KindStory && d.Story == at.ID && d.Rev == at.rev }
		if w.entries[at.Ref].Rev == at.rev || slices.ContainsFunc(slices.Collect(maps.Values(w.defaults)), performed) ||
			at.Kind == KindActivity && w.assigned(Pin{at.ID, at.rev}) || slices.Contains(also, Pin{at.ID, at.rev}) {
			rows.Revisions = append(rows.Revisions, v)
		}
	}
	for _, d := range w.defaults {
		rows.Defaults = append(rows.Defaults, d)
	}
	for _, set := range w.sets {
		set.SHA256 = ""
		rows.Sets = append(rows.Sets, set)
	}
	return rows
}

// assigned reports whether some robot has a revision of an activity.
func (w *world) assigned(p Pin) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(w.sets)), func(set ActivitySet) bool { return slices.Contains(set.Activities, p) })
}

// read returns what the store would read for a plan about these robots.
func (w *world) read(read Reading, robots ...string) Rows {
	r := &worldReader{w, robots, Rows{FleetID: "fleet-1", Catalogue: w.catalogue}}
	read(r)
	return r.rows
}

// worldReader is the Reader of a world.
type worldReader struct {
	w      *world
	robots []string // of the plan
	rows   Rows
}

func (r *worldReader) Rows() *Rows { return &r.rows }

func (r *worldReader) Newest(kind Kind, ids ...string) {
	r.Entries(kind, ids...)
	for _, id := range ids {
		r.add(revisionKey{Ref{kind, id}, r.w.entries[Ref{kind, id}].Rev})
	}
}

func (r *worldReader) Entries(kind Kind, ids ...string) {
	for _, id := range ids {
		e, ok := r.w.entries[Ref{kind, id}]
		if ok && !slices.ContainsFunc(r.rows.Entries, func(o Entry) bool { return o.Kind == e.Kind && o.ID == e.ID }) {
			r.rows.Entries = append(r.rows.Entries, e)
		}
	}
}

func (r *worldReader) Uses(kinds []Kind, of ...Ref) {
	for at, e := range r.w.entries {
		if slices.Contains(kinds, at.Kind) && !e.Deleted() && (refersTo(RefsOfDraft(at.Kind, e.Draft), of) ||
			refersTo(r.w.refs(revisionKey{at, e.Rev}), of)) {
			r.Newest(at.Kind, at.ID)
		}
	}
}

func (r *worldReader) Revisions(kind Kind, pins ...Pin) {
	for _, pin := range pins {
		r.add(revisionKey{Ref{kind, pin.ID}, pin.Rev})
	}
}

func (r *worldReader) RobotStories(withRevisions bool) {
	for _, robot := range r.robots {
		if d, ok := r.w.defaults[robot]; ok {
			r.rows.Defaults = append(r.rows.Defaults, d)
			if withRevisions {
				r.Revisions(KindStory, Pin{d.Story, d.Rev})
			}
		}
	}
}

func (r *worldReader) RobotSets() {
	for _, robot := range r.robots {
		if set, ok := r.w.sets[robot]; ok {
			set.SHA256 = ""
			r.rows.Sets = append(r.rows.Sets, set)
		}
	}
}

func (r *worldReader) Assigned(of ...Ref) {
	among := func(kind Kind, p Pin) bool {
		at := Ref{kind, p.ID}
		return slices.Contains(of, at) || refersTo(r.w.refs(revisionKey{at, p.Rev}), of) ||
			refersTo(r.w.refs(revisionKey{at, r.w.entries[at].Rev}), of)
	}
	for _, d := range r.w.defaults {
		if d.Story != "" && among(KindStory, Pin{d.Story, d.Rev}) {
			r.rows.Defaults = append(r.rows.Defaults, d)
			r.Revisions(KindStory, Pin{d.Story, d.Rev})
		}
	}
	for _, set := range r.w.sets {
		if !slices.ContainsFunc(set.Activities, func(p Pin) bool { return among(KindActivity, p) }) {
			continue
		}
		set.SHA256 = ""
		r.rows.Sets = append(r.rows.Sets, set)
		for _, p := range set.Activities {
			r.add(revisionKey{Ref{KindActivity, p.ID}, p.Rev})
		}
	}
}

func (r *worldReader) Assets() { r.rows.Assets = r.w.rows().Assets }

func (r *worldReader) ActIDs() { r.rows.ActIDs = r.w.rows().ActIDs }

func (r *worldReader) FileBytes() { r.rows.FileBytes = r.w.rows().FileBytes }

func (r *worldReader) add(at revisionKey) {
	v, ok := r.w.revisions[at]
	if ok && !slices.ContainsFunc(r.rows.Revisions, func(o Revision) bool { return revisionKey{Ref{o.Kind, o.ID}, o.Rev} == at }) {
		r.rows.Revisions = append(r.rows.Revisions, v)
	}
}

func (w *world) refs(at revisionKey) []Ref { return RefsOfRevision(at.Kind, w.revisions[at].Body) }

func refersTo(refs, some []Ref) bool {
	return slices.ContainsFunc(refs, func(r Ref) bool { return slices.Contains(some, r) })
}

// by returns the author and time of the next request.
func (w *world) by(why string) audit.Attribution {
	w.steps++
	return audit.Attribution{Who: "anna", Why: why, At: morning.Add(time.Duration(w.steps) * time.Minute)}
}

// fatal is what *testing.T and *rapid.T have in common.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

// apply applies changes as the store does, and checks the invariants.
func (w *world) apply(t fatal, c Changes) {
	t.Helper()
	for _, f := range c.Files {
		if f.SHA256 != digest(f.Body) {
			t.Fatalf("a file of %d bytes has another digest", len(f.Body))
		}
		w.files[f.SHA256] = f
	}
	for _, a := range c.Assets {
		if f, ok := w.files[a.SHA256]; !ok || int64(len(f.Body)) != a.Size || f.Media != a.Media {
			t.Fatalf("%+v names an unknown file", a)
		}
		w.assets[a.Name] = a
	}
	for _, name := range c.Removed {
		if uses, _ := Uses(w.rows()); len(uses[name]) > 0 {
			t.Fatalf("%s is removed and used: %v", name, uses[name])
		}
		delete(w.assets, name)
	}
	for _, e := range c.Entries {
		old := w.entries[Ref{e.Kind, e.ID}]
		if e.DraftRev < old.DraftRev || e.Rev < old.Rev {
			t.Fatalf("%s %s goes back from draft %d, revision %d to %d, %d", e.Kind, e.ID, old.DraftRev, old.Rev, e.DraftRev, e.Rev)
		}
		w.entries[Ref{e.Kind, e.ID}] = e
	}
	for _, v := range c.Revisions {
		at := revisionKey{Ref{v.Kind, v.ID}, v.Rev}
		if old, ok := w.revisions[at]; ok {
			t.Fatalf("revision %d of %s %s is published twice: %s and %s", v.Rev, v.Kind, v.ID, old.SHA256, v.SHA256)
		}
		if v.SHA256 != digest(v.Body) || v.Size != int64(len(v.Body)) || v.Why == "" && v.CreatedBy == "" {
			t.Fatalf("revision %d of %s %s has wrong fields: %+v", v.Rev, v.Kind, v.ID, v)
		}
		w.pinned(t, v)
		w.revisions[at] = v
	}
	for _, d := range c.Defaults {
		if old := w.defaults[d.Robot]; d.DesiredRev <= old.DesiredRev {
			t.Fatalf("%s gets desired revision %d after %d", d.Robot, d.DesiredRev, old.DesiredRev)
		}
		w.defaults[d.Robot] = d
	}
	for _, b := range c.Blobs {
		if b.SHA256 != digest(b.Body) {
			t.Fatalf("a set of %d bytes has another digest", len(b.Body))
		}
		w.blobs[b.SHA256] = b
	}
	for _, set := range c.Sets {
		if old := w.sets[set.Robot]; set.DesiredRev <= old.DesiredRev {
			t.Fatalf("%s gets revision %d of its activities after %d", set.Robot, set.DesiredRev, old.DesiredRev)
		}
		w.sets[set.Robot] = set
	}
	w.checkPublished(t, c)
	w.outbox = append(w.outbox, c.Outbox...)
	w.holds(t)
}

// pinned checks that a revision lists the files that it needs, and that they exist.
func (w *world) pinned(t fatal, v Revision) {
	t.Helper()
	if v.Kind == KindAct {
		return
	}
	b, problems := parsePublished(v.Kind, v.Body)
	if len(problems) > 0 || len(b.Assets) != len(v.Files) { // no two names of one file here
		t.Fatalf("revision %d of %s names %d files and is stored with %v: %v", v.Rev, v.ID, len(b.Assets), v.Files, problems)
	}
	for _, f := range b.Assets {
		if file, ok := w.files[f.SHA256]; !ok || int64(len(file.Body)) != f.Size || file.Media.Kind() != f.Kind ||
			!slices.Contains(v.Files, f.SHA256) {
			t.Fatalf("revision %d of %s needs %+v, which does not exist", v.Rev, v.ID, f)
		}
	}
}

// updated checks that each new desired document is published once, after the blob that it names.
func (w *world) checkPublished(t fatal, c Changes) {
	t.Helper()
	blobs := map[string]bool{}
	published := 0
	for _, m := range c.Outbox {
		if m.Topic == schema.TopicBlob {
			blobs[m.Target] = true
			continue
		}
		published++
		if m.Topic == schema.TopicDesiredActivities {
			w.checkSet(t, m, blobs)
			continue
		}
		desired, problems := schema.DecodeStrict[schema.DesiredStory](m.Payload)
		d := w.defaults[m.Target]
		switch {
		case m.Topic != schema.TopicDesiredStory || len(problems) > 0:
			t.Fatalf("%s to %s: %v", m.Topic, m.Target, problems)
		case desired.FleetID != "fleet-1" || desired.Rev != d.DesiredRev || string(m.Payload) != string(d.Document):
			t.Fatalf("%s gets %s, and %+v is stored", m.Target, m.Payload, d)
		case desired.Story == nil && d.Story != "", desired.Story != nil && (desired.Story.ID != d.Story || desired.Story.Rev != d.Rev):
			t.Fatalf("%s gets %s, and %s revision %d is stored", m.Target, m.Payload, d.Story, d.Rev)
		case desired.Story != nil && !blobs[desired.Story.SHA256]:
			t.Fatalf("%s gets a document before its blob", m.Target)
		}
		if desired.Story != nil {
			for _, sha := range w.revisions[revisionKey{Ref{KindStory, desired.Story.ID}, desired.Story.Rev}].Files {
				if size := len(w.files[sha].Body); blobs[sha] != (size <= 256<<10) {
					t.Fatalf("%s gets a story with a file of %d bytes; published as a blob: %v", m.Target, size, blobs[sha])
				}
			}
		}
	}
	if published != len(c.Defaults)+len(c.Sets) {
		t.Fatalf("%d desired documents are published, %d are stored", published, len(c.Defaults)+len(c.Sets))
	}
}

// checkSet checks a desired document for activities, and that these blobs were published
// before it.
func (w *world) checkSet(t fatal, m Message, blobs map[string]bool) {
	t.Helper()
	desired, problems := schema.DecodeStrict[schema.DesiredSet](m.Payload)
	set := w.sets[m.Target]
	switch {
	case len(problems) > 0 || desired.FleetID != "fleet-1" || desired.Rev != set.DesiredRev || string(m.Payload) != string(set.Document):
		t.Fatalf("%s gets %s, and %+v is stored: %v", m.Target, m.Payload, set, problems)
	case (desired.Set == nil) != (len(set.Activities) == 0):
		t.Fatalf("%s gets %s, and %v is stored", m.Target, m.Payload, set.Activities)
	case desired.Set == nil:
		return
	case desired.Set.SHA256 != set.SHA256 || !blobs[set.SHA256]:
		t.Fatalf("%s gets the set %s before its blob", m.Target, m.Payload)
	}
	b := w.blobs[set.SHA256]
	published, problems := score.ParseActivities(b.Body)
	if problems = schema.Errors(append(problems, score.ValidateActivities(published)...)); len(problems) > 0 {
		t.Fatalf("%s gets %s: %v", m.Target, b.Body, problems)
	}
	for _, f := range published.Assets {
		if blobs[f.SHA256] != f.IsBlob() || !slices.Contains(b.Files, f.SHA256) {
			t.Fatalf("%s gets a set with the file %s, and blobs %v before it", m.Target, f.Name, blobs)
		}
	}
	for i, a := range published.Activities {
		p := set.Activities[i]
		var acts []string
		for _, step := range a.Acts {
			acts = append(acts, step.Act)
		}
		if was := w.contents(w.revisions[revisionKey{Ref{KindActivity, p.ID}, p.Rev}]); p.ID != a.ID || strings.Join(acts, " ") != was {
			t.Fatalf("%s gets %s with %v, and %s revision %d has %s", m.Target, a.ID, acts, p.ID, p.Rev, was)
		}
	}
}

// holds checks the invariants.
func (w *world) holds(t fatal) {
	t.Helper()
	for _, d := range w.defaults {
		if d.Story == "" {
			continue
		}
		e, ok := w.entries[Ref{KindStory, d.Story}]
		if !ok || e.Deleted() {
			t.Fatalf("%s has the deleted story %s", d.Robot, d.Story)
		}
		v, ok := w.revisions[revisionKey{Ref{KindStory, d.Story}, d.Rev}]
		if !ok || d.Rev > e.Rev {
			t.Fatalf("%s has revision %d of %s, which was never published", d.Robot, d.Rev, d.Story)
		}
		b, problems := score.ParsePublishedStory(v.Body)
		if len(problems) > 0 || len(b.Story.Acts) == 0 || b.Rev != v.Rev || b.Story.ID != d.Story {
			t.Fatalf("%s performs %s: %v", d.Robot, v.Body, problems)
		}
		for _, step := range b.Story.Acts {
			if w.entries[Ref{KindAct, step.Act}].Deleted() {
				t.Fatalf("%s has the deleted act %s in %s revision %d", d.Robot, step.Act, d.Story, d.Rev)
			}
			if _, ok := b.Acts[step.Act]; !ok {
				t.Fatalf("revision %d of %s does not contain its act %s", d.Rev, d.Story, step.Act)
			}
		}
	}
	for _, set := range w.sets {
		for _, p := range set.Activities {
			e := w.entries[Ref{KindActivity, p.ID}]
			v, ok := w.revisions[revisionKey{Ref{KindActivity, p.ID}, p.Rev}]
			if !ok || e.Deleted() || e.Rev < p.Rev {
				t.Fatalf("%s has revision %d of %s: %+v", set.Robot, p.Rev, p.ID, e)
			}
			for act := range strings.FieldsSeq(w.contents(v)) {
				if w.entries[Ref{KindAct, act}].Deleted() {
					t.Fatalf("%s has the deleted act %s in %s revision %d", set.Robot, act, p.ID, p.Rev)
				}
			}
			if w.contents(v) == "" {
				t.Fatalf("%s has %s without acts", set.Robot, p.ID)
			}
		}
	}
	for _, e := range w.entries {
		if e.Kind != KindAct && e.Rev > 0 {
			if _, ok := w.revisions[revisionKey{Ref{e.Kind, e.ID}, e.Rev}]; !ok {
				t.Fatalf("%s %s is at revision %d, which does not exist", e.Kind, e.ID, e.Rev)
			}
		}
	}
}

// actText and storyText return texts as authors write them.
func actText(id, what string) []byte {
	switch what {
	case "wrong":
		return []byte("act: " + id + "\nactions:\n  - {type: wait, start_ms: 500, end_ms: 100}\n")
	case "unreadable":
		return []byte("act: [" + id)
	}
	if other, nests := strings.CutPrefix(what, "performs:"); nests {
		return fmt.Appendf(nil, "act: %s\nactions:\n  - {type: act, start_ms: 1000, act: %s}\n  - {type: face, start_ms: 0, face: %s}\n", id,
			other, what[:4])
	}
	face, sound, plays := strings.Cut(what, "+")
	text := fmt.Appendf(nil, "# manually\nact: %s\nname: {en: %s}\nactions:\n  - {type: face, start_ms: 0, end_ms: 1000, face: %s}\n",
		id, id, face)
	if plays {
		text = fmt.Appendf(text, "  - {type: sound, start_ms: 0, timeout_ms: 900, sound: %s}\n", sound)
	}
	return text
}

func storyText(id string, acts []string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# manually\nstory: %s\nname: {en: The %s}\nrepeat: loop\nacts:", id, id)
	if len(acts) == 0 {
		b.WriteString(" []")
	}
	shutdown := ""
	for _, act := range acts {
		if id, ok := strings.CutPrefix(act, "shutdown="); ok {
			shutdown = "\nshutdown: " + id
			continue
		}
		fmt.Fprintf(&b, "\n  - {act: %s}", act)
	}
	b.WriteString(shutdown)
	return []byte(b.String() + "\n")
}

func activityText(id string, acts []string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "activity: %s\nname: {en: The %s}\nrepeat: once\nnature: solitary\nlaunch: {when: touch, cooldown: 1m}\nacts:", id, id)
	if len(acts) == 0 {
		b.WriteString(" []")
	}
	for _, act := range acts {
		fmt.Fprintf(&b, "\n  - {act: %s}", act)
	}
	return []byte(b.String() + "\n")
}

// fileOf returns a file of some kind.
func fileOf(kind, text string) []byte {
	switch kind {
	case "sound":
		return []byte("RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x01\x00\x00\x00" +
			text)
	case "large":
		return []byte("RIFF....WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x01\x00\x00\x00" +
			text + strings.Repeat(".", 300<<10))
	case "picture":
		return []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00\x3a\x7e\x9b\x55" + text)
	case "drawing":
		return []byte(`<?xml version="1.0"?><svg>` + text)
	case "nothing":
		return nil
	}
	return []byte(text)
}

// contents returns the acts of a revision in order.
func (w *world) contents(v Revision) string {
	if v.Kind == KindAct {
		a, _ := score.ParseAct(v.Body)
		face, _ := a.Actions[0].Do.(score.Face)
		return face.Face
	}
	b, _ := parsePublished(v.Kind, v.Body)
	return strings.Join(b.Story.ActIDs(), " ")
}

var _ fatal = (*testing.T)(nil)
