// Package driver is the boundary between robotd and a body: which units there
// are, what they can be told, and what they tell.
//
// A Driver owns its body in goroutines of its own that may block on it. None of its
// methods but Open, Calibrate and Close ever waits: robotd's loop calls them. What the
// body has to say comes as events; a reader that stops reading delays events,
// never a stop and never the watchdog.
//
// The body protects people by itself: a unit that moves and is not fed for
// WatchdogTicks of its own ticks goes to error, whatever hangs above it. The
// states of a unit that moves are a table, the same for every body.
//
// It decides nothing about modes, acts or permission. Drivers live in folders of
// their own and prove themselves with drivertest.Conform.
package driver

import (
	"context"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// Tick is the interval at which robotd feeds a body, and WatchdogTicks how many of
// them a moving unit goes on without being fed. A body counts its own ticks, so
// that a computer that stood still as a whole is no hung loop.
const (
	Tick          = 20 * time.Millisecond
	WatchdogTicks = 10
)

// VelocityTTL is the longest time for which one Velocity counts.
const VelocityTTL = 400 * time.Millisecond

// Body is what a body is; it does not change while it is open.
type Body struct {
	Model     string
	Serial    string
	Hardware  string // its revision, in the maker's words; empty: not known
	Driver    string
	Units     []schema.Unit
	Points    []string // names that goto knows, sorted; empty without a map
	Languages []string
	Homing    []string // units whose calibration moves them and so needs safety/enable
}

// Command is one action for one unit. Every command is answered by exactly one
// event, Done or Failed, unless its Stop came first. One that does not hold is
// done as soon as the unit has it: a face or a colour stays.
type Command struct {
	Key   uint64 // names it; never used twice
	Unit  string
	Do    *score.Action // shared, not to be changed
	Text  string        // say: what to speak, in the robot's language
	From  time.Duration // leave out what was done before an interruption
	Holds bool
	// Asset is the SHA-256 of the file that Do names, where its story brought one;
	// the file has that name in the directory assets of the robot's data.
	Asset string
}

// SpeedEvery is how often a drive that moves tells how fast it is.
const SpeedEvery = 100 * time.Millisecond

// Velocity moves the drive until it is renewed, replaced by a command, or its
// time is over; then the drive brakes as its unit says. What is over the unit's
// limits is brought within them.
type Velocity struct {
	VX, WZ float64 // m/s forward, rad/s to the left
	TTL    time.Duration
}

// Order is what every unit that moves is told by the safety core.
type Order string

// The orders. What a unit runs when it leaves run fails with the reason stopped.
const (
	ToIdle  Order = "idle"
	ToRun   Order = "run"   // commands may move it now
	ToStop  Order = "stop"  // brake to standstill, then idle
	ToHalt  Order = "halt"  // brake at once by the unit's own means, then error
	ToError Order = "error" // off
	ToReset Order = "reset" // leave error, if its cause is gone
)

// Kind is what an event tells.
type Kind string

// The kinds of events.
const (
	Done   Kind = "done"   // Key: the command was carried out
	Failed Kind = "failed" // Key, Reason, Detail: it was not
	// Unit, State, Detail: a unit's state, once for each after Open and on every
	// change. Detail is what is wrong now; it is empty as soon as the cause is
	// gone, though the state is still error.
	Unit    Kind = "unit"
	Battery Kind = "battery" // Level, Charging
	Sensed  Kind = "sensed"  // Signal, Name, On, Level
	Waits   Kind = "waits"   // Unit, Reason: calibration waits for something
	// Calibrating: a calibration is under way and has come as far as Level, 0..1. A
	// body that does not know says nothing.
	Calibrating Kind = "calibrating"
	// Speed: VX, WZ, as measured; every SpeedEvery while the drive moves, and once
	// when it stands again.
	Speed Kind = "speed"
)

// Signal is what a sensor senses.
type Signal string

// The signals.
const (
	Touch      Signal = "touch"       // Name: where; On
	Press      Signal = "press"       // Name: the choice or button on the screen, or that at the robot; On = pressed
	EStopInput Signal = "estop-input" // Name: the input; On = pressed
	Heat       Signal = "heat"        // Name: the unit; Level: degrees Celsius
)

// Event is something that the body tells, in the order in which it happened.
type Event struct {
	Kind     Kind
	Key      uint64
	Unit     string
	State    State
	Signal   Signal
	Name     string
	On       bool
	Level    float64 // battery, calibration: 0..1
	VX, WZ   float64 // m/s forward, rad/s to the left
	Charging bool
	Reason   schema.Reason
	Detail   string
}

// Calibration is how a calibration ended.
type Calibration struct {
	Units []Calibrated
	Map   bool // a map is loaded
}

// Calibrated is one unit's part; an empty reason is success.
type Calibrated struct {
	Unit   string
	Reason schema.Reason
	Detail string
}

// OK reports whether every unit is calibrated. A body without a map is fine, it
// has no points to go to.
func (c Calibration) OK() bool {
	for _, u := range c.Units {
		if u.Reason != "" {
			return false
		}
	}
	return true
}

// Driver is a body. Its methods may be called from one goroutine while Calibrate
// runs in another.
type Driver interface {
	// Body answers what the body is, before Open too.
	Body() Body
	// Open connects to the body and tells the state of each unit. ctx bounds the
	// opening only.
	Open(ctx context.Context) error
	// Events is the same channel always; Close closes it.
	Events() <-chan Event

	Start(c Command)
	// Stop ends a command; unknown keys are ignored.
	Stop(key uint64)
	Move(v Velocity)
	Order(o Order)
	// Feed says that robotd is alive; it is called every Tick.
	Feed()

	// Calibrate homes the units that need it and loads the map. It waits for as
	// long as a unit needs to be enabled, which is told as Waits; homing moves the
	// body, so it has to be fed meanwhile. ctx ends it.
	Calibrate(ctx context.Context) (Calibration, error)
	// Close stops all motion and ends every goroutine.
	Close() error
}
