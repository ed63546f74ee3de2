package brain

import (
	"cmp"
	"fmt"

	"troupe/robotd/act"
	"troupe/robotd/control"
	"troupe/robotd/delivery"
	"troupe/robotd/desiredmode"
	"troupe/robotd/mode"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/score"
)

// others is the robot as the part for desired documents sees it.
type others State

// Capabilities are what a story is measured against.
func (s *others) Capabilities() schema.Caps { return s.body.Capabilities(s.cfg.Languages) }

// Check lets the executor go through an act as it would be performed.
func (s *others) Check(a *score.Act) *act.Refusal { return s.lanes.Check(a) }

// SetPlaces gives the fleet's places to the body.
func (s *others) SetPlaces(p *score.Places) { s.body.SetPlaces(p) }

// Playing reports whether ato performs.
func (s *others) Playing() bool { return s.perform.Auto().Status == schema.AutoIdle }

// DeliveryFacts are what the delivery of stories has to know of the performance.
func (s *others) DeliveryFacts() delivery.Facts {
	at := s.perform.Auto().Status
	return delivery.Facts{
		Performing:  at == schema.AutoIdle || at == schema.AutoPaused,
		Held:        at == schema.AutoPaused,
		Boundary:    s.perform.AtBoundary(),
		Interrupted: !s.perform.Idle(),
	}
}

// ModeFacts are what the desired mode has to know.
func (s *others) ModeFacts() desiredmode.Facts {
	f := desiredmode.Facts{Active: s.mode.Active, Settled: s.mode.Phase == mode.Ready || s.mode.Phase == mode.Safe}
	switch c, waits := s.manual.Control(), s.perform.Auto().Waits(); {
	case s.mode.Phase == mode.Safe || s.mode.Next == s.cfg.Mode.Safe:
		f.Others, f.Detail = cmp.Or(s.mode.Reason, schema.ReasonModeFailed), "the robot is in "+string(s.cfg.Mode.Safe)+"; only an operator leads out"
	case safety.Latched(s.safety.At):
		f.Others, f.Detail = schema.ReasonSafetyLatched, schema.ReasonSafetyLatched.Describe().Text
	case len(s.stops.Latches()) > 0:
		f.Others, f.Detail = schema.ReasonLatched, fmt.Sprintf("%d stops are held", len(s.stops.Latches()))
	case waits != "": // leaving ato would forget it
		f.Others, f.Detail = waits, string(schema.ModeAto)+" was stopped or lost its link; only auto/continue lets it go on"
	case c.At == control.Held:
		f.Others, f.Detail = schema.ReasonNotInControl, c.Lease.Who.String()+" has control of the robot"
	}
	return f
}
