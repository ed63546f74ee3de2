package library

import (
	"time"

	"troupe/schema"
	"troupe/schema/sign"
)

// Kind is what an entry of the library is.
type Kind string

const (
	KindAct   Kind = "act"
	KindStory Kind = "story"
)

// Valid reports whether k is a kind of entry.
func (k Kind) Valid() bool { return k == KindAct || k == KindStory }

// Entry is one act or story of the library: the draft that its author last
// saved, and how far it is published.
type Entry struct {
	Kind        Kind
	ID          string
	Draft       []byte // as its author wrote it, YAML or JSON
	DraftRev    int64  // rises with every save; a save says which one it replaces
	DraftSHA256 string
	Problems    []schema.Problem // of the draft, when it was saved
	Rev         int64            // the newest published revision; 0 = never published
	ChangedAt   time.Time
	ChangedBy   string
	DeletedAt   time.Time // zero = not deleted; a deleted entry keeps everything
	DeletedBy   string
	DeletedWhy  string
}

// Deleted reports whether e is gone for everybody but who recovers it.
func (e Entry) Deleted() bool { return !e.DeletedAt.IsZero() }

// Revision is one published, immutable state of an entry. Its bytes are an act's
// JSON or a story's blob. Numbers rise by one; the highest is the current one.
type Revision struct {
	Kind      Kind
	ID        string
	Rev       int64
	SHA256    string
	Size      int64
	Body      []byte   // left out in lists
	Files     []string // digests of the files that it needs; only of one that is published now
	CreatedAt time.Time
	CreatedBy string
	Why       string
}

// Default is the story that the fleet desires one robot to perform. DesiredRev
// is the number under which the robot was last told; it only ever rises, and
// stays when Story is empty, which means none.
type Default struct {
	Robot      string
	DesiredRev int64 // 0 = never told anything
	Story      string
	Rev        int64
	Apply      schema.Apply
	Told       []byte // the document as the robot gets it; left out in lists
	ChangedAt  time.Time
	ChangedBy  string
}

// Pin names one published revision.
type Pin struct {
	ID  string
	Rev int64
}

// Rows is what a plan looks at: the whole library, with the published bytes
// that are current or that some robot has as its default.
type Rows struct {
	FleetID   string
	Seal      sign.Seal // signs what robots are told
	Entries   []Entry
	Revisions []Revision // with bytes
	Defaults  []Default  // of every robot that was ever told
	Assets    []Asset    // of every name
	FileBytes int64      // of all files, those that no name leads to included
	Catalogue Catalogue
	// Heard is what a robot says of the numbers of its desired documents; nil = nothing was heard.
	Heard func(robot string) schema.Heard
}

// Catalogue is what the robots' own bodies can play and show. A list is nil where
// that is not known, or where one of them takes any name.
type Catalogue struct{ Sounds, Faces []string }

// Message is something to be told through the broker. A blob's payload is left
// out: it is the blob named by Target.
type Message struct {
	Topic   schema.TopicKind
	Target  string // robot, or SHA-256 of a blob
	Payload []byte
	Remove  bool // the broker is to forget it
}

// Note is one line of the audit: who did what to whom.
type Note struct {
	Who, What, Target, Detail string
}

// Changes is what a plan decided, to be applied in one transaction or not at
// all. An entry is written only over the draft revision that the plan saw, a
// default only over the desired revision that it saw.
type Changes struct {
	Entries   []Entry    // the new rows
	Revisions []Revision // new, with bytes
	Defaults  []Default  // the new rows
	Files     []File     // new bytes, by digest
	Assets    []Asset    // the new rows
	Removed   []string   // names of assets
	Counter   int64      // the newest release counter that is given out now
	Outbox    []Message  // in the order in which they must go out: a blob before who needs it
	Notes     []Note
}

// Empty reports whether there is nothing to apply.
func (c Changes) Empty() bool {
	return len(c.Entries)+len(c.Revisions)+len(c.Defaults)+len(c.Files)+len(c.Assets)+len(c.Removed)+len(c.Outbox)+len(c.Notes) == 0
}
