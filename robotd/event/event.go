// Package event has what can happen to a robot: the closed set that its step knows.
package event

import (
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/latch"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/sign"
)

// Event is something that happened to the robot. The set is closed: Step knows
// them all.
type Event interface{ event() }

// The events.
type (
	// Begin is the first: the robot is wired up and its disk was read.
	Begin struct{}

	// Tick says that time has passed.
	Tick struct{}

	// Follow lets Step go on with what the last step left to the next.
	Follow struct{}

	// Command is a message on a command topic, as it came.
	Command struct {
		Client, Group, Verb string
		Payload             []byte
		// Retained: the broker retained it, which it never should.
		Retained bool
		// N counts what arrived at the robot, from 1: a stop is handed over before
		// what arrived before it. 0 = nobody counted.
		N uint64
		// Local: its sender stands at the robot.
		Local bool
		// Behind: the disk does not keep up, so nothing more may be promised.
		Behind bool
		// Read is when it was read from the connection, since boot. 0 = just now.
		Read time.Duration
	}

	// Frame is one frame of manual driving, as it came.
	Frame struct {
		Client   string
		Frame    schema.VelocityFrame
		Problems []schema.Problem // it cannot be understood
		Retained bool
		N        uint64 // as of a Command
	}

	// RequestsSaved answers SaveRequests: without Refused they are on the disk.
	RequestsSaved struct {
		Keys    []request.Key
		Refused schema.Reason
	}

	// Recalled answers ReadEvents: the events as they were published, the oldest first.
	Recalled struct {
		Key     request.Key
		Events  [][]byte
		Refused schema.Reason // why there are none
	}

	// SettingsSaved answers SaveSetting: without Refused they are on the disk.
	SettingsSaved struct{ Refused schema.Reason }

	// LatchesSaved answers SaveLatches: without Refused the disk has the N-th, or a newer.
	LatchesSaved struct {
		N       int64
		Refused schema.Reason
	}

	// Delivered says that the broker has the final answer to a command.
	Delivered struct{ Key request.Key }

	// Heartbeat is one of an operator: a fleetd instance's to all robots or, Local, that of
	// somebody at this one.
	Heartbeat struct {
		Client string
		Beat   schema.FleetHeartbeat
		Local  bool
	}

	// Arriving says how many bytes of a file are here already.
	Arriving struct {
		SHA256 string
		Bytes  int64
	}

	// Fetched is a blob, or the end of the attempt to get it. A file is Stored, and
	// its bytes are on the disk.
	Fetched struct {
		SHA256 string
		Bytes  []byte
		Stored bool
		Reason schema.Reason // why there are none
		Detail string
	}

	// ContentSaved answers a SaveContent that had blobs, or was refused.
	ContentSaved struct {
		Kind    sign.Kind
		Rev     int64 // as of the save; 0 = it had no blobs
		Refused schema.Reason
	}

	// PresenceSeen is the robot's own presence document as the broker keeps it. An
	// emptied one has no state.
	PresenceSeen struct{ Presence schema.Presence }

	// FleetdPresence is fleetd's presence as the broker keeps it. An emptied one has no
	// state.
	FleetdPresence struct{ Presence schema.Presence }

	// Connected: a session with the broker is up, and every document of the robot has to be
	// published again.
	Connected struct{ Session string }

	// Disconnected: the session is over, or there was none.
	Disconnected struct {
		Why string
		// HalfOpen: it was given up because nothing was received over it any more.
		HalfOpen bool
	}

	// Contested: another client uses this robot's name.
	Contested struct{ Why string }

	// Reported is what the body reports.
	Reported struct{ driver.Event }

	// Calibrated ends a calibration; an empty reason is success.
	Calibrated struct {
		Run    int64 // the one that was ordered
		Reason schema.Reason
		Detail string
	}

	// Credential is how the robot's certificate stands; without a level it is well.
	Credential struct {
		Level        schema.AlertLevel
		Detail, Hint string
	}

	// Shutdown: robotd is to end.
	Shutdown struct{ Why string }
)

func (Begin) event()          {}
func (Tick) event()           {}
func (Follow) event()         {}
func (Command) event()        {}
func (Frame) event()          {}
func (RequestsSaved) event()  {}
func (Recalled) event()       {}
func (SettingsSaved) event()  {}
func (LatchesSaved) event()   {}
func (Delivered) event()      {}
func (Heartbeat) event()      {}
func (Arriving) event()       {}
func (Fetched) event()        {}
func (ContentSaved) event()   {}
func (PresenceSeen) event()   {}
func (FleetdPresence) event() {}
func (Connected) event()      {}
func (Disconnected) event()   {}
func (Contested) event()      {}
func (Reported) event()       {}
func (Calibrated) event()     {}
func (Credential) event()     {}
func (Shutdown) event()       {}

// MessageDropped: the broker dropped what the robot published, and said so. Kind is the
// topic of the newest of it, empty for one that is not in the contract.
type MessageDropped struct {
	Kind   schema.TopicKind
	Reason schema.Reason
}

func (MessageDropped) event() {}

type (
	// StopDocument is desired/stop or fleet/stop as it came.
	StopDocument struct {
		latch.Document        // its Weight is found out here
		Counter        int64  // of the document
		Digest         string // as of Desired
		Sig            *schema.Signature
		N              uint64 // as of Command
	}

	// LiveStop is a client's live stop as it came; any payload is one.
	LiveStop struct {
		Client   string
		Payload  []byte
		Retained bool
		N        uint64 // as of Command
	}
)

func (StopDocument) event() {}
func (LiveStop) event()     {}

// Desired is a document in which the fleet says what it wants of the robot, as it came.
type Desired[T any] struct {
	Kind     sign.Kind
	Document T
	// Digest is what a signature of what came has to be of: sign.Digest.
	Digest string
	// Problems: it cannot be understood; then Document says nothing.
	Problems []schema.Problem
	// Emptied: somebody deleted the document. That changes nothing.
	Emptied bool
}

func (Desired[T]) event() {}

// The desired documents. Activities and places differ by their Kind alone.
type (
	DesiredStory  = Desired[schema.DesiredStory]
	DesiredSet    = Desired[schema.DesiredSet]
	DesiredConfig = Desired[schema.DesiredConfig]
	DesiredMode   = Desired[schema.DesiredMode]
)
