package mode

import (
	"cmp"
	"time"

	"troupe/robotd/command"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/schema"
)

// Facts are the facts about other parts.
type Facts struct {
	CurrentState schema.Precondition
	Safety       schema.SafetyState
	// Standstill is what keeps the robot at rest, for people.
	Standstill safety.Standstill
	// LinkLost reports whether the operators' heartbeats have stopped; LostFor is for how
	// long none has arrived, the silence before the loss included, and 0 while the link is
	// not lost. A robot that never received one has lost the link only if the
	// connection ended while it was not DISABLED.
	LinkLost     bool
	LostFor      time.Duration
	Units        []schema.Unit
	NoStory      Refusal    // why no story can be performed now
	Map          driver.Map // that calibration loads
	MotionBarred bool       // a safeguard keeps the robot from moving
	NoDrive      bool       // nobody may use the drive
	NoLook       bool       // nobody may use the head
	Leased       bool       // a request for a mode needs control of the robot

	// The package itself adds what the supervisor has to know about one input.

	// Forbid is why the safety core forbids starting a mode now; empty if it does not.
	Forbid schema.Reason
	// ForbidDetail is for people why that is and what to do; empty = what Forbid says.
	ForbidDetail string
	// MotionEnabled reports whether the body may move.
	MotionEnabled bool
	// NotReady lists the modes whose own entry check fails, in any order.
	NotReady []NotReady
	// NoPause is why the active mode refuses to pause, when a request asks for it.
	NoPause Refusal
}

func (f *Facts) forbidDetail() string { return cmp.Or(f.ForbidDetail, f.Forbid.Describe().Text) }

// NotReady is a mode whose own entry check fails now.
type NotReady struct {
	Mode   schema.ModeID
	Reason schema.Reason
	Detail string
}

// Kind is the kind of an input.
type Kind string

// The kinds of input. The first nine are requests; the supervisor answers them.
const (
	Set     Kind = "set"
	Pause   Kind = "pause"
	Resume  Kind = "resume"
	Kill    Kind = "kill"
	Enable  Kind = "enable"
	Disable Kind = "disable"
	Load    Kind = "load"
	Unload  Kind = "unload"
	Cancel  Kind = "cancel" // cancel the request with the key Req

	Param Kind = "param" // set the parameter Name; Step.decide gives it to Runner.SetParam, and the supervisor does not see it

	Begin       Kind = "begin"    // robotd is ready: start calibration
	Tick        Kind = "tick"     // time has passed
	Shutdown    Kind = "shutdown" // robotd ends
	Started     Kind = "started"  // reported by the mode Mode, as all that follow
	StartFailed Kind = "start-failed"
	Stopped     Kind = "stopped"
	Died        Kind = "died" // an error, a panic or a missed deadline
	CalibOK     Kind = "calibration-succeeded"
	CalibFailed Kind = "calibration-failed"
)

// Input is a request, a report of a mode, or a tick. Fields that a Kind does not need
// stay empty.
type Input struct {
	Kind    Kind
	Mode    schema.ModeID
	Restart bool        // set: restart the mode if it already runs; shutdown: robotd is started again
	Name    string      // param: its name
	Value   string      // param: its value as JSON; empty = the default
	By      string      // param: who asks, for people
	Req     command.Key // key of the request, to which Ended is the answer
	Reason  schema.Reason
	Detail  string
}

// Do is the kind of an order of the supervisor to a mode, or of another call of a mode.
type Do string

// The orders. DoReady, DoMayPause and DoStep are calls that the runner makes without an order.
const (
	DoStart     Do = "start"
	DoStop      Do = "stop" // end in an orderly way
	DoKill      Do = "kill" // end now; the supervisor does not wait for an answer
	DoPause     Do = "pause"
	DoResume    Do = "resume"
	DoCalibrate Do = "calibrate"
	// DoEndCalibration ends a calibration whose result is ignored.
	DoEndCalibration Do = "end-calibration"

	DoReady    Do = "ready"
	DoMayPause Do = "may-pause"
	DoStep     Do = "step"
)

// Decision is the result of one step.
type Decision struct {
	Changed    bool
	From       Phase
	To         Phase
	On         Event
	Why        string
	Answer     schema.Verdict // to a request: SUCCEEDED, ACCEPTED (Ended follows) or REJECTED
	Ended      effect.Reply   // the final answer to an earlier request; without To there is none
	Fallback   schema.ModeID  // the mode that had to be replaced by another
	Reason     schema.Reason  // why it was replaced, or why calibration failed
	SafetyStop bool           // ask the safety core for STOP: no mode is in charge
	List       bool           // the list of modes changed

	orders [3]Call
	n      int
}

// Orders returns the orders to carry out now, in this order.
func (d *Decision) Orders() []Call { return d.orders[:d.n] }

func (d *Decision) order(do Do, m schema.ModeID) {
	d.orders[d.n] = Call{Mode: m, Do: do}
	d.n++
}
