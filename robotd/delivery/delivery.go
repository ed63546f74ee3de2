// Package delivery is the robot's half of getting a content that the fleet
// desired documents: a default story, a set of activities, places. It leads from the desired state to
// what is active, and says what is reported on the way.
//
// It is level-triggered: it compares the newest desired state with what it has, at any
// time and whatever it heard before. A new content is fetched with its files,
// checked and on disk before the old one is let go; only a newer desired state, for
// another content or for none, takes one away. A wiped broker wipes no robot: an
// emptied topic says nothing.
//
// It does no fetching, writing or performing: those are effects, and their
// results come back as inputs. What a content is and whether it can be used here
// are questions that a Judge answers; everything else is the same for each kind.
// Which content is to be used now is Playing.
package delivery

import (
	"fmt"
	"time"

	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// Config is what a delivery goes by.
type Config[C any] struct {
	Kind       sign.Kind
	Fetch      time.Duration // how long the first attempt to get a blob may take; later ones up to six times as long
	Probation  time.Duration // how long a new content may take to begin
	MaxBackoff time.Duration // between two attempts
	MaxBytes   int64         // the largest blob; a larger file is kept as a file
	Judge      Judge[C]
}

// Defaults returns the usual limits; the judge is the robot's own.
func Defaults[C any](k sign.Kind, j Judge[C]) Config[C] {
	return Config[C]{Kind: k, Fetch: 10 * time.Second, Probation: 10 * time.Second, MaxBackoff: 300 * time.Second,
		MaxBytes: int64(schema.TopicOf(schema.TopicBlob).MaxBytes), Judge: j}
}

// Judge answers what bytes are and whether they can be used. All questions are
// pure.
type Judge[C any] struct {
	// Read turns bytes into a content, or says what is wrong with them.
	Read func(data []byte) (*C, []schema.Problem)
	// Identity is the id and revision that the bytes themselves bear; nil = they bear
	// none.
	Identity func(c *C) (id string, rev int64)
	// Files lists what a content needs beside itself; nil = nothing ever does.
	Files func(c *C) []score.Asset
	// Fit says what of a content this robot can use now.
	Fit func(c *C) Fit[C]
}

func (j *Judge[C]) files(c *C) []score.Asset {
	if j.Files == nil {
		return nil
	}
	return j.Files(c)
}

// other says that a content is not the one that a desired state names, or nothing.
func (j *Judge[C]) other(c *C, pin *schema.StoryPin) outcome {
	if j.Identity == nil {
		return outcome{}
	}
	switch id, rev := j.Identity(c); {
	case id != pin.ID:
		return outcome{schema.ReasonStoryInvalid, "/story/id", fmt.Sprintf("the desired state names %s, and its bytes are those of %s", pin.ID, id)}
	case rev != pin.Rev:
		return outcome{schema.ReasonStoryInvalid, "/story/rev", fmt.Sprintf("the desired state names revision %d of %s, and its bytes are those of revision %d", pin.Rev, id, rev)}
	}
	return outcome{}
}

// Fit is what of a content can be used here. Reason is set when nothing can.
type Fit[C any] struct {
	Content *C       // without what was left out
	Names   []string // what of it is used, as reports list it
	Pruned  []string // what was left out
	Reason  schema.Reason
	Pointer string
	Detail  string
}

// Now is the moment of a step.
type Now struct {
	Mono  time.Duration // since boot
	Wall  schema.Time   // for reports
	Fleet schema.Time   // the fleet's time, which deadlines are in; 0 = not known
}

// Facts is what a delivery has to know of who uses its content.
type Facts struct {
	Performing  bool // a story runs or is paused
	Held        bool // it is paused
	Boundary    bool // no act is in the middle, or one has just ended
	Interrupted bool // an interrupt runs
}

// Desired is what the fleet wants, whatever its kind.
type Desired struct {
	Rev      int64            `json:"rev"`
	FleetID  string           `json:"fleet_id"`
	Pin      *schema.StoryPin `json:"story"` // nil = withdrawn
	Apply    schema.Apply     `json:"apply"`
	Deadline schema.Time      `json:"deadline_ts,omitzero"` // 0 = none
}

// DesiredStory is the desired state of a desired story.
func DesiredStory(d *schema.DesiredStory) Desired {
	return Desired{d.Rev, d.FleetID, d.Story, d.Apply, d.DeadlineTS}
}

// DesiredSet is the desired state of desired activities or places, which nothing performs in
// the middle of anything.
func DesiredSet(d *schema.DesiredSet) Desired {
	return Desired{Rev: d.Rev, FleetID: d.FleetID, Pin: d.Set, Apply: schema.ApplyNow}
}

// Accepted is a content that passed every check, as the disk keeps it.
type Accepted struct {
	Rev   int64           `json:"rev"` // of the desired state that brought it
	Story schema.StoryPin `json:"story"`
	Apply schema.Apply    `json:"apply"`
	Since schema.Time     `json:"since,omitzero"` // when it became active
	Files []score.Asset   `json:"files,omitempty"`
}

// Kept is what the disk keeps of a delivery, beside the blobs of the three
// contents. Desired state is the newest one that was obeyed; its fleet id is the fleet
// that this robot belongs to.
type Kept struct {
	Desired    Desired            `json:"desired"`
	Phase      schema.DeployPhase `json:"phase"`
	Reason     schema.Reason      `json:"reason,omitempty"`
	Pointer    string             `json:"pointer,omitempty"`
	Detail     string             `json:"detail,omitempty"`
	ActsDigest string             `json:"acts_digest,omitempty"`
	Active     *Accepted          `json:"active,omitzero"`
	Previous   *Accepted          `json:"previous,omitzero"`
	Staged     *Accepted          `json:"staged,omitzero"`
}

// Digests lists the blobs that k refers to: all others may be erased.
func (k *Kept) Digests() []string {
	var out []string
	for _, a := range []*Accepted{k.Active, k.Previous, k.Staged} {
		if a == nil {
			continue
		}
		out = append(out, a.Story.SHA256)
		for _, f := range a.Files {
			out = append(out, f.SHA256)
		}
	}
	return out
}

// Input is something that happened to a delivery.
type Input interface{ input() }

// The inputs.
type (
	// Document is the fleet's document, whenever it is seen. With Refused it is one
	// that must not be obeyed, and Detail says why.
	Document struct {
		Desired Desired
		Refused schema.Reason
		Detail  string
	}
	// Emptied says that the document was deleted.
	Emptied struct{}
	// Belong says which fleet the robot belongs to, where this delivery has not
	// found out by itself.
	Belong struct{ FleetID string }
	// Arriving says how many bytes of a file are here; a Fetch that still brings
	// some is given more time.
	Arriving struct {
		SHA256 string
		Bytes  int64
	}
	// Fetched is what a Fetch brought; with Reason it brought nothing. A file
	// comes as Stored: it is on the disk as a whole, with its digest. Bytes of a
	// file that did not have it are gone again, and their Reason is bad_digest.
	Fetched struct {
		SHA256 string
		Bytes  []byte
		Stored bool
		Reason schema.Reason
		Detail string
	}
	// Written answers a Save that had blobs, with its Rev; and any other that
	// was refused, with Rev 0.
	Written struct {
		Rev     int64
		Refused schema.Reason // empty = it is on disk
	}
	// Started says that the first act of the story on trial has begun.
	Started struct{ SHA256 string }
	// StartFailed says that it could not.
	StartFailed struct {
		SHA256 string
		Reason schema.Reason
		Detail string
	}
	// Adopt makes the robot obey another fleet.
	Adopt struct{ FleetID string }
	// Refit says that the robot's acts, units or points are others now.
	Refit struct{ ActsDigest string }
	// Tick lets time and facts take effect; Deadline says when one is wanted.
	Tick struct{}
)

func (Document) input()    {}
func (Emptied) input()     {}
func (Belong) input()      {}
func (Arriving) input()    {}
func (Fetched) input()     {}
func (Written) input()     {}
func (Started) input()     {}
func (StartFailed) input() {}
func (Adopt) input()       {}
func (Refit) input()       {}
func (Tick) input()        {}

// Blob is bytes that are known by their digest.
type Blob struct {
	SHA256 string
	Bytes  []byte
}

// Held is what the disk holds of contents: blobs, and the files that are too
// large for one, whose digests were found right; both by SHA-256.
type Held struct {
	Blobs map[string][]byte
	Files map[string]int64 // bytes
}

// Effect is something to be done, in the order in which it stands: a Save is on
// disk before the Tell behind it is sent, and where the disk refuses, that Tell
// is not sent.
type Effect interface{ effect() }

// The effects.
type (
	// Fetch asks for a blob, or for a file that is too large for one, until it is
	// there, or StopFetch. There is one at a time.
	Fetch struct {
		SHA256 string
		Size   int64
		File   bool
	}
	StopFetch struct{ SHA256 string }
	// Save keeps what a restart needs. The writer answers one with Blobs, and
	// one that the disk refused. Files that Kept names and no blob brings are
	// those that were Stored.
	Save struct {
		Kind  sign.Kind
		Kept  Kept
		Rev   int64 // of the desired state whose blobs they are
		Blobs []Blob
	}
	// Tell reports; the sender fills in time, session and whether ato performs.
	// It follows an edge of the table, or with On empty a change within a phase.
	Tell struct {
		From, To schema.DeployPhase
		On       Event
		Why      string
		Report   Report
	}
	// Note is worth an event: something was ignored, or acts were left out.
	Note struct {
		Reason schema.Reason
		Detail string
	}
)

func (Fetch) effect()     {}
func (StopFetch) effect() {}
func (Save) effect()      {}
func (Tell) effect()      {}
func (Note) effect()      {}
