// Package request follows a command from its arrival to its final answer. It
// checks that the command is well-formed, new and fresh and that there is room
// for it, and it keeps the journal that makes commands idempotent: a command
// that is sent twice has one effect, also across a restart.
//
// It does not decide what a command does. A Dispatch effect hands a command on
// that passed these checks (it is admitted), and an Outcome reports the result. Every
// admitted command gets exactly one final answer; the status ACCEPTED may precede it,
// and means that the command has begun. A command that is refused on arrival is not
// recorded, so its id may be used again.
//
// Stops bypass these checks: whatever the payload and age of a stop and the
// state of the disk, Dispatch is the first effect of its arrival. A stop also
// cancels every command that was admitted before it and not yet performed, so
// that no command older than a stop takes effect after it.
package request

import (
	"time"

	"troupe/robotd/command"
	"troupe/schema"
	"troupe/schema/verb"
)

// Limits on what a robot remembers of commands.
const (
	MaxOpen      = 64  // unfinished commands
	MaxClients   = 32  // clients with a journal; the least recently active one is evicted
	MaxPerClient = 256 // commands in a client's journal; the oldest finished one is evicted
	MaxMarks     = 16  // pairs of session and verb group per client whose order is checked; the least recent one is evicted
	MaxDetail    = 512 // bytes of an answer's detail, encoded as JSON
)

const (
	acceptWithin   = 400 * time.Millisecond // from arrival to ACCEPTED; leaves 100 ms for the network
	progressEvery  = 5 * time.Second
	rewriteEvery   = time.Second // between two attempts to write finished records that the disk refused
	maxClockSkew   = 30 * time.Second
	maxQuotedBytes = 64 // bytes of a malformed payload that its answer quotes
	minFinished    = 64 // a full disk evicts none if there are no more than these, else the older half
)

// maxStopBytes is how much of a stop's payload is read. A longer one still
// stops the robot.
var maxStopBytes = schema.TopicOf(schema.TopicCmd).MaxBytes

// Now is the time of a step. The robot's wall clock may be wrong by years as
// long as Offset is known.
type Now struct {
	Mono       time.Duration // since boot
	Wall       schema.Time   // by the robot's clock
	Offset     time.Duration // the fleet's clock minus the robot's
	ClockKnown bool          // Offset was measured, or the robot's clock is synchronized
	// CurrentState is the robot's current state, which preconditions are checked
	// against.
	CurrentState schema.Precondition
}

// Input is an event that concerns commands.
type Input interface{ input() }

// The inputs.
type (
	// Arrival is a message on a command topic, which contains Group and Verb.
	Arrival struct {
		Client, Group, Verb string
		Payload             []byte
		Retained            bool
		Overtaken           bool          // a stop that arrived later was already processed
		DiskBehind          bool          // the disk does not keep up with the commands
		Late                time.Duration // it may have been sent up to this long before it arrived
		InForce             verb.Args     // arguments that would change nothing now, only of mode/set so far; nil = unknown
	}
	// Saved reports that the records of these commands are on disk, or that the
	// disk refused them.
	Saved struct {
		Keys    []command.Key
		Refused schema.Reason // empty = they are on disk
	}
	// Outcome is the result of a performed command. Status ACCEPTED means that it
	// has begun and that another outcome follows.
	Outcome struct {
		Key command.Key
		schema.Verdict
		Progress     *int             // 0-100, of a command that has not ended
		Remaining    time.Duration    // estimated time to the end; 0 = unknown
		StateSeq     int64            // the state document that shows the effect
		Current      *schema.AckState // the robot's mode and state
		Lease        *schema.Lease    // the lease that was granted, or that another client holds
		StartsMotion bool             // with ACCEPTED: a motion begins, so ACCEPTED is sent at once
	}
	// Revoked reports that what a finished command granted was taken away. Its
	// sender gets a second answer under the same id.
	Revoked struct {
		Key    command.Key
		Reason schema.Reason
		Detail string
		Lease  *schema.Lease // the lease that replaced it
		Refs   []schema.Ref  // the command that took it away
	}
	// Delivered reports that the broker confirmed the final answer to a command.
	Delivered struct{ Key command.Key }
	// Connected reports that the connection to the broker is ready.
	Connected struct{}
	// Stopped reports that the robot was stopped by something other than a
	// command, or that such a stop was released. It cancels the commands that were
	// admitted before and have not begun: nobody who sent them knew of it.
	Stopped struct{ Detail string }
	// Tick reports that time has passed; State.Deadline returns when the next one
	// is due.
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

// Effect is something to do. Effects are done in order: a Save is on disk before
// the SendAck after it is sent. If the disk refuses the Save, that SendAck is not sent;
// the effects of the following Saved replace it.
type Effect interface{ effect() }

// The effects.
type (
	// Dispatch hands a command on. Exactly one final Outcome must follow. The
	// component that decides on the command checks If at that moment; stops have
	// no precondition.
	Dispatch struct {
		Key                 command.Key
		Client, ID, By, Why string
		Verb                verb.Verb
		Args                verb.Args
		If                  schema.Precondition
		Arrived             time.Duration // since boot
		Expires             time.Duration // since boot: when its time to live ends; 0 = never
	}
	// Save erases the records of Forget, then writes those of Put. The writer
	// answers with Saved and the keys of Put.
	Save struct {
		Put    []command.Record
		Forget []command.Key
	}
	// SendAck sends an answer on the client's ack topic; the component that publishes
	// it fills in time and session. If Key is set, the broker's confirmation must
	// come back as Delivered.
	SendAck struct {
		Client string
		Key    command.Key
		Ack    schema.Ack
	}
	// Alert requests an alert.
	Alert struct {
		Reason schema.Reason
		Client string
		Verb   string
		Detail string
	}
)

func (Dispatch) effect() {}
func (Save) effect()     {}
func (SendAck) effect()  {}
func (Alert) effect()    {}
