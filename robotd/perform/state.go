// Package perform performs the accepted story, the focused activity, the handlers of interrupts and the shutdown act,
// each on lanes of its own.
package perform

import (
	"troupe/robotd/act"
	"troupe/robotd/auto"
	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/robotd/interrupt"
	"troupe/robotd/safety"
	"troupe/robotd/signal"
	"troupe/schema"
	"troupe/schema/score"
)

// State is the state of the performance.
type State struct {
	cfg          *config.Config
	interrupts   interrupt.State
	auto         auto.State
	asked        string   // of ato, as saved
	gate         act.Gate // as set in the executor
	toInterrupts command.Inbox[interruptInput]
	toAuto       command.Inbox[autoInput]
	again        bool // ato has another transition to make

	accepted        *program // to be performed
	noStory         schema.Reason
	noStoryDetail   string
	taught          map[string]score.Act
	repertoire      map[string]score.Act // acts by id: those of accepted, and taught
	playing         *program             // being performed
	storyEntry      string               // entry on the story's lane
	failed          schema.FailedAct     // act of the story that failed last
	failing         bool                 // the alert is raised
	frozen          auto.Freeze
	runningHandlers []runningHandler

	focus        focus
	pausedForRun string // performance of an activity whose pause token is held
	ending       bool   // that performance has ended; its token is released in the next step, if no other activity gets the focus
	frozenFocus  auto.Freeze
	abilities    abilities

	help         bool // the alert help_asked is raised
	unitCritical bool // as at the last step
	power        power
	refusals     []refusals
}

// Inputs that wait for ato and for the interrupts.
type (
	autoInput struct {
		auto.Input
		entry string // for act-done and act-failed: entry on the lane; a stale one does not count
		act   string // for skip: the act that the sender means
	}
	interruptInput struct {
		interrupt.Input
		requested *requestedAct // the requested act; nil = the handler's own
	}
)

// New returns a state in which nothing is performed.
func New(cfg *config.Config) State {
	return State{cfg: cfg, interrupts: interrupt.Boot(&cfg.Interrupts), auto: auto.Boot(), power: power{tried: untried},
		abilities: abilities{yaw: anywhere}}
}

// Step is the part of one step of the robot that concerns the performance.
type Step struct {
	*State
	Facts
	Now   clock.Now
	Lanes *act.Lanes
	Out   *effect.List
}

// Health is what the package asks of the diagnosis.
type Health interface {
	Unusable(unit string) string // why nobody may use a unit; empty = it may be used
}

// Facts are the facts about other parts.
type Facts struct {
	CurrentState    schema.Precondition
	Safety          schema.SafetyState
	Standstill      safety.Standstill // what keeps the robot at rest, and its way out
	LinkLostForAto  bool              // no heartbeat of fleetd or of a panel arrives, and ato must not continue then
	LinkLostForMode bool              // no heartbeat of fleetd or of a panel arrives, and the active mode must not continue then
	InCalibration   bool              // a mode calibrates the body
	Running         bool              // false while robotd starts or ends; as it ends, ato may still be active, and no interrupt begins
	Pause           schema.Reason     // why a safeguard pauses ato
	EntryRefused    schema.Reason     // why a safeguard keeps ato from being entered
	UnitCritical    bool              // a critical unit keeps the robot at rest
	Battery         Battery
	Body            Body
	People          int     // that the robot sees
	Bearing         float64 // of the nearest one, rad to the left of straight ahead
	Signals         *signal.State
	Health          Health
	// Activities are those of the fleet; nil = none.
	Activities *score.Activities
}

// Battery is what the battery reports.
type Battery struct {
	Known    bool
	Share    float64 // 0 to 1
	Charging bool
}

// Body is what the package asks of the body.
type Body interface {
	Units() []schema.Unit
	Points() []string
	Capabilities(languages []string) schema.Caps
}

// Auto returns the state of ato, and InterruptState that of the running interrupts and of the
// interrupters.
func (s *State) Auto() *auto.State                { return &s.auto }
func (s *State) InterruptState() *interrupt.State { return &s.interrupts }

// RunningHandlers returns the number of running handlers.
func (s *State) RunningHandlers() int { return len(s.runningHandlers) }
