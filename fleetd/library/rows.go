package library

import (
	"time"

	"troupe/fleetd/audit"
	"troupe/schema"
	"troupe/schema/sign"
)

// Kind is the kind of an entry of the library.
type Kind string

const (
	KindAct      Kind = "act"
	KindStory    Kind = "story"
	KindActivity Kind = "activity"
)

// sequences are the kinds of entries that are a sequence of acts; kinds are all.
var (
	sequences = []Kind{KindStory, KindActivity}
	kinds     = []Kind{KindAct, KindStory, KindActivity}
)

// Entry is one act, story or activity of the library: the newest draft, and the number of its newest
// published revision.
type Entry struct {
	Kind        Kind
	ID          string
	Draft       []byte // as its author wrote it, YAML or JSON
	DraftRev    int64  // rises with every save; used for optimistic locking
	DraftSHA256 string
	Problems    []schema.Problem // of the draft, as validated last
	Rev         int64            // the newest published revision; 0 = never published
	ChangedAt   time.Time
	ChangedBy   string
	DeletedAt   time.Time // zero = not deleted; a deleted entry keeps its data
	DeletedBy   string
	DeletedWhy  string
}

// Deleted reports whether e is deleted; it can be recovered.
func (e Entry) Deleted() bool { return !e.DeletedAt.IsZero() }

// Revision is one published, immutable revision of an entry. Its body is an act's JSON, a
// story's blob, or a set of one activity. Revision numbers rise by one.
type Revision struct {
	Kind      Kind
	ID        string
	Rev       int64
	SHA256    string
	Size      int64
	Body      []byte   // left out in lists
	Files     []string // digests of the files that it needs; only set on new revisions
	CreatedAt time.Time
	CreatedBy string
	Why       string
}

// Default is the default story of one robot. DesiredRev is the revision of the robot's
// newest desired document; it only rises. An empty Story means none.
type Default struct {
	Robot      string
	DesiredRev int64 // 0 = no desired document yet
	Story      string
	Rev        int64
	Apply      schema.Apply
	Document   []byte // the desired document; left out in lists
	Previous   *Pin   // the story before the present one, without an id if there was none; nil = it was never changed
	ChangedAt  time.Time
	ChangedBy  string
}

// ActivitySet is the activities that are assigned to one robot. DesiredRev is the revision of
// the robot's newest desired document for them; it only rises.
type ActivitySet struct {
	Robot      string
	DesiredRev int64 // 0 = no desired document yet
	Activities []Pin
	SHA256     string // of the blob with these activities; empty without any; only set on new rows
	Document   []byte // the desired document
	Previous   []byte // the activities before the newest change, as JSON; empty = not known
	ChangedAt  time.Time
	ChangedBy  string
}

// SetBlob is the published form of a set of activities.
type SetBlob struct {
	SHA256 string
	Body   []byte
	Files  []string // digests of the files that it needs
}

// Pin names one published revision.
type Pin struct {
	ID  string `json:"id,omitempty"`
	Rev int64  `json:"rev,omitzero"`
}

// Rows is the input of a plan: what its Reading has read.
type Rows struct {
	FleetID   string
	Signer    sign.Signer // signs desired documents
	Entries   []Entry
	Revisions []Revision // with bodies
	Defaults  []Default
	Sets      []ActivitySet
	Assets    []Asset
	ActIDs    []string // of all published acts, if the plan needs them
	FileBytes int64    // of all files, also those without a name
	Catalogue Catalogue
	// Reported returns what a robot reported about a desired document; nil = nothing.
	Reported func(robot string, topic schema.TopicKind) schema.ReportedRev
}

// Catalogue lists the sounds and faces that robots have without assets. A list is nil if it
// is unknown, or if some robot accepts any name.
type Catalogue struct{ Sounds, Faces []string }

// Message is a retained message to publish. The payload of a blob is left out: it is the
// body with the digest Target.
type Message struct {
	Topic   schema.TopicKind
	Target  string // robot, or SHA-256 of a blob
	Payload []byte
	Remove  bool // delete the retained message
}

// Note is one entry of the audit.
type Note = audit.Note

// Changes is the result of a plan, to be applied in one transaction. The store writes an
// entry only over the draft revision that the plan read, and a default only over the
// desired revision that it read.
type Changes struct {
	Entries   []Entry       // the new rows
	Revisions []Revision    // new, with bodies
	Defaults  []Default     // the new rows
	Sets      []ActivitySet // the new rows
	Blobs     []SetBlob     // of Sets
	Files     []File        // new files
	Assets    []Asset       // the new rows
	Removed   []string      // names of deleted assets
	Counter   int64         // the newest signature counter that was used
	Outbox    []Message     // in the order of publication: a blob before documents that need it
	Notes     []Note
}

// Empty reports whether there is nothing to apply.
func (c Changes) Empty() bool {
	return len(c.Entries)+len(c.Revisions)+len(c.Defaults)+len(c.Sets)+len(c.Files)+len(c.Assets)+len(c.Removed)+len(c.Outbox)+
		len(c.Notes) == 0
}
