// Package delivery is the robot's half of getting a default story: from the
// fleet's wish to the story that ato performs, and what is reported on the way.
//
// It is level-triggered: it compares the newest wish with what it has, at any
// time and whatever it heard before. A new story is fetched, checked and on
// disk before the old one is let go; only a newer wish, for another story or
// for none, takes a story away. A wiped broker wipes no robot: an emptied topic
// says nothing.
//
// It does no fetching, writing or performing: those are effects, and their
// results come back as inputs. Whether a blob can be performed here is a
// question that a Judge answers. Which story ato shall perform now is Playing.
package delivery

import (
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// Config is what a delivery goes by.
type Config struct {
	Fetch      time.Duration // how long one attempt to get a blob may take
	Probation  time.Duration // how long a new story may take to begin
	MaxBackoff time.Duration // between two attempts
	MaxBytes   int64         // the largest blob
	Judge      Judge
}

// Defaults returns the usual limits; the judge is the robot's own.
func Defaults(j Judge) Config {
	return Config{Fetch: 10 * time.Second, Probation: 10 * time.Second, MaxBackoff: 300 * time.Second,
		MaxBytes: int64(schema.TopicOf(schema.TopicBlob).MaxBytes), Judge: j}
}

// Judge answers whether a story can be performed. Both questions are pure.
type Judge struct {
	// Read turns bytes into a story, or says what is wrong with them.
	Read func(data []byte) (*score.Blob, []schema.Problem)
	// Fit says what of a story this robot can perform now.
	Fit func(b *score.Blob) Fit
}

// Fit is what of a story can be performed here. Reason is set when nothing can.
type Fit struct {
	Story   score.Story // without the acts that were left out
	Pruned  []string    // the acts that were left out
	Reason  schema.Reason
	Pointer string
	Detail  string
}

// Now is the moment of a step.
type Now struct {
	Mono time.Duration // since boot
	Wall schema.Time   // for reports
}

// Facts is what a delivery has to know of ato.
type Facts struct {
	Performing  bool // a story runs or is paused
	Held        bool // it is paused
	Boundary    bool // no act is in the middle, or one has just ended
	Interrupted bool // an interrupt runs
}

// Accepted is a story that passed every check, as the disk keeps it.
type Accepted struct {
	Rev   int64           `json:"rev"` // of the wish that brought it
	Story schema.StoryPin `json:"story"`
	Apply schema.Apply    `json:"apply"`
	Since schema.Time     `json:"since,omitzero"` // when it became active
}

// Kept is what the disk keeps of a delivery, beside the blobs of the three
// stories. Wish is the newest one that was obeyed; its authority is the fleet
// that this robot belongs to.
type Kept struct {
	Wish       schema.DesiredStory `json:"wish"`
	Phase      schema.DeployPhase  `json:"phase"`
	Reason     schema.Reason       `json:"reason,omitempty"`
	Pointer    string              `json:"pointer,omitempty"`
	Detail     string              `json:"detail,omitempty"`
	ActsDigest string              `json:"acts_digest,omitempty"`
	Active     *Accepted           `json:"active,omitzero"`
	Previous   *Accepted           `json:"previous,omitzero"`
	Staged     *Accepted           `json:"staged,omitzero"`
}

// Digests lists the blobs that k refers to: all others may be erased.
func (k *Kept) Digests() []string {
	var out []string
	for _, a := range []*Accepted{k.Active, k.Previous, k.Staged} {
		if a != nil {
			out = append(out, a.Story.SHA256)
		}
	}
	return out
}

// Input is something that happened to a delivery.
type Input interface{ input() }

// The inputs.
type (
	// Wished is the fleet's document, whenever it is seen.
	Wished struct{ Wish schema.DesiredStory }
	// Emptied says that the document was deleted.
	Emptied struct{}
	// Blob is what a Fetch brought; with Reason it brought nothing.
	Blob struct {
		SHA256 string
		Bytes  []byte
		Reason schema.Reason
		Detail string
	}
	// Written answers a Save that had a blob, with its Rev; and any other that
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
	Adopt struct{ Authority string }
	// Refit says that the robot's acts or units are others now.
	Refit struct{ ActsDigest string }
	// Tick lets time and facts take effect; Deadline says when one is wanted.
	Tick struct{}
)

func (Wished) input()      {}
func (Emptied) input()     {}
func (Blob) input()        {}
func (Written) input()     {}
func (Started) input()     {}
func (StartFailed) input() {}
func (Adopt) input()       {}
func (Refit) input()       {}
func (Tick) input()        {}

// Effect is something to be done, in the order in which it stands: a Save is on
// disk before the Tell behind it is sent, and where the disk refuses, that Tell
// is not sent.
type Effect interface{ effect() }

// The effects.
type (
	// Fetch asks for a blob until it is there, or StopFetch.
	Fetch struct {
		SHA256 string
		Size   int64
	}
	StopFetch struct{ SHA256 string }
	// Save keeps what a restart needs. The writer answers one with a Blob, and
	// one that the disk refused.
	Save struct {
		Kept   Kept
		Rev    int64 // of the wish whose blob it is
		SHA256 string
		Blob   []byte
	}
	// Tell reports; the sender fills in time, session and whether ato performs.
	// It follows an edge of the table, or with On empty a change within a phase.
	Tell struct {
		From, To schema.DeployPhase
		On       Event
		Why      string
		Report   schema.ReportedStory
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
