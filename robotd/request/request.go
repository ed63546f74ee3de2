// Package request judges a command from its arrival to its final answer: is it
// well said, is it new, is it fresh, is there room for it; and it keeps the
// journal by which the same command never has two effects, not even over a
// restart.
//
// It does not decide what a command does. What passed is handed on by a Perform
// effect, and whoever performed it comes back with an Outcome. Every command
// that was taken gets exactly one final answer; what is refused at the door
// leaves no trace, so its id may be used again.
//
// Stops stand outside all of this: whatever their payload, their age or the
// state of the disk, Perform is the first effect of their arrival. A stop also
// ends every command that was taken before it and not yet performed, so that
// nothing older than a stop happens after it.
package request

import (
	"strings"
	"time"

	"troupe/schema"
)

// The bounds of a robot's memory for commands.
const (
	MaxOpen      = 64  // unfinished commands
	MaxClients   = 32  // clients with a journal; the least recently heard one leaves
	MaxPerClient = 256 // commands in a client's journal; the oldest finished one leaves
	MaxMarks     = 16  // sessions and groups of a client whose order is watched; the least recent one leaves
	MaxDetail    = 512 // bytes of an answer's detail, as JSON writes it
)

const (
	acceptWithin  = 400 * time.Millisecond // from arrival; leaves 100 ms for the way back
	progressEvery = 5 * time.Second
	offerEvery    = time.Second // a disk that refused finished records is left alone
	skewAllowed   = 30 * time.Second
	quoted        = 64 // bytes of a malformed payload that its answer shows
	enough        = 64 // finished commands that are remembered even if the disk is full
)

// maxStopBytes is how much of a stop is read. It stops however long it is, and
// what is too long says no more than that.
var maxStopBytes = schema.TopicOf(schema.TopicCmd).MaxBytes

// Now is the moment of a step. Only differences of wall clocks matter: the
// robot's may be wrong by years as long as Offset is known.
type Now struct {
	Mono       time.Duration // since boot
	Wall       schema.Time   // by the robot's clock
	Offset     time.Duration // the fleet's clock minus the robot's
	ClockKnown bool          // Offset was measured, or the robot's clock is synchronized
	// Standing is how things stand, for what a sender made a condition.
	Standing schema.Precondition
}

// Key names a command on this robot: client/id.
type Key string

// KeyOf makes the key of a client's command.
func KeyOf(client, id string) Key { return Key(client + "/" + id) }

// Client returns who asked.
func (k Key) Client() string { c, _, _ := strings.Cut(string(k), "/"); return c }

// ID returns the id that the client gave the command, or the robot made.
func (k Key) ID() string { _, id, _ := strings.Cut(string(k), "/"); return id }

// Refs point at the command; nothing does at what the robot does by itself.
func (k Key) Refs() []schema.Ref {
	if k == "" {
		return nil
	}
	return []schema.Ref{{Kind: schema.RefCommand, ID: string(k)}}
}

// Record is one command in the journal, as the disk keeps it. N orders the
// records over all boots.
type Record struct {
	N         int64       `json:"n"`
	Client    string      `json:"client"`
	ID        string      `json:"id"`
	Verb      string      `json:"verb"`
	Word      string      `json:"word,omitempty"`
	By        string      `json:"by,omitempty"`
	Session   string      `json:"session,omitempty"` // the sender's, in which Seq counts
	Seq       int64       `json:"seq,omitzero"`
	At        schema.Time `json:"at"`
	SHA256    [32]byte    `json:"sha256"` // of verb and payload: what makes two commands the same
	Answer    Answer      `json:"answer"`
	Nameless  bool        `json:"nameless,omitzero"`  // the sender's own id could not be read
	Delivered bool        `json:"delivered,omitzero"` // the broker confirmed the final answer
}

// Key names the record.
func (r *Record) Key() Key { return KeyOf(r.Client, r.ID) }

// Answer is the part of an answer that stays true: what a repeated command is
// told again. Status is empty until there is a final one.
type Answer struct {
	Status       schema.Status `json:"status,omitempty"`
	Result       schema.Result `json:"result,omitempty"`
	Reason       schema.Reason `json:"reason,omitempty"`
	Detail       string        `json:"detail,omitempty"`
	Pointer      string        `json:"pointer,omitempty"`
	UncheckedAge bool          `json:"unchecked_age,omitzero"`
}

// Input is something that happened to commands.
type Input interface{ input() }

// The inputs.
type (
	// Arrival is a message on a command topic; Group and Verb stand in it.
	Arrival struct {
		Client, Group, Verb string
		Payload             []byte
		Retained            bool
		Local               bool          // its sender stands at the robot
		Overtaken           bool          // a stop that arrived later was taken already
		Behind              bool          // the disk does not keep up
		Late                time.Duration // it may have been sent that long before it arrived
	}
	// Saved says that the disk took the records of these commands, or refused.
	Saved struct {
		Keys    []Key
		Refused schema.Reason // empty = they are on disk
	}
	// Outcome is what came of a performed command. Status ACCEPTED means that it
	// was begun and another outcome follows.
	Outcome struct {
		Key      Key
		Status   schema.Status
		Result   schema.Result // empty = as the verb's class and the reason imply
		Reason   schema.Reason
		Detail   string
		Pointer  string
		Progress *int          // 0-100, of one that goes on
		Left     time.Duration // how long it still takes; 0 = nobody can say
		StateSeq int64         // the state document that shows the effect
		Current  *schema.Now   // where the robot stands
		Lease    *schema.Lease // control that was given, or who else has it
		Refs     []schema.Ref  // what it is about, at most schema.MaxRefs
		Moves    bool          // with ACCEPTED: something begins to move, and its sender hears so before
	}
	// Revoked says that what a finished command had given was taken away again.
	// Its sender is told, under its id, by a second answer.
	Revoked struct {
		Key    Key
		Reason schema.Reason
		Detail string
		Lease  *schema.Lease // who has it now
		Refs   []schema.Ref  // by which command
	}
	// Delivered says that the broker confirmed the final answer to a command.
	Delivered struct{ Key Key }
	// Connected says that the link to the broker is ready.
	Connected struct{}
	// Stopped says that the robot was stopped otherwise than by a command, or that
	// such a stop was released: what was taken before and not begun is too old.
	Stopped struct{ Detail string }
	// Tick lets time pass; Deadline says when one is wanted.
	Tick struct{}
)

func (Arrival) input()   {}
func (Saved) input()     {}
func (Outcome) input()   {}
func (Revoked) input()   {}
func (Delivered) input() {}
func (Connected) input() {}
func (Stopped) input()   {}
func (Tick) input()      {}

// Effect is something to be done. Effects are done in the order in which they
// stand: a Save is on disk before the Tell behind it is sent, and where the disk
// refuses, that Tell is not sent: what follows from Saved takes its place.
type Effect interface{ effect() }

// The effects.
type (
	// Perform hands a command on. Exactly one final Outcome must follow. If is
	// judged by whoever decides, at the moment of deciding; stops have none.
	Perform struct {
		Key                        Key
		Client, ID, By, Why, Batch string
		Verb                       schema.Verb
		Args                       schema.Args
		If                         schema.Precondition
		Local                      bool
		Arrived                    time.Duration // since boot
	}
	// Save erases records and writes others, in this order. The writer answers
	// with Saved and the keys of Put.
	Save struct {
		Put    []Record
		Forget []Key
	}
	// Tell sends an answer on the client's ack topic; the sender fills in its
	// time and session. Key is set where the broker's confirmation is wanted as
	// Delivered.
	Tell struct {
		Client string
		Key    Key
		Ack    schema.Ack
	}
	// Alarm asks for an alert.
	Alarm struct {
		Reason schema.Reason
		Client string
		Verb   string
		Detail string
	}
)

func (Perform) effect() {}
func (Save) effect()    {}
func (Tell) effect()    {}
func (Alarm) effect()   {}
