// Package request follows a command from its arrival to its final answer. It
// checks that the command is well-formed, new and fresh and that there is room
// for it, and it keeps the journal that makes commands idempotent: a command
// that is sent twice has one effect, also across a restart.
//
// It does not decide what a command does. effect.Dispatch hands a command on
// that passed these checks (it is admitted), and a Reply reports the result; exactly one final
// Reply must follow. Every
// admitted command gets exactly one final answer, as soon as a published state shows its effect;
// the status ACCEPTED may precede it,
// and means that the command has begun. A command that is refused on arrival is not
// recorded, so its id may be used again.
//
// Stops bypass these checks: whatever the payload and age of a stop and the
// state of the disk, effect.Dispatch is the first effect of its arrival. A stop also
// cancels every command that was admitted before it and not yet performed, so
// that no command older than a stop takes effect after it.
package request

import (
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/schema"
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
	acceptWithin  = 400 * time.Millisecond // from arrival to ACCEPTED; leaves 100 ms for the network
	progressEvery = 5 * time.Second
	rewriteEvery  = time.Second // between two attempts to write finished records that the disk refused
	// unchangedWithin is how long the records of commands that changed nothing wait for another save.
	unchangedWithin = 10 * time.Second
	unsavedMost     = 128 // records that wait so
	maxClockSkew    = 30 * time.Second
	maxQuotedBytes  = 64 // bytes of a malformed payload that its answer quotes
	minFinished     = 64 // a full disk evicts none if there are no more than these, else the older half
)

// maxStopBytes is how much of a stop's payload is read. A longer one still
// stops the robot.
var maxStopBytes = schema.TopicOf(schema.TopicCmd).MaxBytes

// State is everything that is remembered of commands. One goroutine owns it.
type State struct {
	boot      int64 // how often the robot has started; makes generated ids unique
	madeIDs   int64 // ids generated in this boot
	lastN     int64 // number of the newest record
	journals  []*journal
	open      []*entry         // unfinished, in the order of their arrival
	marks     []seqMark        // the least recently used first
	unsaved   []command.Record // finished records to write with the next save
	rewriteAt time.Duration    // when they are written at the latest; 0 = no limit
	toErase   []command.Key    // records to erase with the next save
	last      schema.LastRequest
	dropped   int64

	replies  []effect.Reply // that wait for a state that shows their effect
	acks     []SendAck      // of this step
	cancels  []pendingCancel
	alerts   []alert         // to be raised, see NoteRetainedStop
	retained map[string]bool // topics of retained commands, see retainedTopic
}

// Step is the part of one step of the robot that concerns commands.
type Step struct {
	*State
	Facts
	Now clock.Now
	Out *effect.List
}

// Facts are the facts about other parts.
type Facts struct {
	Robot        string              // its id
	CurrentState schema.Precondition // which preconditions are checked against
	Current      schema.AckState
	FleetOffset  time.Duration // the fleet's time minus the robot's, whose clock may be wrong by years
	ClockKnown   bool          // FleetOffset was measured
	Pending      bool          // an input waits for a later step of this event
	Report       Report
}

// Report is what the package asks of the published state.
type Report interface {
	Session() string
	SessionEnded() time.Duration
	StateSeq() int64
	// Clean reports whether the newest published state shows the robot as it is, and
	// CleanButMinor whether it differs at most in what effect.FlushLater names.
	Clean() bool
	CleanButMinor() bool
	StateDue(now time.Duration) bool
	Changed(effect.Urgency)
}

// SendAck is an answer on the client's ack topic; the component that publishes
// it fills in time and session. If Key is set, the broker's confirmation must
// come back to Delivered.
type SendAck struct {
	Client string
	Key    command.Key
	Ack    schema.Ack
}

// answer adds an answer to those of this step.
func (t Step) answer(a SendAck) {
	t.acks = append(t.acks, a)
	t.Report.Changed(effect.FlushLater)
}
