package safety

import (
	"time"

	"troupe/schema"
)

// UnitState is where one unit stands, as its driver reports it.
type UnitState string

// A unit's states; anything else counts as an error.
const (
	UnitIdle  UnitState = "idle"
	UnitRun   UnitState = "run"
	UnitHalt  UnitState = "halt"  // damping after a halt or its own limit, ends in error
	UnitError UnitState = "error" // off; left only by a reset
)

// Unit is one unit that moves. Units that cannot hurt anybody (speaker, face,
// led, screen) are diagnosis's affair and are not shown to the core.
type Unit struct {
	ID    string
	State UnitState
	Fault string // what is wrong now; empty as soon as the cause is gone, though State is still error
}

// Latch is a stop that a person asked for and that nobody has released yet. The
// documents that carry latches are kept elsewhere; here they count while given.
type Latch struct {
	ID    string
	By    string
	Why   string
	Level Verb // SoftStop, Stop or Halt; anything else is read as Stop
}

// Mode is what the core knows of who is in charge. Nothing here mirrors the
// core's own state.
type Mode struct {
	Active bool // some mode is in charge
	Wants  bool // it is one that moves
	// Switching: one mode that wants to move hands over to another that does.
	// ENABLED outlives the moment without a mode, but not for long.
	Switching    bool
	ShutdownDone bool // in SOFT_STOP: the mode has brought the body to rest
}

// Facts is the world as of now. Nothing of it is kept: what is no longer given
// is no longer so.
type Facts struct {
	Units         []Unit   // in configuration order, the same in every step; at most MaxUnits
	Inputs        []string // names of the stop inputs that are pressed
	WakeForbidden string   // why a diagnosis forbids waking up; empty when it does not
	Latches       []Latch
	Mode          Mode
}

// Verb is what somebody asks of the core; the same words as on the wire.
type Verb string

// The verbs. A stop is never refused.
const (
	Enable   Verb = "enable"
	Reset    Verb = "reset"
	SoftStop Verb = "soft-stop"
	Stop     Verb = "stop"
	Halt     Verb = "halt"
	EStop    Verb = "estop"
)

// Stops reports whether v asks for less permission.
func (v Verb) Stops() bool { return v == SoftStop || v == Stop || v == Halt || v == EStop }

// Request is one edge: given to one step, used up there. The zero value means
// that nobody asks.
type Request struct {
	Verb   Verb
	ID     string // the command's; a second enable or reset of one id has no effect
	Source string // operator, mode, input: who stands behind it
	By     string // client or person
	Why    string
	Local  bool // its sender stands at the robot

	// Asked is when it came, since boot: it may have waited for a disk.
	Asked    time.Duration
	HasAsked bool

	// Seen is the newest time since boot that the sender had read in the robot's
	// heartbeat.
	Seen    time.Duration
	HasSeen bool
	SeenIn  Run // of which run of the robot that heartbeat was
}

// Run is one run of the robot, from a start to the next: each counts its own time.
type Run uint8

// The runs, as a sender can mean them.
const (
	UnsaidRun Run = iota
	ThisRun
	OtherRun
)

// Cause says what led to a state, or what stands against leaving it.
type Cause struct {
	Event  Event         `json:"event,omitempty"`
	Reason schema.Reason `json:"reason,omitempty"`
	Source string        `json:"source,omitempty"` // operator, mode, input, unit, latch, core
	Key    string        `json:"key,omitempty"`    // which of them: the input, the unit, the latch's id
	By     string        `json:"by,omitempty"`
	Why    string        `json:"why,omitempty"` // in the words of whoever caused it
	Req    string        `json:"req,omitempty"` // the command's id
}
