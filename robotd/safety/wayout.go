package safety

import (
	"fmt"
	"strings"

	"troupe/schema"
)

// Standstill is what keeps the robot at rest, to explain it to people. Its slices are shared
// and read-only.
type Standstill struct {
	At       schema.SafetyState
	Cause    Cause
	Physical bool     // as in CoreState
	Inputs   []string // stop inputs that are pressed
	Latches  []Latch
	Continue bool // a pause of ato waits for auto/continue
}

// Standstill describes what keeps the robot at rest.
func (s *CoreState) Standstill(inputs []string, latches []Latch, needsContinue bool) Standstill {
	return Standstill{At: s.At, Cause: s.Cause, Physical: s.Physical, Inputs: inputs, Latches: latches, Continue: needsContinue}
}

// CauseDetail says in HALT and E_STOP what led there, also when that is over; empty in other
// states.
func (s *CoreState) CauseDetail() string {
	if !Halts(s.At) {
		return ""
	}
	return s.Cause.author()
}

// String says why the robot is at rest, and the whole way out.
func (h Standstill) String() string { return h.why() + "; " + h.WayOut() }

// Refusal says why a unit may not carry out a command of class c now, and the whole way out.
func (h Standstill) Refusal(unit string, c Class) string {
	if c == Sounds {
		return "the " + unit + " may not make sounds: " + h.String()
	}
	return "the " + unit + " may not move: " + h.String()
}

func (h Standstill) why() string {
	switch {
	case Halts(h.At):
		return fmt.Sprintf("the robot is in %s because of %s", h.At, h.Cause.author())
	case len(h.Latches) == 1:
		return "a stop is latched"
	case len(h.Latches) > 1:
		return fmt.Sprintf("%d stops are latched", len(h.Latches))
	case h.At == schema.SafetyEnabled:
		return "the stop is over"
	case h.At == schema.SafetySoftStop || h.At == schema.SafetyStop:
		return "the robot is coming to rest"
	}
	return "the safety core is " + string(h.At)
}

// WayOutOfUnitError is the hint of an alert about a unit in error.
func (h Standstill) WayOutOfUnitError() string {
	if h.Physical {
		return h.WayOut()
	}
	return "check what caused it, then send safety/reset"
}

// WayOut lists all steps, in their order, after which the robot performs again. It names the
// verbs of the contract; a stop is released at fleetd, by its id.
func (h Standstill) WayOut() string {
	const atRobot = "press the button reset on the robot's body (after a stop input, safety/reset is refused)"
	var steps []string
	switch len(h.Inputs) {
	case 0:
	case 1:
		steps = append(steps, "release stop input "+h.Inputs[0])
	default:
		steps = append(steps, "release the stop inputs "+strings.Join(h.Inputs, ", "))
	}
	physical := Halts(h.At) && (h.Physical || len(h.Inputs) > 0)
	if physical { // the reset button releases stops that fleetd has not recorded, too
		steps = append(steps, atRobot)
	}
	switch len(h.Latches) {
	case 0:
	case 1:
		steps = append(steps, "release the latched stop "+h.Latches[0].ID+" at fleetd")
	default:
		ids := make([]string, len(h.Latches))
		for i, l := range h.Latches {
			ids[i] = l.ID
		}
		steps = append(steps, "release the latched stops "+strings.Join(ids, ", ")+" at fleetd")
	}
	if NeedsReset(h.At) && !physical {
		steps = append(steps, "safety/reset")
	}
	if h.At != schema.SafetyEnabled {
		steps = append(steps, "safety/enable")
	}
	if h.Continue {
		steps = append(steps, "auto/continue")
	}
	return strings.Join(steps, ", then ")
}
