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

// newSimInputs also reads the scenario of cfg. Without inputs for a simulated body it returns
// nil.
func newSimInputs(cfg *Config, body driver.Driver, guard *guard, log *slog.Logger) (*simInputs, []moment, error) {
	if speed := cfg.Sim.Speed; speed != 0 && !(speed >= 1 && speed <= maxSpeed) {
		return nil, nil, fmt.Errorf("configuration: sim.speed: %g is not within 1 and %d", speed, maxSpeed)
	}
	if !cfg.Scenario.Live && cfg.Scenario.File == "" {
		return nil, nil, nil
	}
	simulated, ok := body.(*sim.Sim)
	if !ok {
		return nil, nil, errors.New("configuration: sim.faults, sim.scenario: the body is not a simulated one")
	}
	s := &simInputs{body: simulated, guard: guard, modes: cfg.modes(), log: log}
	if cfg.Scenario.File == "" {
		return s, nil, nil
	}
	moments, err := readScenario(cfg.Scenario.File)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range moments {
		if m.in == nil {
			continue
		}
		if problems := s.check(m.in); len(problems) > 0 {
			return nil, nil, fmt.Errorf("%s:%d: %s: %s", cfg.Scenario.File, m.line, m.name, problems[0])
		}
	}
	return s, slices.DeleteFunc(moments, func(m moment) bool { return !m.concerns(cfg.ID) }), nil
}

// receive takes a message.
func (s *simInputs) receive(name string, payload []byte, retained bool) {
	if retained {
		s.refuse(name, schema.NewProblem("", string(schema.ReasonRetainedCommand), "the message is retained", "send it without the retain flag"))
		return
	}
	in, problems := schema.DecodeSimInput(name, payload)
	if len(problems) == 0 {
		problems = s.check(in)
	}
	if len(problems) > 0 {
		s.refuse(name, problems[0])
		return
	}
	s.take(name, in, nil)
}

// check returns why this robot cannot take an input.
func (s *simInputs) check(in schema.SimInput) []schema.Problem {
	if in, ok := in.(schema.SimModeFails); ok && !slices.ContainsFunc(s.modes, func(m mode.Installed) bool { return m.ID == in.Mode }) {
		return []schema.Problem{schema.NewProblem("/mode", string(schema.ReasonUnknownMode), "there is no mode "+string(in.Mode), "")}
	}
	return s.body.Check(in)
}

// take plays an input. at is its place in a scenario, if it is from one. It is reported
// first, so that the history has the cause before its effects.
func (s *simInputs) take(name string, in schema.SimInput, at *event.Scenario) {
	s.log.Info("input for the simulated body", "name", name, "fields", in)
	s.report(event.SimInput{Name: name, Fields: in, Scenario: at})
	if m, ok := in.(schema.SimModeFails); ok {
		s.guard.failNext(m.Mode)
	} else {
		s.body.Inject(in)
	}
}

func (s *simInputs) refuse(name string, p schema.Problem) {
	s.log.Warn("input for the simulated body refused", "name", name, "problem", p)
	s.report(event.SimInput{Name: name, Problem: &p})
}
