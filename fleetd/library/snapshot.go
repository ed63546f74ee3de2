package library

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/audit"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// Codes of problems, besides those of acts and stories, which schema/score lists.
const (
	CodeNotFound     = "not_found"
	CodeDeleted      = "deleted"
	CodeConflict     = "conflict"           // changed since the caller read it
	CodeTaken        = "taken"              // the id of a copy or the name of an asset belongs to something else
	CodeNotPublished = "not_published"      // there is only a draft
	CodeActGone      = "act_gone"           // a published revision contains an act that was deleted since
	CodeActDraft     = "act_not_published"  // a draft names an act that is only a draft itself
	CodeActRemoved   = "act_removed"        // warning on a draft: a deleted act was removed from it
	CodeActDiffers   = "act_differs"        // two activities contain different revisions of an act
	CodeCountChanged = "count_changed"      // another number of stories, activities or robots than the caller expects
	CodeConfirm      = "needs_confirmation" // robots would be left without a story
	CodeNoRobot      = "no_robot"
)

// snapshot is the rows of one plan, indexed, with the changes collected so far.
type snapshot struct {
	fleetID   string
	signer    sign.Signer
	reported  func(robot string, topic schema.TopicKind) schema.ReportedRev
	entries   map[Ref]Entry
	revisions map[revisionKey]Revision
	defaults  map[string]Default                // by robot
	sets      map[string]ActivitySet            // by robot
	acts      map[string]score.Act              // newest revisions of acts that are not deleted
	published map[revisionKey]publishedSequence // parsed revisions of stories and activities
	assets    map[string]Asset
	catalogue Catalogue
	offered   []string             // ids of the acts that are validated in this request
	actIDs    []string             // ids of published acts, for hints
	faulty    map[string]bool      // acts that are validated in this request, and have errors
	checking  map[string]score.Act // acts whose validation has begun and waits for that of an act that they perform, so that a cycle is found

	changes    Changes
	sent       map[string]bool       // blobs in the outbox of this plan
	replacedBy map[revisionKey]int64 // by revision of an activity: the one that its robots get instead; 0 = none
}

type revisionKey struct {
	Ref
	rev int64
}

// newSnapshot indexes the rows. Published bodies always parse; one that does not is an
// internal error, and nothing is planned.
func newSnapshot(rows Rows) (*snapshot, []schema.Problem) {
	s := &snapshot{
		fleetID: rows.FleetID, signer: rows.Signer, reported: rows.Reported, actIDs: rows.ActIDs,
		entries: map[Ref]Entry{}, revisions: map[revisionKey]Revision{}, defaults: map[string]Default{}, sets: map[string]ActivitySet{},
		replacedBy: map[revisionKey]int64{},
		acts:       map[string]score.Act{}, published: map[revisionKey]publishedSequence{}, assets: map[string]Asset{}, catalogue: rows.Catalogue,
		faulty: map[string]bool{}, checking: map[string]score.Act{}, sent: map[string]bool{},
	}
	if s.reported == nil {
		s.reported = func(string, schema.TopicKind) schema.ReportedRev { return schema.ReportedRev{} }
	}
	broken := func(v Revision, problems []schema.Problem) []schema.Problem {
		return []schema.Problem{schema.NewProblem("", string(schema.ReasonInternal), fmt.Sprintf("revision %d of %s %s cannot be read: %v", v.Rev,
			v.Kind, v.ID, problems[0]), "")}
	}
	for _, e := range rows.Entries {
		s.entries[Ref{e.Kind, e.ID}] = e
	}
	for _, v := range rows.Revisions {
		at := revisionKey{Ref{v.Kind, v.ID}, v.Rev}
		s.revisions[at] = v
		switch e := s.entries[at.Ref]; {
		case v.Kind != KindAct:
			b, problems := parsePublished(v.Kind, v.Body)
			if len(problems) > 0 {
				return nil, broken(v, problems)
			}
			s.published[at] = b
		case v.Rev == e.Rev && !e.Deleted():
			a, problems := score.ParseAct(v.Body)
			if len(problems) > 0 {
				return nil, broken(v, problems)
			}
			s.acts[v.ID] = a
		}
	}
	for _, d := range rows.Defaults {
		s.defaults[d.Robot] = d
	}
	for _, set := range rows.Sets {
		s.sets[set.Robot] = set
	}
	for _, a := range rows.Assets {
		s.assets[a.Name] = a
	}
	return s, nil
}

// current returns the newest published revision of e.
func (s *snapshot) current(e Entry) Revision {
	return s.revisions[revisionKey{Ref{e.Kind, e.ID}, e.Rev}]
}

// act returns a published act.
func (s *snapshot) act(id string) (score.Act, bool) {
	a, ok := s.acts[id]
	return a, ok
}

// nested returns an act that another one performs: one that is being validated, so that a
// cycle is seen, or else a published one.
func (s *snapshot) nested(id string) (score.Act, bool) {
	if a, ok := s.checking[id]; ok {
		return a, true
	}
	return s.act(id)
}

// find returns an entry that is not deleted.
func (s *snapshot) find(kind Kind, id string) (Entry, []schema.Problem) {
	e, ok := s.entries[Ref{kind, id}]
	switch {
	case !ok:
		return e, []schema.Problem{schema.NewProblem("", CodeNotFound, fmt.Sprintf("there is no %s %s", kind, id),
			fmt.Sprintf("fleetd %s list lists them", kind))}
	case e.Deleted():
		return e, []schema.Problem{schema.NewProblem("", CodeDeleted, fmt.Sprintf("%s %s was deleted%s", kind, id, byWhom(e.DeletedBy)),
			"recover it, or save it again")}
	}
	return e, nil
}

// notDeleted lists the entries of these kinds that are not deleted, by kind and id.
func (s *snapshot) notDeleted(kinds ...Kind) []Entry {
	var all []Entry
	for _, e := range s.entries {
		if slices.Contains(kinds, e.Kind) && !e.Deleted() {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// assignedTo lists the robots with this story as default, or with this activity, sorted; rev 0 =
// any revision.
func (s *snapshot) assignedTo(of Ref, rev int64) []string {
	var robots []string
	if of.Kind == KindActivity {
		for _, set := range s.sets {
			if slices.ContainsFunc(set.Activities, func(p Pin) bool { return p.ID == of.ID && (rev == 0 || p.Rev == rev) }) {
				robots = append(robots, set.Robot)
			}
		}
	} else {
		for _, d := range s.defaults {
			if d.Story == of.ID && (rev == 0 || d.Rev == rev) {
				robots = append(robots, d.Robot)
			}
		}
	}
	slices.Sort(robots)
	return robots
}

// put adds a changed entry to the changes and to the snapshot.
func (s *snapshot) put(e Entry) {
	at := Ref{e.Kind, e.ID}
	s.entries[at] = e
	for i, old := range s.changes.Entries {
		if old.Kind == e.Kind && old.ID == e.ID {
			s.changes.Entries[i] = e
			return
		}
	}
	s.changes.Entries = append(s.changes.Entries, e)
}

// publish adds body, which needs those files, as the next revision of e.
func (s *snapshot) publish(e Entry, body []byte, files []score.Asset, by audit.Attribution, why string) (Entry, Revision) {
	e.Rev++
	v := Revision{Files: digestsOf(files), Kind: e.Kind, ID: e.ID, Rev: e.Rev, SHA256: digest(body), Size: int64(len(body)), Body: body,
		CreatedAt: by.At, CreatedBy: by.Who, Why: why}
	s.revisions[revisionKey{Ref{e.Kind, e.ID}, v.Rev}] = v
	s.changes.Revisions = append(s.changes.Revisions, v)
	s.put(e)
	return e, v
}

// setDefault sets the default story of robots, none if rev is 0, and adds their new desired
// documents to the outbox. With an empty apply each robot keeps its own.
func (s *snapshot) setDefault(robots []string, story string, rev int64, apply schema.Apply, by audit.Attribution) {
	for _, robot := range robots {
		d := s.defaults[robot]
		d.Robot, d.ChangedAt, d.ChangedBy = robot, by.At, by.Who
		d.DesiredRev = s.reported(robot, schema.TopicDesiredStory).NextRev(d.DesiredRev)
		if apply != "" {
			d.Apply = apply
		}
		if d.Apply == "" {
			d.Apply = schema.ApplyNextAct
		}
		if d.Story != story || d.Rev != rev {
			d.Previous = &Pin{ID: d.Story, Rev: d.Rev}
		}
		desired := schema.DesiredStory{Rev: d.DesiredRev, FleetID: s.fleetID, Apply: d.Apply, By: by.Who, TS: schema.TimeOf(by.At)}
		d.Story, d.Rev = "", 0
		if rev > 0 {
			at := revisionKey{Ref{KindStory, story}, rev}
			v, b := s.revisions[at], s.published[at]
			d.Story, d.Rev = story, rev
			desired.Story = &schema.ContentPin{ID: story, Rev: rev, Name: b.Story.Name.In(b.Story.Languages...), SHA256: v.SHA256, Size: v.Size}
			s.sendFiles(b.Assets)
			s.sendBlob(v.SHA256)
		}
		desired.Released, desired.Counter = s.signContent(sign.Story, desired.Story, by.At)
		desired.Sig = s.sign(sign.Story, robot, desired)
		d.Document = encode(desired)
		s.defaults[robot] = d
		s.changes.Defaults = append(s.changes.Defaults, d)
		s.changes.Outbox = append(s.changes.Outbox, Message{Topic: schema.TopicDesiredStory, Target: robot, Payload: d.Document})
	}
}

// signContent signs the content that a pin names, and takes the next signature counter for the
// document that names it. Errors are impossible.
func (s *snapshot) signContent(kind sign.Kind, pin *schema.ContentPin, now time.Time) (*schema.Signature, int64) {
	released, err := s.signer.SignContent(kind, pin)
	if err != nil {
		panic(err)
	}
	s.changes.Counter = s.signer.Next(now)
	return released, s.changes.Counter
}

// sign signs a complete desired document. Errors are impossible.
func (s *snapshot) sign(kind sign.Kind, robot string, document any) *schema.Signature {
	sig, err := s.signer.Sign(kind, robot, document)
	if err != nil {
		panic(err)
	}
	return sig
}

// sendFiles adds files to the outbox that are published as blobs.
func (s *snapshot) sendFiles(files []score.Asset) {
	for _, f := range files {
		if f.IsBlob() {
			s.sendBlob(f.SHA256)
		}
	}
}

// sendBlob adds a blob to the outbox, once per plan.
func (s *snapshot) sendBlob(sha string) {
	if !s.sent[sha] {
		s.sent[sha] = true
		s.changes.Outbox = append(s.changes.Outbox, Message{Topic: schema.TopicBlob, Target: sha})
	}
}

// digestsOf lists the digests of files without duplicates.
func digestsOf(files []score.Asset) []string {
	var all []string
	for _, f := range files {
		all = append(all, f.SHA256)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// encode encodes a value as JSON. Errors are impossible.
func encode(v any) []byte {
	b, err := schema.Encode(v)
	if err != nil {
		panic(err)
	}
	return b
}

// note adds an entry of the audit. The pointer to it is valid until the next one is added.
func (s *snapshot) note(by audit.Attribution, what audit.Action, target, detail string) *Note {
	s.changes.Notes = append(s.changes.Notes, Note{Who: by.Who, Why: by.Why, What: what, Target: target, Detail: detail})
	return &s.changes.Notes[len(s.changes.Notes)-1]
}

// noteEffect is note for what a change brings with it.
func (s *snapshot) noteEffect(by audit.Attribution, what audit.Action, target, why, detail string) {
	by.Why = why
	s.note(by, what, target, detail)
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// byWhom returns " by NAME", or "" without a name.
func byWhom(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}
