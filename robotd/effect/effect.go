// Package effect has what a step of the robot can want done: the closed set that
// whoever performs it knows.
package effect

import (
	"troupe/robotd/delivery"
	"troupe/robotd/driver"
	"troupe/robotd/request"
	"troupe/schema"
)

// Effect is something to be done. The set is closed; whoever performs it knows
// all of them. Of one step's effects, what is for the body is done first, what is
// saved is on the disk before anything is published, and publications keep their
// order. Those marked First wait for nothing.
type Effect interface {
	Intent
	effect()
}

// The effects.
type (
	// Order is what the safety core wants of every unit that moves.
	Order struct{ Order driver.Order }
	// Start and Stop are for one unit.
	Start struct{ driver.Command }
	Stop  struct {
		Key  uint64
		Unit string
	}
	// Move drives manually.
	Move struct{ driver.Velocity }
	// Feed keeps the body from stopping by itself: robotd is alive.
	Feed struct{}

	// Calibrate runs a calibration and answers with Calibrated; EndCalibration
	// ends the one that runs.
	Calibrate      struct{ Run int64 }
	EndCalibration struct{}

	// SaveRequests keeps commands, and answers with RequestsSaved.
	SaveRequests struct{ request.Save }
	// SaveContent keeps a delivery, and answers with ContentSaved if it has blobs
	// or was refused.
	SaveContent struct{ delivery.Save }
	// SaveEvent adds to the ring of events.
	SaveEvent struct{ Payload []byte }
	// SaveLatches keeps what holds the robot in place of what was kept before, apart
	// from all else and at once, and answers with LatchesSaved. Of several that wait the
	// newest does.
	SaveLatches struct {
		N     int64 // counts them
		Value []byte
	}
	// SaveSetting keeps what somebody switched on or off, and answers with
	// SettingsSaved; an empty value forgets.
	SaveSetting struct{ Name, Value string }

	// ReadEvents reads the ring of events, those of this step included, and answers
	// with Recalled.
	ReadEvents struct{ Key request.Key }

	// Publish sends a message. Param fills the second place of the topic, where
	// it has one: the client of an answer. With Confirm, Delivered is to be sent
	// when the broker has it.
	Publish struct {
		Topic   schema.TopicKind
		Param   string
		Payload []byte
		First   bool
		Confirm request.Key
	}

	// Renew makes the connection to the broker anew: the robot does not hear over
	// it what it should.
	Renew struct{ Why string }

	// Fetch asks the broker for a blob, or fleetd for a file that is too large
	// for one, and answers with Fetched; EndFetch says that nobody waits for it any
	// more.
	Fetch struct {
		SHA256 string
		Size   int64
		File   bool
	}
	EndFetch struct{ SHA256 string }

	// Note is a line for the log: an edge that a machine took.
	Note struct {
		Machine, From, To string
		Why               string // the rule
		Cause             string // the occasion
	}

	// Alarm is an alert that was raised, for the log.
	Alarm struct {
		Level                      schema.AlertLevel
		Type, Source, Detail, Hint string
	}

	// Exit ends the program: the robot is at rest.
	Exit struct{ Why string }
)

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
func (SaveSetting) effect()    {}
func (ReadEvents) effect()     {}
func (Publish) effect()        {}
func (Renew) effect()          {}
func (Fetch) effect()          {}
func (EndFetch) effect()       {}
func (Note) effect()           {}
func (Exit) effect()           {}
func (Alarm) effect()          {}
func (Order) intent()          {}
func (Start) intent()          {}
func (Stop) intent()           {}
func (Move) intent()           {}
func (Feed) intent()           {}
func (Calibrate) intent()      {}
func (EndCalibration) intent() {}
func (SaveRequests) intent()   {}
func (SaveContent) intent()    {}
func (SaveEvent) intent()      {}
func (SaveLatches) intent()    {}
func (SaveSetting) intent()    {}
func (ReadEvents) intent()     {}
func (Publish) intent()        {}
func (Renew) intent()          {}
func (Fetch) intent()          {}
func (EndFetch) intent()       {}
func (Note) intent()           {}
func (Exit) intent()           {}
func (Alarm) intent()          {}
