// Package event has the events that a robot's step takes: everything that can happen to the
// robot.
package event

import (
	"time"

	"troupe/robotd/command"
	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/sign"
)

// Event is something that happened to the robot. The set is closed: Step knows all of them.
type Event interface{ event() }

// The events.
type (
	// Begin is the first event: the robot is wired up and its disk was read.
	Begin struct{}

	// Tick says that time has passed. Late is by how much it came after it was due.
	Tick struct{ Late time.Duration }

	// Follow lets Step process what the last step left in the inboxes.
	Follow struct{}

	// MotionWithheld: what the last step permitted to move was not begun, because the step had no time left for it
	// (State.MotionUntil of brain).
	MotionWithheld struct{}

	// Command is a message on a command topic, as received.
	Command struct {
		Client, Group, Verb string
		Payload             []byte
		// Retained: the broker retained it, which is not allowed.
		Retained bool
		// N is its number among the messages that arrived at the robot, from 1. A stop is
		// passed on before messages that arrived earlier. 0 = not numbered.
		N uint64
		// Behind: the disk does not keep up, so the robot takes no more commands.
		Behind bool
		// Read is when it was read from the connection, since boot. 0 = just now.
		Read time.Duration
	}

	// Frame is one frame of manual driving, as received.
	Frame struct {
		Client   string
		Frame    schema.VelocityFrame
		Problems []schema.Problem // not empty if it cannot be decoded
		Retained bool
		N        uint64 // as in Command
	}

	// RequestsSaved answers SaveRequests. If Refused is empty, they are on the disk.
	RequestsSaved struct {
		Keys    []command.Key
		Refused schema.Reason
	}

	// HistoryRead answers ReadHistory with the events as they were published, the oldest first.
	HistoryRead struct {
		Key     command.Key
		Events  [][]byte
		Refused schema.Reason // why there are none
	}

	// ValuesSaved answers SaveValue, in the order of the saves. If Refused is empty, they
	// are on the disk.
	ValuesSaved struct {
		Names   []string
		Refused schema.Reason
	}

	// LatchesSaved answers SaveLatches. If Refused is empty, the disk has the N-th or a
	// newer one.
	LatchesSaved struct {
		N       int64
		Refused schema.Reason
	}

	// Delivered says that the broker has acknowledged the final answer to a command.
	Delivered struct{ Key command.Key }

	// Heartbeat is a heartbeat of a fleetd instance, for all robots, or, if FromConsole, of a panel at
	// this robot (role console). That of schema.LocalClient comes from the robot's own page and not over the
	// connection.
	Heartbeat struct {
		Client      string
		Beat        schema.FleetHeartbeat
		FromConsole bool
	}

	// ReleaseStops: a person at the robot releases the stops that fleetd has not recorded.
	ReleaseStops struct{}

	// Inspect asks for a Snapshot.
	Inspect struct{}

	// Arriving says how many bytes of a file have arrived.
	Arriving struct {
		SHA256 string
		Bytes  int64
	}

	// Fetched is a blob, or the end of the attempt to fetch it. With Stored it is a file
	// whose bytes are on the disk.
	Fetched struct {
		SHA256 string
		Bytes  []byte
		Stored bool
		Reason schema.Reason // why it was not fetched
		Detail string
	}

	// Called is the end of a Call; Body is the answer if the reason is empty.
	Called struct {
		ID     string
		Body   []byte
		Reason schema.Reason
		Detail string
	}

	// ContentSaved answers a SaveContent that had blobs or was refused.
	ContentSaved struct {
		Kind    sign.Kind
		Rev     int64 // that of the save; 0 = it had no blobs
		Refused schema.Reason
	}

	// PresenceSeen is the robot's own presence document at the broker. State is empty if
	// the retained message was deleted.
	PresenceSeen struct{ Presence schema.Presence }

	// FleetdPresence is fleetd's presence document at the broker. State is empty if the
	// retained message was deleted.
	FleetdPresence struct{ Presence schema.Presence }

	// Connected: a session with the broker is up, and the robot has to publish every
	// document again.
	Connected struct{ Session string }

	// Disconnected: the session has ended, or there was none.
	Disconnected struct {
		Why string
		// HalfOpen: the connection was closed because nothing was received over it any
		// more.
		HalfOpen bool
	}

	// DuplicateIdentity: another client uses this robot's name.
	DuplicateIdentity struct{ Why string }

	// Reported is a report of the body.
	Reported struct{ driver.Event }

	// Calibrated is the end of a calibration; it succeeded if the reason is empty.
	Calibrated struct {
		Run    int64 // number of the calibration
		Reason schema.Reason
		Detail string
		Units  []driver.Calibrated // empty if it did not come to its end
		Map    driver.Map          // that it was to load
		Result driver.MapResult    // of loading it
	}

	// CertificateState is the condition of the robot's certificate; it is good if there is no
	// level.
	CertificateState struct {
		Level        schema.AlertLevel
		Detail, Hint string
		Until        schema.Time // its end
	}

	// Shutdown: robotd shall end.
	Shutdown struct{ Why string }
)

func (Begin) event()             {}
func (Tick) event()              {}
func (MotionWithheld) event()    {}
func (Follow) event()            {}
func (Called) event()            {}
func (Command) event()           {}
func (Frame) event()             {}
func (RequestsSaved) event()     {}
func (HistoryRead) event()       {}
func (ValuesSaved) event()       {}
func (LatchesSaved) event()      {}
func (Delivered) event()         {}
func (Heartbeat) event()         {}
func (ReleaseStops) event()      {}
func (Inspect) event()           {}
func (Arriving) event()          {}
func (Fetched) event()           {}
func (ContentSaved) event()      {}
func (PresenceSeen) event()      {}
func (FleetdPresence) event()    {}
func (Connected) event()         {}
func (Disconnected) event()      {}
func (DuplicateIdentity) event() {}
func (Reported) event()          {}
func (Calibrated) event()        {}
func (CertificateState) event()  {}
func (Shutdown) event()          {}

// MessageDropped: the broker reported that it dropped a publication of the robot. Kind is
// the topic of the newest one, empty for a topic that is not in the contract.
type MessageDropped struct {
	Kind   schema.TopicKind
	Reason schema.Reason
}

func (MessageDropped) event() {}

// Recorder says how the flight recorder is doing, when that changes.
type Recorder struct {
	Dropped int64 // records that it lost since the start
	Failing bool  // the disk refuses what it writes
}

func (Recorder) event() {}

// RecordExported is the end of an ExportRecord. Fleetd has the file if the reason is empty.
type RecordExported struct {
	Records uint64
	Bytes   int64
	Reason  schema.Reason
	Detail  string
}

func (RecordExported) event() {}

// SimInput is an input that was played into the simulated body, or refused for a problem. An
// entry of a scenario without an input has no name.
type SimInput struct {
	Name     string
	Fields   schema.SimInput
	Problem  *schema.Problem
	Scenario *Scenario // nil = it is not from a scenario
}

func (SimInput) event() {}

// Scenario is one moment of a scenario.
type Scenario struct {
	At      string  `json:"at"`    // by the clock of the scenario
	Speed   float64 `json:"speed"` // of that clock
	Note    string  `json:"note,omitempty"`
	Command string  `json:"command,omitempty"` // the verb that a person sends
}

type (
	// StopDocument is desired/stop or fleet/stop, as received.
	StopDocument struct {
		From     StopSource
		Problem  string // why it cannot be decoded; then all other fields but From and N are empty
		Rev      int64
		FleetID  string
		Stops    []schema.StopLatch   // at most one in fleet/stop
		Released []schema.StopRelease // for people: it decides nothing
		Counter  int64                // the signature counter of the document
		Digest   string               // as in Desired
		Sig      *schema.Signature
		N        uint64 // as in Command
	}

	// LiveStop is a client's live stop, as received; any payload is one.
	LiveStop struct {
		Copy     bool // the other connection brought it already
		Client   string
		Payload  []byte
		Retained bool
		N        uint64 // as in Command
	}
)

// StopSource is a document that latches stops.
type StopSource string

// The sources.
const (
	RobotStops StopSource = "robot" // desired/stop: the stops of this robot
	FleetStops StopSource = "fleet" // fleet/stop: the stop of all robots
)

func (StopDocument) event() {}
func (LiveStop) event()     {}

// Desired is a desired document, as received.
type Desired[T any] struct {
	Kind     sign.Kind
	Document T
	// Digest is what the signature of the document covers: sign.Digest.
	Digest string
	// Problems: the document cannot be decoded; then Document is not set.
	Problems []schema.Problem
	// Emptied: the retained document was deleted, which changes nothing.
	Emptied bool
	// Retained: the broker had the document when the robot subscribed. Only modes have it.
	Retained bool
}

func (Desired[T]) event() {}

// The desired documents. Those of activities and places differ only by their Kind.
type (
	DesiredStory  = Desired[schema.DesiredStory]
	DesiredSet    = Desired[schema.DesiredSet]
	DesiredConfig = Desired[schema.DesiredConfig]
	DesiredMode   = Desired[schema.DesiredMode]
)
