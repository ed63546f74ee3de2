package mode

import (
	"time"

	"troupe/schema"
)

// Facts is what the supervisor has to know of the rest of the robot.
type Facts struct {
	// Forbid is why the safety core lets no mode start now; empty when it does.
	Forbid schema.Reason
	// Enabled: the body may move.
	Enabled bool
	// LinkLost: there was an operator's heartbeat and there is none now, since
	// LostFor. A robot that never had a link has lost none.
	LinkLost bool
	LostFor  time.Duration
	// NotReady lists the modes whose own entry check fails, in any order.
	NotReady []NotReady
	// NoPause is why the active mode does not agree to a pause.
	NoPause schema.Reason
}

// NotReady is a mode that would refuse to start now.
type NotReady struct {
	Mode   schema.ModeID
	Reason schema.Reason
	Detail string
}

// Kind is what the supervisor is told or asked.
type Kind string

// The kinds of input. The first seven are requests and are answered.
const (
	Set     Kind = "set"
	Pause   Kind = "pause"
	Resume  Kind = "resume"
	Kill    Kind = "kill"
	Enable  Kind = "enable"
	Disable Kind = "disable"
	Cancel  Kind = "cancel" // what Req names

	Begin       Kind = "begin"    // the robot is wired up: calibrate
	Tick        Kind = "tick"     // time has passed
	Shutdown    Kind = "shutdown" // robotd ends
	Started     Kind = "started"  // by the mode named
	StartFailed Kind = "start-failed"
	Stopped     Kind = "stopped"
	Died        Kind = "died" // an error, a panic or a missed deadline
	CalibOK     Kind = "calibration-succeeded"
	CalibFailed Kind = "calibration-failed"
)

// Input is one of them; what a Kind does not need stays empty.
type Input struct {
	Kind    Kind
	Mode    schema.ModeID
	Restart bool   // set: also when the mode already runs
	Req     string // names the request; a later end is told under it
	Reason  schema.Reason
	Detail  string
}

// Do is what a mode is ordered.
type Do string

// The orders.
const (
	DoStart     Do = "start"
	DoStop      Do = "stop" // end in order
	DoKill      Do = "kill" // end now; no answer is waited for
	DoPause     Do = "pause"
	DoResume    Do = "resume"
	DoCalibrate Do = "calibrate"
	// DoEndCalibration: whatever still comes of it is of no interest.
	DoEndCalibration Do = "end-calibration"
)

// Order is one of them, for one mode.
type Order struct {
	Do   Do
	Mode schema.ModeID
}

// Answer is what the sender of a request is told at once.
type Answer struct {
	Status schema.Status // SUCCEEDED, ACCEPTED (an Ended follows) or REJECTED; empty: nobody asked
	Result schema.Result
	Reason schema.Reason
	Detail string
}

// Ended tells an accepted request how it went.
type Ended struct {
	Req    string
	Status schema.Status
	Result schema.Result
	Reason schema.Reason
	Detail string
}

// Decision is what one step came to.
type Decision struct {
	Changed    bool
	From       Phase
	To         Phase
	On         Event
	Why        string
	Answer     Answer
	Ended      Ended         // of an earlier request, when Req is not empty
	Fallback   schema.ModeID // the mode that another one had to replace
	Reason     schema.Reason // and why
	SafetyStop bool          // ask the safety core for STOP: nobody is in charge
	List       bool          // the list of modes changed

	orders [3]Order
	n      int
}

// Orders lists what is to be done now, in this order.
func (d *Decision) Orders() []Order { return d.orders[:d.n] }

func (d *Decision) order(do Do, m schema.ModeID) {
	d.orders[d.n] = Order{do, m}
	d.n++
}
