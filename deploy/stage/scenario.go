package stage

import (
	"context"
	"fmt"
	"sync"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/fleetd/selector"
	"troupe/robotd/robot"
)

// A scenario is played by the robots of a stage: each plays into its simulated body what its
// entries say, and the stage sends their commands, as people would.
type scenario struct {
	cfg    *Config
	fleetd *fleetdClient
	begin  chan struct{}

	mu      sync.Mutex
	stopped bool
	sending sync.WaitGroup
}

// newScenario reads the scenario of cfg, so that a wrong one is refused before anything starts.
func newScenario(cfg *Config) (*scenario, error) {
	s := &scenario{cfg: cfg, begin: make(chan struct{})}
	if cfg.Scenario == "" {
		return s, nil
	}
	if cfg.Speed == 0 {
		cfg.Speed = 1
	}
	_, _, _, err := robot.ScenarioSpan(cfg.Scenario)
	return s, err
}

// of returns what robot number i plays.
func (s *scenario) of(i int) robot.Scenario {
	if s.cfg.Scenario == "" {
		return robot.Scenario{}
	}
	return robot.Scenario{File: s.cfg.Scenario, Begin: s.begin, Played: func(ctx context.Context, e robot.Entry) { s.played(ctx, i, e) }}
}

// start begins the scenario on every robot.
func (s *scenario) start() {
	if s.cfg.Scenario == "" {
		return
	}
	from, to, lasts, _ := robot.ScenarioSpan(s.cfg.Scenario)
	real := time.Duration(float64(lasts) / s.cfg.Speed).Round(time.Second)
	s.cfg.Say(fmt.Sprintf("the scenario %s begins: %s to %s at speed %g, which takes %v. The speed is that of its clock, "+
		"of batteries and of temperatures; acts, heartbeats and safety keep their own time", s.cfg.Scenario, from, to, s.cfg.Speed, real))
	close(s.begin)
}

// played prints what happens, and sends the command of an entry. It does not wait for the
// answer, because that would delay the entries after it.
func (s *scenario) played(ctx context.Context, i int, e robot.Entry) {
	if e.Note != "" && (i == 0 || e.ForSome) {
		who := "all"
		if e.ForSome {
			who = robotID(i)
		}
		s.cfg.Say(fmt.Sprintf("%s  %-3s  %s", e.At, who, e.Note))
	}
	if e.Last && i == 0 {
		defer s.cfg.Say("the scenario is over; Ctrl-C ends the demo")
	}
	if e.Verb == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped {
		s.sending.Go(func() { s.send(ctx, i, e) })
	}
}

func (s *scenario) send(ctx context.Context, i int, e robot.Entry) {
	why := e.Note
	if why == "" {
		why = "the scenario"
	}
	body := map[string]any{"verb": e.Verb, "selector": selector.IDs(robotID(i)), "by": operator, "why": why}
	if e.Args != nil {
		body["args"] = e.Args
	}
	for deadline := time.Now().Add(retryTimeout); ; {
		batch, err := request[api.Batch](ctx, s.fleetd, "POST", "/commands", nil, body)
		refused := ""
		switch {
		case err != nil:
			refused = err.Error()
		case batch.Commands[0].State == command.Rejected && batch.Commands[0].Answer != nil:
			refused = string(batch.Commands[0].Answer.Reason) + ": " + batch.Commands[0].Answer.Detail
		case batch.Commands[0].State != command.Succeeded && batch.Commands[0].State != command.Acked &&
			batch.Commands[0].State != command.Running:
			s.cfg.Say(fmt.Sprintf("%s to %s: %s %s", e.Verb, robotID(i), batch.Commands[0].State, batch.Commands[0].Because))
		}
		if refused == "" {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		if time.Now().After(deadline) {
			s.cfg.Say(fmt.Sprintf("%s to %s: %s", e.Verb, robotID(i), refused))
			return
		}
	}
}

// retryTimeout is how long people in a scenario try again when a robot refuses. The clock of the
// scenario may run faster than the robot: it takes its own time to cool for certain.
const retryTimeout = 20 * time.Second

// end waits until no command is being sent. The robots have ended, so no other follows.
func (s *scenario) end() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.sending.Wait()
	s.fleetd.close()
}
