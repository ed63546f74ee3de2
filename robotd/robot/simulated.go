package robot

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"troupe/robotd/driver"
	"troupe/robotd/driver/sim"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/schema"
)

// simInputs plays faults and signals into the simulated body and reports each to the loop.
type simInputs struct {
	body   *sim.Sim
	guard  *guard
	modes  []mode.Installed
	log    *slog.Logger
	report func(event.SimInput)
}

// simulated returns the body as a simulated one, if cfg wants inputs for it.
func simulated(cfg *Config, body driver.Driver) (*sim.Sim, error) {
	if !cfg.SimFaults {
		return nil, nil
	}
	s, ok := body.(*sim.Sim)
	if !ok {
		return nil, errors.New("configuration: sim.faults: the body is not a simulated one")
	}
	return s, nil
}

// receive takes a message.
func (s *simInputs) receive(name string, payload []byte, retained bool) {
	if retained {
		s.refuse(name, schema.Fault("", string(schema.ReasonRetainedCommand), "the message is retained", "send it without the retain flag"))
		return
	}
	in, problems := schema.DecodeSimInput(name, payload)
	if len(problems) == 0 {
		problems = s.play(in)
	}
	if len(problems) > 0 {
		s.refuse(name, problems[0])
		return
	}
	s.log.Info("input for the simulated body", "name", name, "fields", in)
	s.report(event.SimInput{Name: name, Fields: in})
}

func (s *simInputs) play(in schema.SimInput) []schema.Problem {
	if in, ok := in.(schema.SimModeFails); ok {
		if !slices.ContainsFunc(s.modes, func(m mode.Installed) bool { return m.ID == in.Mode }) {
			return []schema.Problem{schema.Fault("/mode", string(schema.ReasonUnknownMode), fmt.Sprintf("there is no mode %s", in.Mode), "")}
		}
		s.guard.failNext(in.Mode)
		return nil
	}
	return s.body.Inject(in)
}

func (s *simInputs) refuse(name string, p schema.Problem) {
	s.log.Warn("input for the simulated body refused", "name", name, "problem", p)
	s.report(event.SimInput{Name: name, Problem: &p})
}
