// Package config is what a robot is and how it behaves: its own settings, and the
// values of the fleet's desired configuration that may be put over them.
package config

import (
	"fmt"
	"slices"
	"time"

	"troupe/robotd/auto"
	"troupe/robotd/control"
	"troupe/robotd/diagnosis"
	"troupe/robotd/intent"
	"troupe/robotd/interrupt"
	"troupe/robotd/life"
	"troupe/robotd/mode"
	"troupe/robotd/operatorlink"
	"troupe/robotd/safety"
	"troupe/robotd/signal"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// Config is what the robot is and how it behaves. The fleet's desired
// configuration is put over it, see keys.go; nothing else changes it while the
// robot runs.
type Config struct {
	ID      string
	Version string // of robotd

	Mode       mode.Config
	Safety     safety.Limits
	Auto       auto.Limits
	Link       operatorlink.Config
	Interrupts interrupt.Registry
	Control    control.Config
	Ranks      map[string]control.Rank // of clients; who is not listed is an operator
	Handlers   []Handler               // what the handlers of Interrupts do, by their ids
	Rules      *signal.CompiledRules   // which signals ask for which handler
	Zone       *time.Location          // in which conditions on the time of day are judged

	FleetID   string        // of the fleet that the robot was enrolled at; obeyed unless the robot belongs to another already
	Signing   sign.Policy   // of desired documents
	Trust     sign.Ring     // whose signatures count
	Probation time.Duration // how long a new story may take to begin

	Labels    map[string]string // of the robot in the fleet, as key and value, such as site: museum
	LocalOnly []string          // keys of a desired configuration that the fleet may not set

	Languages []string // spoken where a story allows it, the first preferred

	Tick          time.Duration // of the loop, while the robot performs or may move
	Heartbeat     time.Duration
	RestHeartbeat time.Duration // at rest, if everybody who judges the robot by its heartbeats accepts it
	Gather        time.Duration // changes of the state are gathered so long
	EventRate     float64       // events a second; more are left out and counted
	StateInterval time.Duration // the state is published again after so long, changed or not
	RestInterval  time.Duration // the same while heartbeats come every RestHeartbeat

	// ContinueOnReturn lets ato go on by itself when a heartbeat of an operator comes again;
	// otherwise somebody has to send auto/continue.
	ContinueOnReturn bool

	// EStopText is what the robot says once when it comes to E_STOP, by language; nil = a
	// sentence about the cause, empty = nothing.
	EStopText score.Text

	LowBattery float64 // share of 1 below which the interrupter power asks for its handler
	Charged    float64 // share of 1 at which the handler power ends

	Diagnosis diagnosis.Config
	Life      life.Config
	Intents   intent.Config

	// Readers parse and validate contents that fleetd delivers; nil = this robot does so for itself. A process with many robots
	// parses a content that they share once.
	Readers *Readers
}

// Readers return the content of a blob, which nobody changes, or what is wrong with it.
type Readers struct {
	Story      func([]byte) (*score.PublishedStory, []schema.Problem)
	Activities func([]byte) (*score.Activities, []schema.Problem)
	Places     func([]byte) (*score.Places, []schema.Problem)
}

// Defaults is a robot that is configured in nothing but its name.
func Defaults(id string) Config {
	return Config{
		ID:         id,
		Version:    "0",
		Mode:       mode.Defaults(),
		Safety:     safety.Defaults(),
		Auto:       auto.Defaults(),
		Link:       operatorlink.Defaults(),
		Interrupts: interrupt.Defaults(),
		Control:    control.Defaults(),
		Handlers:   DefaultHandlers(),
		Rules:      signal.Defaults(),
		Zone:       time.UTC,
		Signing:    sign.Off,
		Probation:  10 * time.Second,
		Languages:  []string{"en"},

		Tick:          20 * time.Millisecond,
		Heartbeat:     2 * time.Second,
		RestHeartbeat: schema.RestHeartbeatMS * time.Millisecond,
		Gather:        100 * time.Millisecond,
		EventRate:     20,
		StateInterval: 10 * time.Second,
		RestInterval:  55 * time.Second, // so that measurements have a value in every minute

		LowBattery: 0.20,
		Charged:    0.80,

		Life:    life.Defaults(),
		Intents: intent.Defaults(),
	}
}

// Check returns one sentence for each fault of the configuration.
func (c *Config) Check() []string {
	faults := append(c.Mode.Check(), c.Interrupts.Check()...)
	faults = append(faults, c.Control.Check()...)
	say := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	say(schema.ValidID(c.ID), "robot id %q: want a-z, 0-9 and hyphens, at most 63", c.ID)
	say(c.Tick >= time.Millisecond && c.Tick <= 100*time.Millisecond, "tick %v: want 1 ms to 100 ms", c.Tick)
	say(c.Heartbeat >= time.Second && c.Heartbeat <= 5*time.Second, "heartbeat %v: want 1 s to 5 s", c.Heartbeat)
	say(c.LowBattery >= 0 && c.LowBattery < c.Charged && c.Charged <= 1,
		"low battery %v and charged %v: want shares of 1, the first the smaller", c.LowBattery, c.Charged)
	say(c.Intents.Confidence >= 0 && c.Intents.Confidence <= 1, "intent confidence %v: want 0 to 1", c.Intents.Confidence)
	say(slices.Contains(sign.Policies, c.Signing), "signing %q: want %v", c.Signing, sign.Policies)
	say(c.Signing != sign.Require || c.Trust.Has(sign.SignsDesired), "signing is required and no key is trusted to sign desired documents")
	say(c.Probation >= time.Second && c.Probation <= 10*time.Minute, "probation %v: want 1 s to 10 min", c.Probation)
	say(c.EventRate >= 1 && c.EventRate <= EventBurst, "event rate %v: want 1 to %d a second", c.EventRate, EventBurst)
	say(len(c.Languages) > 0, "no language: want at least one BCP 47 tag such as en")
	for _, h := range c.Interrupts.Handlers {
		_, ok := c.Handler(h.ID)
		say(ok, "handler %s is asked for by interrupters, but nothing says what it does", h.ID)
	}
	return append(faults, c.checkRules()...)
}

// Handler returns what the handler of this id does.
func (c *Config) Handler(id string) (*Handler, bool) {
	for i := range c.Handlers {
		if c.Handlers[i].ID == id {
			return &c.Handlers[i], true
		}
	}
	return nil, false
}

// EventBurst is how many events may come at once; how many a second is
// configured.
const EventBurst = 20
