package api

import (
	"encoding/json"
	"fmt"
	"strconv"

	"troupe/fleetd/audit"
	"troupe/fleetd/library"
	"troupe/schema"
	"troupe/schema/score"
)

// Entry is one act, story or activity of the library.
type Entry struct {
	Kind      string           `json:"kind" enum:"act,story,activity"`
	ID        string           `json:"id"`
	Name      string           `json:"name,omitempty" doc:"in its first language"`
	Names     score.Text       `json:"names,omitempty" doc:"by language, such as de"`
	DraftRev  int64            `json:"draft_rev" doc:"rises with every save; the ETag"`
	Rev       int64            `json:"rev" doc:"newest published revision; 0 = none"`
	Edited    bool             `json:"draft_changed" doc:"the draft differs from the published revision"`
	Problems  []schema.Problem `json:"problems"`
	ChangedAt schema.Time      `json:"changed_at"`
	ChangedBy string           `json:"changed_by,omitempty"`
	Robots    int              `json:"robots" doc:"robots that have it as default story, or among their activities"`

	DeletedAt  schema.Time `json:"deleted_at,omitzero"`
	DeletedBy  string      `json:"deleted_by,omitempty"`
	DeletedWhy string      `json:"deleted_why,omitempty"`

	LengthMS  int64    `json:"length_ms,omitempty" doc:"of one round, estimated; left out if the draft has errors"`
	Languages []string `json:"languages,omitempty" doc:"that it declares, or else those of its texts"`
	Steps     int      `json:"steps,omitempty" doc:"actions of an act, acts of a story or an activity"`

	Draft     string          `json:"draft,omitempty" doc:"as its author wrote it; left out in lists"`
	Content   json.RawMessage `json:"content,omitempty" doc:"the draft as JSON; left out in lists"`
	Revisions []Revision      `json:"revisions,omitempty"`
}

// Published says which revision is published.
func (e *Entry) Published() string {
	switch {
	case e.DeletedAt != 0:
		return "deleted"
	case e.Rev > 0:
		return strconv.FormatInt(e.Rev, 10)
	}
	return "draft"
}

// Found counts the errors of the draft, or else its warnings.
func (e *Entry) Found() string {
	n, what := len(schema.Errors(e.Problems)), "error"
	if n == 0 {
		n, what = len(e.Problems), "warning"
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Revision is one published revision of an entry.
type Revision struct {
	Rev    int64       `json:"rev"`
	SHA256 string      `json:"sha256"`
	Size   int64       `json:"size"`
	At     schema.Time `json:"at"`
	By     string      `json:"by,omitempty"`
	Why    string      `json:"why,omitempty"`
}

// Saved is the result of saving a draft.
type Saved struct {
	Entry     Entry `json:"entry"`
	Unchanged bool  `json:"unchanged" doc:"the draft had the same text already"`
}

// Validation is texts to validate together, and the assets that would be uploaded before them.
type Validation struct {
	Texts  []SourceText `json:"texts" minItems:"1" maxItems:"1000"`
	Assets []NewAsset   `json:"assets,omitempty" maxItems:"1000"`
}

// Publication is texts to publish together.
type Publication struct {
	Validation
	audit.Attribution
	DryRun bool `json:"dry_run,omitempty" doc:"only show what would change"`
}

// Publications are the results of a Publication, in the order of its texts.
type Publications struct {
	DryRun  bool        `json:"dry_run,omitempty"`
	Results []Published `json:"results"`
}

// SourceText is the source of an entry.
type SourceText struct {
	Kind string `json:"kind" enum:"act,story,activity"`
	Text string `json:"text" doc:"YAML, or JSON if it starts with {"`
}

// NewAsset is a sound, an image or a map that is not uploaded yet.
type NewAsset struct {
	Name string `json:"name" maxLength:"63"`
	Kind string `json:"kind" enum:"sound,face,map"`

	SHA256 string `json:"sha256,omitempty" maxLength:"64" doc:"with it a dry run tells whether stories change"`
	Size   int64  `json:"size,omitempty" minimum:"0"`
}

// Validities are the results of a Validation, in the order of its texts.
type Validities struct {
	Results []Validity `json:"results"`
}

// Validity lists the problems of a text.
type Validity struct {
	ID       string           `json:"id,omitempty" doc:"name of the entry, if it could be parsed"`
	Valid    bool             `json:"valid" doc:"it could be published"`
	Problems []schema.Problem `json:"problems"`
}

// Published is the result of publishing: the new revision, or the newest if nothing
// changed.
type Published struct {
	Kind      string   `json:"kind"`
	ID        string   `json:"id"`
	Revision  Revision `json:"revision"`
	Unchanged bool     `json:"unchanged" doc:"the newest revision has the same contents"`
	Stale     []string `json:"stale" doc:"stories whose newest revision uses an earlier revision of this act; publish them again to update them"`
	// StaleActivities are as Stale.
	StaleActivities []string `json:"stale_activities" doc:"activities whose newest revision uses an earlier revision of this act"`
}

// ToPublish is a draft to publish.
type ToPublish struct {
	audit.Attribution
	Acts []string `json:"acts,omitempty" maxItems:"1000" doc:"acts whose drafts are published before it, such as those that it names and that are only drafts"`
}

// PublishedWith is what was published, and the acts that were published before it.
type PublishedWith struct {
	Published
	Acts []Published `json:"acts,omitempty" doc:"the acts that were published before it, in their order"`
}

// Deletion is what a deletion does, or would do.
type Deletion struct {
	DryRun     bool             `json:"dry_run,omitempty"`
	Kind       string           `json:"kind"`
	ID         string           `json:"id"`
	Stories    []StoryImpact    `json:"stories" doc:"stories that change"`
	Activities []ActivityImpact `json:"activities" doc:"activities that change"`
	Robots     int              `json:"robots" doc:"robots that get a new desired story or new activities"`
	Clears     []string         `json:"clears" doc:"stories whose robots would be left without a default story"`
}

// StoryImpact is what the deletion of an act does to one story.
type StoryImpact struct {
	Story     string   `json:"story"`
	Before    int      `json:"acts_before"`
	After     int      `json:"acts_after" doc:"0 = the story is deleted too"`
	Rev       int64    `json:"rev" doc:"its newest revision afterwards"`
	Repinned  []string `json:"repinned" doc:"robots that get the revision without the act"`
	Cleared   []string `json:"cleared" doc:"robots that are left without a default story"`
	DraftOnly bool     `json:"draft_only"`
}

// ActivityImpact is what the deletion of an act does to one activity.
type ActivityImpact struct {
	Activity  string   `json:"activity"`
	Before    int      `json:"acts_before"`
	After     int      `json:"acts_after" doc:"0 = the activity is deleted too"`
	Rev       int64    `json:"rev" doc:"its newest revision afterwards"`
	Repinned  []string `json:"repinned" doc:"robots that get the revision without the act"`
	Cleared   []string `json:"cleared" doc:"robots that are left without this activity"`
	DraftOnly bool     `json:"draft_only"`
}

func entryOf(e library.Entry) Entry {
	out := Entry{
		Kind: string(e.Kind), ID: e.ID, DraftRev: e.DraftRev, Rev: e.Rev, Problems: nonNil(e.Problems),
		ChangedAt: timeOf(e.ChangedAt), ChangedBy: e.ChangedBy, DeletedAt: timeOf(e.DeletedAt), DeletedBy: e.DeletedBy, DeletedWhy: e.DeletedWhy,
		Draft: string(e.Draft),
	}
	if content, problems := library.Content(e.Kind, e.Draft); len(problems) == 0 {
		out.Content = content
	}
	switch e.Kind {
	case library.KindAct:
		a, _ := score.ParseAct(e.Draft)
		out.Name, out.Names = a.Name.In("en"), a.Name
	case library.KindStory:
		story, _ := score.ParseStory(e.Draft)
		out.Name, out.Names = story.Name.In(story.Languages...), story.Name
	case library.KindActivity:
		a, _ := score.ParseActivity(e.Draft)
		out.Name, out.Names = a.Name.In(a.Languages...), a.Name
	}
	return out
}

// summarise adds what a list shows.
func (e *Entry) summarise(s library.Summary) {
	e.Edited, e.LengthMS, e.Languages, e.Steps = s.Edited, s.LengthMS, s.Languages, s.Steps
}

func revisionOf(v library.Revision) Revision {
	return Revision{Rev: v.Rev, SHA256: v.SHA256, Size: v.Size, At: timeOf(v.CreatedAt), By: v.CreatedBy, Why: v.Why}
}

func publishedOf(done library.Published) Published {
	v := done.Revision
	return Published{Kind: string(v.Kind), ID: v.ID, Revision: revisionOf(v), Unchanged: done.Unchanged,
		Stale: idsOf(done.Stale, library.KindStory), StaleActivities: idsOf(done.Stale, library.KindActivity)}
}

func deletionOf(i library.Impact) Deletion {
	out := Deletion{Kind: string(i.Kind), ID: i.ID, Robots: i.Robots, Clears: nonNil(i.Clears), Stories: []StoryImpact{},
		Activities: []ActivityImpact{}}
	for _, one := range i.Stories {
		out.Stories = append(out.Stories, StoryImpact{
			Story: one.ID, Before: one.Before, After: one.After, Rev: one.Rev,
			Repinned: nonNil(one.Repinned), Cleared: nonNil(one.Cleared), DraftOnly: one.DraftOnly,
		})
	}
	for _, one := range i.Activities {
		out.Activities = append(out.Activities, ActivityImpact{
			Activity: one.ID, Before: one.Before, After: one.After, Rev: one.Rev,
			Repinned: nonNil(one.Repinned), Cleared: nonNil(one.Cleared), DraftOnly: one.DraftOnly,
		})
	}
	return out
}

// idsOf lists the ids of the entries of a kind, never nil.
func idsOf(refs []library.Ref, kind library.Kind) []string {
	ids := []string{}
	for _, r := range refs {
		if r.Kind == kind {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
