package mode

import (
	"time"

	"troupe/schema"
)

// Mode is a mode that was started. Each start makes a new value. The runner calls
//
//	Start, then Step, MayPause and SetPaused in any order, then Stop or Kill
//
// and Kill at any time, also while the mode starts or stops. The mode reports through
// the host that it has started, stopped or failed, in the same call or in a later one.
// The runner never calls it again after it reported its end or was killed.
//
// A method computes only what one step needs and waits for nothing, because the robot
// obeys no stop meanwhile. A call that panics or takes too long ends the mode.
type Mode interface {
	// Start begins the mode. It reports Started or StartFailed.
	Start(*Host)
	// Stop ends the mode in an orderly way. It reports Stopped.
	Stop(*Host)
	// Kill ends the mode at once.
	Kill(*Host)
	// MayPause returns why the mode cannot be paused now. It changes nothing.
	MayPause(*Host) Refusal
	// SetPaused pauses the mode, or resumes it. A paused mode gets no TimePassed, and the
	// supervisor stops the drive and the head.
	SetPaused(h *Host, paused bool)
	// Step handles a notice.
	Step(*Host, Notice)
}

// Plain is a mode that starts, pauses and stops at once and does nothing. Other modes
// embed it and replace the methods in which they do something.
type Plain struct{}

func (Plain) Start(h *Host)          { h.Started() }
func (Plain) Stop(h *Host)           { h.Stopped() }
func (Plain) Kill(*Host)             {}
func (Plain) MayPause(*Host) Refusal { return Refusal{} }
func (Plain) SetPaused(*Host, bool)  {}
func (Plain) Step(*Host, Notice)     {}

// Installed is a mode that a robot has: one row of its table of modes.
type Installed struct {
	Settings
	Name     string // for people
	Manual   bool   // it accepts manual verbs and velocity frames
	Performs bool   // it performs the story; mode/pause and mode/resume acquire and release a pause token of the story
	// Ready returns why the mode cannot start now, and changes nothing. The supervisor
	// asks before it ends another mode for this one. Without Ready, the mode can always
	// start. Conditional says whether it has one.
	Ready func(*Host) Refusal
	// Params are the mode's parameters, in the order in which people see them.
	Params []Parameter
	New    func() Mode
}

// Refusal is why something was refused or has failed. The zero value means that it was not.
type Refusal struct {
	Reason schema.Reason
	Detail string
}

// Notice is an event that a running mode handles. The set is closed.
type Notice interface{ notice() }

// The notices.
type (
	// TimePassed comes every 20 ms while the units may move, and otherwise several times
	// a second.
	TimePassed struct{}
	// CalibrationOrdered and CalibrationCancelled are for the calibration mode.
	CalibrationOrdered   struct{}
	CalibrationCancelled struct{}
	// CalibrationEnded answers the last Calibrate; without a refusal it succeeded.
	CalibrationEnded struct{ Refusal }
	// StoryAnswered answers BeginStory; without a refusal the story is performed.
	StoryAnswered struct{ Refusal }
	// Touched: somebody begins or ends to touch an area of the robot.
	Touched struct {
		Area string
		On   bool
	}
)

func (TimePassed) notice()           {}
func (CalibrationOrdered) notice()   {}
func (CalibrationCancelled) notice() {}
func (CalibrationEnded) notice()     {}
func (StoryAnswered) notice()        {}
func (Touched) notice()              {}

// Effect is an order of a mode to the rest of the robot. The set is closed; Step.passOn
// passes it on. When the mode ends, the runner ends what the mode began.
type Effect interface{ effect() }

// The effects. An Input is a report to the supervisor; Started and its siblings make it.
type (
	// Calibrate begins a calibration, and EndCalibration ends it. The host sets Run.
	Calibrate      struct{ Run int64 }
	EndCalibration struct{}
	// BeginStory begins to perform the story, and EndStory ends it.
	BeginStory struct{}
	EndStory   struct{}
	// Drive sets the speed of the drive for a short time, if Robot.MayMove. The supervisor ends
	// a Drive and a Look as soon as the mode may not move the robot any more.
	Drive struct{ VX, WZ float64 } // m/s forward, rad/s to the left
	// Look turns the head, if Robot.MayMove; a newer one replaces it.
	Look struct{ Yaw, Speed float64 } // rad to the left, share of the maximum
	// Stop asks the safety core for a stop: soft-stop, stop, halt or estop. No effect enables
	// motion: whether a mode needs motion enabled is in its settings.
	Stop struct{ Verb, Why string }
)

func (Input) effect()          {}
func (Calibrate) effect()      {}
func (EndCalibration) effect() {}
func (BeginStory) effect()     {}
func (EndStory) effect()       {}
func (Drive) effect()          {}
func (Look) effect()           {}
func (Stop) effect()           {}

// Robot is what a mode knows of the robot.
type Robot struct {
	MayMove bool    // motion is enabled, and the link is up or the mode's settings are to continue without it
	NoStory Refusal // why no story can be performed now; zero = one can
	Units   []schema.Unit
	People  int     // that the robot sees near it
	Bearing float64 // of the nearest one, rad to the left of straight ahead
}

// Has reports whether the robot has a unit of a kind.
func (r *Robot) Has(k schema.UnitKind) bool {
	for i := range r.Units {
		if r.Units[i].Kind == k {
			return true
		}
	}
	return false
}

// Host is the rest of the robot, as a mode sees it.
type Host struct {
	Now time.Duration // since boot
	Robot
	params *params

	id      schema.ModeID
	effects []Effect
	begun
	run int64 // number of the last calibration
}

// begun is what the running mode began and has not ended.
type begun struct{ calibrating, performing, driving bool }

// Do adds an effect. The supervisor carries effects out after the call, in order, unless the call
// fails.
func (h *Host) Do(e Effect) {
	switch d := e.(type) {
	case Calibrate:
		h.run++
		h.calibrating, e = true, Calibrate{Run: h.run}
	case EndCalibration:
		h.run++ // an answer that still comes is late
		h.calibrating = false
	case BeginStory:
		h.performing = true
	case EndStory:
		h.performing = false
	case Drive:
		h.driving = d != Drive{}
	}
	h.effects = append(h.effects, e)
}

func (h *Host) report(k Kind, why Refusal) {
	h.Do(Input{Kind: k, Mode: h.id, Reason: why.Reason, Detail: why.Detail})
}

// Started reports that the mode runs, and StartFailed that it cannot start.
func (h *Host) Started()                { h.report(Started, Refusal{}) }
func (h *Host) StartFailed(why Refusal) { h.report(StartFailed, why) }

// Stopped reports that the mode has ended after Stop, and Died that it ended by itself.
func (h *Host) Stopped()         { h.report(Stopped, Refusal{}) }
func (h *Host) Died(why Refusal) { h.report(Died, why) }

// Calibrated reports the end of a calibration; without a refusal it succeeded.
func (h *Host) Calibrated(why Refusal) {
	if why == (Refusal{}) {
		h.report(CalibOK, why)
		return
	}
	h.report(CalibFailed, why)
}
