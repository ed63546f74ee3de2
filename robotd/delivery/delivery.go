// Package delivery brings a content that the fleet desires onto the robot: a
// default story, a set of activities or the places. It turns the desired document
// into the active content and reports the progress.
//
// It is level-triggered: it compares the newest desired document with what the
// robot has, whatever it received before. A new content is fetched with its files,
// checked and on disk before it replaces the active one. Only a newer desired
// document, for another content or for none, removes a content. A deleted retained
// message changes nothing, so a wiped broker does not wipe robots.
//
// It does not fetch, write or perform: those are effects, and their results come
// back as inputs. A Judge parses a content and decides whether this robot can use
// it; everything else is the same for all kinds. InUse returns the content to
// use now.
package delivery

import (
	"fmt"
	"time"

	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// Config is the configuration of one delivery.
type Config[C any] struct {
	Kind       sign.Kind
	Fetch      time.Duration // timeout of the first attempt to fetch a blob; later ones have up to six times as long
	Probation  time.Duration // how long a new content may take to begin
	MaxBackoff time.Duration // longest wait between two attempts
	MaxBytes   int64         // the largest blob; anything larger is transferred and stored as a file
	Judge      Judge[C]
}

// Defaults returns the usual limits.
func Defaults[C any](k sign.Kind, j Judge[C]) Config[C] {
	return Config[C]{Kind: k, Fetch: 10 * time.Second, Probation: 10 * time.Second, MaxBackoff: 300 * time.Second,
		MaxBytes: int64(schema.TopicOf(schema.TopicBlob).MaxBytes), Judge: j}
}

// Judge parses contents and decides whether this robot can use them. Its
// functions do no I/O. Fit depends on the robot as it is now, too, and is asked again after RobotChanged.
type Judge[C any] struct {
	// Read parses a content, or returns what is wrong with it.
	Read func(data []byte) (*C, []schema.Problem)
	// Identity returns the id and revision that the content itself contains; nil =
	// contents of this kind have none.
	Identity func(c *C) (id string, rev int64)
	// Files lists the files that a content needs; nil = none.
	Files func(c *C) []score.Asset
	// Fit returns which parts of a content this robot can use now.
	Fit func(c *C) Fit[C]
}

func (j *Judge[C]) files(c *C) []score.Asset {
	if j.Files == nil {
		return nil
	}
	return j.Files(c)
}

// mismatch explains why c is not the content that pin names; it is empty if it is.
func (j *Judge[C]) mismatch(c *C, pin *schema.ContentPin) cause {
	if j.Identity == nil {
		return cause{}
	}
	switch id, rev := j.Identity(c); {
	case id != pin.ID:
		return cause{schema.ReasonStoryInvalid, "/story/id", fmt.Sprintf("the desired document names %s, but its bytes contain %s", pin.ID, id)}
	case rev != pin.Rev:
		return cause{schema.ReasonStoryInvalid, "/story/rev",
			fmt.Sprintf("the desired document names revision %d of %s, but its bytes contain revision %d", pin.Rev, id, rev)}
	}
	return cause{}
}

// pointer returns the pointer to a field of the pin in the desired document.
func (c *Config[C]) pointer(field string) string {
	if c.Kind == sign.Story {
		return "/story/" + field
	}
	return "/set/" + field
}

// Fit is the usable part of a content. Reason is set if nothing is usable.
type Fit[C any] struct {
	Content *C                   // without what was left out
	Names   []string             // the parts that are used, as reports list them
	Pruned  []string             // the parts that were left out because they do not exist here
	Refused []schema.RefusedPart // the parts that were left out because this robot cannot use them
	Reason  schema.Reason
	Pointer string
	Detail  string
}

// Now is the time of a step.
type Now struct {
	Mono  time.Duration // since boot
	Wall  schema.Time   // for reports
	Fleet schema.Time   // the fleet's time, used for deadlines; 0 = unknown
}

// Facts is what a delivery needs to know about the use of its content.
type Facts struct {
	Performing  bool // a story runs or is paused
	Paused      bool // the story is paused
	BetweenActs bool // no act is running, or one has just ended
	Interrupted bool // an interrupt is running
}

// Desired is the content of a desired document of any kind.
type Desired struct {
	Rev      int64              `json:"rev"`
	FleetID  string             `json:"fleet_id"`
	Pin      *schema.ContentPin `json:"story"` // nil = withdrawn
	Apply    schema.Apply       `json:"apply"`
	Deadline schema.Time        `json:"deadline_ts,omitzero"` // 0 = none
}

// DesiredStory converts a desired story.
func DesiredStory(d *schema.DesiredStory) Desired {
	return Desired{d.Rev, d.FleetID, d.Story, d.Apply, d.DeadlineTS}
}

// DesiredSet converts desired activities or places. They apply at once,
// whatever runs: a focused activity that the new set lacks is stopped.
func DesiredSet(d *schema.DesiredSet) Desired {
	return Desired{Rev: d.Rev, FleetID: d.FleetID, Pin: d.Set, Apply: schema.ApplyNow}
}

// Accepted is a content that passed every check, as stored on disk.
type Accepted struct {
	Rev   int64             `json:"rev"` // of the desired document that named it
	Pin   schema.ContentPin `json:"story"`
	Apply schema.Apply      `json:"apply"`
	Since schema.Time       `json:"since,omitzero"` // when it became active
	Files []score.Asset     `json:"files,omitempty"`
}

// Persisted is the persisted state of a delivery, without the blobs of the three
// contents. Desired is the newest document that was accepted; its fleet id is the
// fleet that this robot belongs to. Previous is kept because a fleet often goes back to it, or
// to a revision with the same files: none of its large files is downloaded again then.
type Persisted struct {
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

// Digests lists the blobs and files that k refers to; all others may be erased.
func (k *Persisted) Digests() []string {
	var out []string
	for _, a := range []*Accepted{k.Active, k.Previous, k.Staged} {
		if a == nil {
			continue
		}
		out = append(out, a.Pin.SHA256)
		for _, f := range a.Files {
			out = append(out, f.SHA256)
		}
	}
	return out
}

// Input is an event that concerns a delivery.
type Input interface{ input() }

// The inputs.
type (
	// Document is a received desired document. With Refused it must not be
	// accepted, for example because its signature is wrong; Detail says why.
	Document struct {
		Desired Desired
		Refused schema.Reason
		Detail  string
	}
	// DocumentDeleted reports that the retained document was deleted.
	DocumentDeleted struct{}
	// FleetKnown reports which fleet the robot belongs to. It is ignored if this
	// delivery has accepted a document of a fleet already.
	FleetKnown struct{ FleetID string }
	// Arriving reports how many bytes of a file have arrived; a Fetch that makes
	// progress gets more time.
	Arriving struct {
		SHA256 string
		Bytes  int64
	}
	// Fetched is the result of a Fetch; with Reason it failed. A file comes as
	// Stored: it is on disk completely and has the right digest. A file with a
	// wrong digest has been erased, and Reason is bad_digest.
	Fetched struct {
		SHA256 string
		Bytes  []byte
		Stored bool
		Reason schema.Reason
		Detail string
	}
	// Written answers a Save with blobs, with its Rev, and any other Save that the
	// disk refused, with Rev 0.
	Written struct {
		Rev     int64
		Refused schema.Reason // empty = it is on disk
	}
	// Started reports that the first act of the story on probation has begun.
	Started struct{ SHA256 string }
	// StartFailed reports that it could not begin.
	StartFailed struct {
		SHA256 string
		Reason schema.Reason
		Detail string
	}
	// Adopt makes the robot belong to another fleet.
	Adopt struct{ FleetID string }
	// RobotChanged reports that the robot's acts, units or points have changed.
	RobotChanged struct{ ActsDigest string }
	// Tick reports that time has passed or facts have changed; State.Deadline
	// returns when the next one is due.
	Tick struct{}
)

func (Document) input()        {}
func (DocumentDeleted) input() {}
func (FleetKnown) input()      {}
func (Arriving) input()        {}
func (Fetched) input()         {}
func (Written) input()         {}
func (Started) input()         {}
func (StartFailed) input()     {}
func (Adopt) input()           {}
func (RobotChanged) input()    {}
func (Tick) input()            {}

// Blob is bytes identified by their digest.
type Blob struct {
	SHA256 string
	Bytes  []byte
}

// DiskContents is what the disk contains: blobs, and files larger than a blob whose
// digests were verified; both by SHA-256.
type DiskContents struct {
	Blobs map[string][]byte
	Files map[string]int64 // bytes
}

// Effect is something to do. Effects are done in order: a Save is on disk before
// the answer after it is sent; if the disk refuses the Save, that answer is not sent.
type Effect interface{ effect() }

// The effects.
type (
	// Fetch requests a blob, or a file that is too large for one, until it has
	// arrived or StopFetch. There is one at a time.
	Fetch struct {
		SHA256 string
		Size   int64
		File   bool
	}
	StopFetch struct{ SHA256 string }
	// Save persists what a restart needs. The writer answers a Save with Blobs and
	// one that the disk refused. Files that Persisted names without a blob are those
	// that were Stored.
	Save struct {
		Kind      sign.Kind
		Persisted Persisted
		Rev       int64 // of the desired document that the blobs belong to
		Blobs     []Blob
	}
	// PublishReport publishes the report, unless another one of the same step follows it; the component that
	// publishes it fills in time, session and whether ato performs. It follows a transition of the table, or
	// a change within a phase if On is empty.
	PublishReport struct {
		From, To schema.DeployPhase
		On       Event
		Why      string
		Report   Report
	}
	// RecordEvent is recorded as an event: something was ignored, or parts were left out.
	RecordEvent struct {
		Reason schema.Reason
		Detail string
	}
)

func (Fetch) effect()         {}
func (StopFetch) effect()     {}
func (Save) effect()          {}
func (PublishReport) effect() {}
func (RecordEvent) effect()   {}
