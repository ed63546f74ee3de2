// Package effect has what the parts of a robot return from a step: effects, which leave the robot, and outputs, such as
// Dispatch and Reply, which brain passes to other parts.
package effect

import (
	"time"

	"troupe/robotd/command"
	"troupe/robotd/delivery"
	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

// Effect is something that a step requests. The set is closed. Of the effects of one step,
// commands to the body are carried out first; everything to be saved is on the disk before
// anything is published; publications keep their order, except those marked First, which
// are published at once.
type Effect interface {
	Output
	effect()
}

// The effects.
type (
	// Order is the safety core's order to every unit that moves.
	Order struct{ Order driver.Order }
	// Start commands one unit. Demanded is the action before the limits of the unit.
	Start struct {
		driver.Command
		Demanded *score.Action
	}
	// Stop ends the command of a Start.
	Stop struct {
		Key  uint64
		Unit string
	}
	// Move sets the velocity of the drive. Demanded is the one before its limits.
	Move struct {
		driver.Velocity
		Demanded driver.Velocity
	}
	// Feed resets the body's watchdog, which otherwise stops the units that move.
	Feed struct{}

	// Calibrate runs a calibration, which ends with the event Calibrated.
	Calibrate struct {
		Run int64
		Map driver.Map
	}
	// EndCalibration cancels the calibration.
	EndCalibration struct{}

	// SaveRequests erases the records of Forget, then writes those of Put; the event RequestsSaved
	// with the keys of Put follows.
	SaveRequests struct {
		Put    []command.Record
		Forget []command.Key
	}
	// SaveContent saves the state of a delivery; the event ContentSaved follows if it has
	// blobs or was refused.
	SaveContent struct{ delivery.Save }
	// SaveEvent saves an event in the ring of the newest events. A routine one, such as the beginning of an
	// act, waits for the next save of something else, and not for longer than half a minute: a crash or a loss of power may lose it.
	SaveEvent struct {
		Payload []byte
		Routine bool
	}
	// SaveLatches replaces the saved latches, at once and independently of all other saves;
	// the event LatchesSaved follows. Of several waiting ones only the newest is saved.
	SaveLatches struct {
		N     int64 // rises with each
		Value []byte
	}
	// SaveValue saves a small value under a name; the event ValuesSaved follows. An empty
	// value deletes it.
	SaveValue struct{ Name, Value string }

	// ReadHistory reads the ring of events, including those of this step; the event HistoryRead
	// follows.
	ReadHistory struct{ Key command.Key }

	// Publish publishes a message. Param is the second parameter of the topic if it has
	// one: the client of an answer. An answer to schema.LocalClient goes to the robot's own
	// page instead, and needs no session. With Confirm, the event Delivered follows when the
	// broker has acknowledged it, or the page has it. First: it is urgent, so it is published at once,
	// before what waits for the disk.
	Publish struct {
		Topic   schema.TopicKind
		Param   string
		Payload []byte
		First   bool
		Confirm command.Key
	}

	// Snapshot is the robot as it is after the step that took event.Inspect.
	Snapshot struct {
		State  *schema.State
		Modes  []schema.Mode
		Caps   *schema.Caps
		Mono   time.Duration // since boot
		Volume float64       // as a share of 1; 1 until somebody sets it
		Boot   string

		FleetStops       []string      // ids of latched stops that fleetd has recorded, which only it releases
		LinkBudget       time.Duration // without heartbeats of fleetd or a panel at the robot, after which ato stops moving
		ContinueOnReturn bool          // ato resumes by itself when they return
	}

	// Reconnect replaces the connection to the broker, because the robot does not receive what
	// it should.
	Reconnect struct {
		Why        string
		NextBroker bool // connect to the broker after this one in the list
	}

	// Fetch fetches a blob from the broker, or a file that is too large for a blob from
	// fleetd; the event Fetched follows.
	Fetch struct {
		SHA256 string
		Size   int64
		File   bool
	}
	// EndFetch cancels a Fetch, or releases what it fetched.
	EndFetch struct{ SHA256 string }

	// Call makes an HTTP call; the event Called follows.
	Call struct {
		ID      string
		URL     string
		Timeout time.Duration
		Body    []byte
	}
	// EndCall cancels a Call, or forgets its answer.
	EndCall struct{ ID string }

	// ExportRecord sends what was recorded in the time Last until now to fleetd, under the key To; the
	// event RecordExported follows.
	ExportRecord struct {
		To   string
		Last time.Duration
	}

	// LogTransition is a line for the log: a transition of a state machine.
	LogTransition struct {
		Machine, From, To string
		Why               string // why the machine has this transition
		// Cause is the event that caused it now, or the id of what it is about, such as a latch,
		// a unit or an interrupt.
		Cause          string
		LoggedByDriver bool // the driver has logged that, once for all of its units
	}

	// LogAlert is a raised alert, for the log.
	LogAlert struct {
		Level                      schema.AlertLevel
		Type, Source, Detail, Hint string
		LoggedByDriver             bool // as of LogTransition
	}

	// SetLocalLog begins or ends the log on the robot: transitions, alerts and events from then on.
	SetLocalLog struct{ On bool }

	// Exit ends the program; the robot is at rest. Again: its service manager, such
	// as systemd, starts it again.
	Exit struct {
		Why   string
		Again bool
	}
)

// Save is an effect that the robot's disk keeps: a batch of them is kept whole or not at
// all. SaveLatches is not a Save, because latches have a file of their own.
type Save interface {
	Effect
	save()
}

func (SaveRequests) save() {}
func (SaveContent) save()  {}
func (SaveEvent) save()    {}
func (SaveValue) save()    {}

func (Order) effect()          {}
func (Start) effect()          {}
func (Stop) effect()           {}
func (Move) effect()           {}
func (Feed) effect()           {}
func (Calibrate) effect()      {}
func (EndCalibration) effect() {}
func (SaveRequests) effect()   {}
func (SaveContent) effect()    {}
func (SaveEvent) effect()      {}
func (SaveLatches) effect()    {}
func (SaveValue) effect()      {}
func (ReadHistory) effect()    {}
func (Publish) effect()        {}
func (Snapshot) effect()       {}
func (Reconnect) effect()      {}
func (Fetch) effect()          {}
func (EndFetch) effect()       {}
func (Call) effect()           {}
func (EndCall) effect()        {}
func (ExportRecord) effect()   {}
func (LogTransition) effect()  {}
func (Exit) effect()           {}
func (SetLocalLog) effect()    {}
func (LogAlert) effect()       {}
func (Order) output()          {}
func (Start) output()          {}
func (Stop) output()           {}
func (Move) output()           {}
func (Feed) output()           {}
func (Calibrate) output()      {}
func (EndCalibration) output() {}
func (SaveRequests) output()   {}
func (SaveContent) output()    {}
func (SaveEvent) output()      {}
func (SaveLatches) output()    {}
func (SaveValue) output()      {}
func (ReadHistory) output()    {}
func (Publish) output()        {}
func (Snapshot) output()       {}
func (Reconnect) output()      {}
func (Fetch) output()          {}
func (EndFetch) output()       {}
func (Call) output()           {}
func (EndCall) output()        {}
func (ExportRecord) output()   {}
func (LogTransition) output()  {}
func (Exit) output()           {}
func (SetLocalLog) output()    {}
func (LogAlert) output()       {}
