package mode

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// Mode is a mode that was started. Each start makes a new value, and its life is
//
//	Start, then Step and Hold in any order, then Stop or Kill
//
// where Kill may come at any time, also while the mode starts or stops. It reports
// through the host how far it is, in the call or in a later one. After it reported its
// end, or was killed, it is never called again.
//
// Its methods compute only what one step needs. A call that panics or takes too long
// ends the mode, and none may wait for anything: no stop is obeyed meanwhile.
type Mode interface {
	// Start begins the mode. It reports Started or StartFailed.
	Start(*Host)
	// Stop ends the mode in an orderly way. It reports Stopped.
	Stop(*Host)
	// Kill ends the mode at once.
	Kill(*Host)
	// MayPause returns why the mode cannot be paused now. It changes nothing.
	MayPause(*Host) Refusal
	// Hold pauses the mode, or lets it go on. A paused mode gets no TimePassed.
	Hold(h *Host, paused bool)
	// Step handles a notice.
	Step(*Host, Notice)
}

// Plain is a mode that runs from its start to its end and does nothing by itself. A mode
// embeds it and has methods of its own for what it does.
type Plain struct{}

func (Plain) Start(h *Host)          { h.Started() }
func (Plain) Stop(h *Host)           { h.Stopped() }
func (Plain) Kill(*Host)             {}
func (Plain) MayPause(*Host) Refusal { return Refusal{} }
func (Plain) Hold(*Host, bool)       {}
func (Plain) Step(*Host, Notice)     {}

// Installed is a mode that a robot has: one row of its table of modes.
type Installed struct {
	Rule
	Name     string // for people
	Manual   bool   // people who have control act through it, by verbs and by velocity
	Performs bool   // it performs the story: its pauses are those of the story
	// Ready returns why the mode cannot start now, and changes nothing; nil: it always
	// can. It is asked before any mode ends for this one.
	Ready func(*Host) Refusal
	New   func() Mode
}

// Refusal is why something cannot be. The zero value is none.
type Refusal struct {
	Reason schema.Reason
	Detail string
}

// Notice is what a running mode is told. The set is closed.
type Notice interface{ notice() }

// The notices.
type (
	// TimePassed: time has passed. It comes with the period of the robot while its units may
	// move, and otherwise several times a second.
	TimePassed struct{}
	// CalibrationOrdered and CalibrationCancelled are for the calibration mode.
	CalibrationOrdered   struct{}
	CalibrationCancelled struct{}
	// CalibrationEnded: the calibration that the mode asked for last is over; without a
	// refusal it succeeded.
	CalibrationEnded struct{ Refusal }
	// Entered answers Enter; without a refusal the story is performed.
	Entered struct{ Refusal }
	// Touched: somebody touches the robot at a place, or lets go of it.
	Touched struct {
		Place string
		On    bool
	}
)

func (TimePassed) notice()           {}
func (CalibrationOrdered) notice()   {}
func (CalibrationCancelled) notice() {}
func (CalibrationEnded) notice()     {}
func (Entered) notice()              {}
func (Touched) notice()              {}

// Effect is what a mode wants done. The set is closed; brain carries it out. What a mode
// began with an effect ends with the mode.
type Effect interface{ effect() }

// The effects.
type (
	// Report is an Input that a mode makes by the methods of its host.
	Report struct{ Input }
	// Calibrate begins a calibration, and EndCalibration ends it. The host fills Run.
	Calibrate      struct{ Run int64 }
	EndCalibration struct{}
	// Enter lets the story be performed, and Leave ends that.
	Enter struct{}
	Leave struct{}
	// Drive moves the drive for a short time, if it may move.
	Drive struct{ VX, WZ float64 } // m/s forward, rad/s to the left
	// Stop asks the safety core for a stop. A mode can make the robot safer and never
	// more free: that it wants to move stands in its rule.
	Stop struct {
		Level schema.StopLevel
		Why   string
	}
)

func (Report) effect()         {}
func (Calibrate) effect()      {}
func (EndCalibration) effect() {}
func (Enter) effect()          {}
func (Leave) effect()          {}
func (Drive) effect()          {}
func (Stop) effect()           {}

// Robot is what a mode knows of the robot.
type Robot struct {
	MayMove bool    // the safety core lets the units move, and people can reach the robot or need not
	Story   Refusal // why no story can be performed now
	Units   []schema.Unit
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

// Host is a mode's way to the rest of the robot.
type Host struct {
	Now time.Duration // since boot
	Robot
	params map[string]jsontext.Value

	id      schema.ModeID
	effects []Effect
	begun
	run int64 // the newest calibration
}

// begun is what goes on for a mode.
type begun struct{ calibrating, entered, driving bool }

// Param returns a parameter of the mode's rule; nil if it is not set.
func (h *Host) Param(name string) jsontext.Value { return h.params[name] }

// Do wants something done. Effects are carried out after the call, in order; those of a
// call that fails are not.
func (h *Host) Do(e Effect) {
	switch d := e.(type) {
	case Calibrate:
		h.run++
		h.calibrating, e = true, Calibrate{Run: h.run}
	case EndCalibration:
		h.run++ // what still comes of it is late
		h.calibrating = false
	case Enter:
		h.entered = true
	case Leave:
		h.entered = false
	case Drive:
		h.driving = d != Drive{}
	}
	h.effects = append(h.effects, e)
}

func (h *Host) report(k Kind, why Refusal) {
	h.Do(Report{Input{Kind: k, Mode: h.id, Reason: why.Reason, Detail: why.Detail}})
}

// Started reports that the mode runs, and StartFailed that it does not.
func (h *Host) Started()                { h.report(Started, Refusal{}) }
func (h *Host) StartFailed(why Refusal) { h.report(StartFailed, why) }

// Stopped reports that the mode has ended as it was told, and Died that it ended by
// itself.
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
