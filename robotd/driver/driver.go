// Package driver is the interface between robotd and a robot body: the units of
// the body, the commands they take and the events they report.
//
// A Driver runs its body in its own goroutines, which may block on hardware. Its
// methods never block, except Open, Calibrate and Close, because robotd's loop calls
// them. The body reports through events; a slow reader delays events, but never a
// stop or the watchdog.
//
// The body protects people by itself: a moving unit that robotd has not fed for
// WatchdogTicks of the body's own ticks goes to error, whichever part of robotd
// hangs. All bodies share one state table for units that move.
//
// A driver decides nothing about modes, acts or permission. Each driver has its own
// folder and passes drivertest.Conform.
package driver

import (
	"context"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// Tick is the interval at which robotd feeds a body. WatchdogTicks is how many ticks
// a unit may move without being fed. The body counts its own ticks, so that pausing
// the whole computer does not count as a hung loop.
const (
	Tick          = 20 * time.Millisecond
	WatchdogTicks = 10
)

// VelocityTTL is the longest time for which one Velocity is valid.
const VelocityTTL = 400 * time.Millisecond

// Body describes a body. It does not change while the body is open.
type Body struct {
	Model     string
	Serial    string
	Hardware  string // the manufacturer's revision; empty if unknown
	Driver    string
	Units     []schema.Unit
	Points    []string // names that goto accepts on its own map, sorted; empty without one
	Languages []string
	Homing    []string // units whose calibration moves them and so needs safety/enable
}

// Command is one action for one unit. The body answers every command with exactly
// one event, Done or Failed, unless Stop came first. A command with Holds unset is
// done as soon as the unit has applied it; a face or a colour then stays. The velocity
// of a drive action holds until its Stop.
type Command struct {
	Key  uint64 // unique; never reused
	Unit string
	Do   *score.Action // the action; Do.Do is what it does, by its type. Shared, read-only
	Text string        // say, screen: the text, in the robot's language
	// Choices are the texts of the choices of a screen, in the robot's language. A person
	// who chooses ends the command: it is Done with the id of the choice.
	Choices []string
	From    time.Duration // skip the part that was done before an interruption
	// Holds: the command takes its time, or lasts until its Stop. Otherwise it is done as soon as the
	// unit has applied it.
	Holds bool
	// Asset is the SHA-256 of the file that Do names if the story contains one. The
	// file has that name in the assets directory of the robot's data.
	Asset string
}

// SpeedEvery is the interval at which a moving drive reports its speed.
const SpeedEvery = 100 * time.Millisecond

// Velocity moves the drive until it is renewed, a command replaces it, or its TTL
// ends. Then, and when it is zero, the drive brakes with the deceleration of its unit,
// which is the greatest that is safe for the body: a person has let go, or is out of
// reach. Values beyond the unit's limits are clamped.
type Velocity struct {
	VX, WZ float64 // m/s forward, rad/s to the left
	TTL    time.Duration
}

// Order is the safety core's order to every unit that moves.
type Order string

// The orders. A command that runs when its unit leaves run fails with the reason
// stopped.
const (
	ToIdle  Order = "idle"
	ToRun   Order = "run"   // commands may move the unit
	ToStop  Order = "stop"  // brake to standstill, then idle
	ToHalt  Order = "halt"  // brake at once by the unit's own means, then error
	ToError Order = "error" // off
	ToReset Order = "reset" // leave error if its cause is gone
)

// Kind is the kind of an event. The comments name the fields of Event that it uses.
type Kind string

// The kinds of events.
const (
	Done   Kind = "done"   // Key: the command has been carried out; Name: the choice that a person made on the screen
	Failed Kind = "failed" // Key, Reason, Detail: the command has failed
	// Unit, State, Detail, Lost: a unit's state, reported for each unit after Open and on
	// every change. Detail is the present fault; it is empty as soon as the cause is
	// gone, even if the state is still error. Lost: the fault is in what connects the robot
	// with the unit, and nothing is known of the unit itself.
	Unit    Kind = "unit"
	Battery Kind = "battery" // Level, Charging
	Sensed  Kind = "sensed"  // Signal, Name, On, Level, Bearing
	Waits   Kind = "waits"   // Unit, Reason: calibration waits, for example to be enabled
	// Unit, Name, Detail: the unit met a limit of its own and asks for a stop of the whole
	// robot: soft-stop, stop, halt or estop. A unit that halts by itself reports its state.
	Asks  Kind = "asks"
	Heard Kind = "heard" // Heard: what a person wants, as the body understood it
	// Level: the progress of a running calibration, 0..1. A body that does not know
	// its progress does not report it.
	Calibrating Kind = "calibrating"
	// VX, WZ: the measured speed, every SpeedEvery while the drive moves, and once
	// when it has come to a standstill.
	Speed Kind = "speed"
	// X, Y, Theta: where the body is on its map: after Open, every SpeedEvery while the drive
	// moves, and once when it has come to a standstill. A body that does not know it does
	// not report it.
	Position Kind = "position"
	// Unit, Yaw, Pitch, Roll: where a head is, at most every SpeedEvery while that changes, and
	// once when it has come to rest. A head that does not know it does not report it.
	Angles Kind = "angles"
)

// Signal is the kind of a sensor reading.
type Signal string

// The signals, with the fields of Event that they use.
const (
	Touch Signal = "touch" // Name: the place; On = touched
	// Name: the choice or button on the screen or on the robot, of which "reset" leads out of E_STOP after a stop input; On = pressed
	Press      Signal = "press"
	EStopInput Signal = "estop-input" // Name: the input; On = pressed. After Open those that are pressed are reported
	Heat       Signal = "heat"        // Name: the unit; Level: degrees Celsius
	// Level: how many persons the robot sees near it; Bearing: where the nearest one is.
	People Signal = "people"
	Sound  Signal = "sound" // On = it hears something; Level: dB(A), 0 = not measured
	Dark   Signal = "dark"  // On = it is too dark to see people
	Push   Signal = "push"  // On = somebody pushes the robot
	Lift   Signal = "lift"  // On = somebody lifts or rolls the robot
	Fall   Signal = "fall"  // On = the robot has fallen or is about to fall
)

// Event is a report of the body. Events come in the order in which they happened.
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
	X, Y     float64 // m
	Theta    float64 // rad, counter-clockwise from the x axis
	Yaw      float64 // rad; 0 for an axis that the head lacks, as are the next two
	Pitch    float64
	Roll     float64
	Bearing  float64 // people: rad to the left of straight ahead
	Charging bool
	Lost     bool
	Heard    *schema.Utterance // shared, read-only
	Reason   schema.Reason
	Detail   string
}

// Map names a map. The zero value is the body's own.
type Map struct {
	Name   string // for people
	SHA256 string // of its file, which has that name in the assets directory of the robot's data
}

// Calibration is the result of a calibration.
type Calibration struct {
	Units []Calibrated
	Map   MapResult
}

// MapResult says what became of the map; an empty reason means that it is in force. A body
// without a map succeeds with its own, and has no points.
type MapResult struct {
	Points []string // names that goto accepts from now on, sorted
	Reason schema.Reason
	Detail string
}

// Calibrated is the result of one unit; an empty reason means success.
type Calibrated struct {
	Unit   string
	Reason schema.Reason
	Detail string
}

// OK reports whether every unit is calibrated and the map is in force.
func (c Calibration) OK() bool {
	if c.Map.Reason != "" {
		return false
	}
	for _, u := range c.Units {
		if u.Reason != "" {
			return false
		}
	}
	return true
}

// Driver controls a body. Its methods are called one after another while Calibrate may
// run in another goroutine. The last calls, Order and Close, may come from another
// goroutine than the ones before: robotd makes them also when its loop hangs.
type Driver interface {
	// Body describes the body; it may be called before Open.
	Body() Body
	// Open connects to the body, which then reports the state of each unit, and each stop
	// input that is pressed. ctx bounds only the opening.
	Open(ctx context.Context) error
	// Events returns the one channel of events; Close closes it.
	Events() <-chan Event

	Start(c Command)
	// Stop ends a command; unknown keys are ignored.
	Stop(key uint64)
	Move(v Velocity)
	Order(o Order)
	// Feed resets the watchdog; robotd calls it every Tick while a unit may move, and not in DISABLED and E_STOP.
	Feed()

	// Calibrate homes the units that need it and loads the map m; it is the only moment
	// at which the map changes. A map that cannot be read or used, with the reason
	// bad_map, leaves the one before in force. While a unit needs to be enabled first, it
	// waits and reports Waits, each time again. Homing moves the body, so robotd has to feed it meanwhile.
	// Cancelling ctx ends the calibration.
	Calibrate(ctx context.Context, m Map) (Calibration, error)
	// Close stops all motion and ends every goroutine.
	Close() error
}
