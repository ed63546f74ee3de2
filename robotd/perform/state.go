// Package perform performs the accepted story and the handlers of interrupts, each on
// lanes of their own.
package perform

import (
	"time"

	"troupe/robotd/act"
	"troupe/robotd/auto"
	"troupe/robotd/clock"
	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/robotd/interrupt"
	"troupe/robotd/request"
	"troupe/schema"
)

// State is what is performed, and what is to be.
type State struct {
	cfg     *config.Config
	queue   interrupt.State
	auto    auto.State
	toQueue request.Inbox[queueInput]
	toAuto  request.Inbox[autoInput]
	again   bool // ato has another edge to take

	accepted   *program // shall be performed
	noStory    schema.Reason
	playing    *program // is performed
	storyEntry string   // of the story's lane
	frozen     auto.Freeze
	handling   []handling
	low        bool          // the battery is
	askPower   time.Duration // when it asks for its handler
}

// What waits for ato and for the queue of interrupts.
type (
	autoInput struct {
		auto.Input
		entry string // act-done, act-failed: of the lane; a stale one does not count
	}
	queueInput struct {
		interrupt.Input
		asked *asked // the act that somebody asks for; nil = the handler's own
	}
)

// New is a robot that performs nothing.
func New(cfg *config.Config) State {
	return State{cfg: cfg, queue: interrupt.Boot(&cfg.Interrupts), auto: auto.Boot()}
}

// Step is the part within one step of the robot.
type Step struct {
	*State
	Facts
	Now   clock.Now
	Lanes *act.Lanes
	Out   *effect.List
}

// Facts are what it has to know of the others.
type Facts struct {
	Standing schema.Precondition
	Safety   schema.SafetyState
	Stopped  bool // a stop is latched
	LinkLost bool // nobody can be relied on to reach the robot, and ato is not to go on then
	Running  bool // the mode supervisor is
	Battery  Battery
	Body     Body
}

// Battery is what the battery says of itself.
type Battery struct {
	Known    bool
	Share    float64 // of 1
	Charging bool
}

// Body is what it has to know of the units.
type Body interface {
	Units() []schema.Unit
	Points() []string
	Capabilities(languages []string) schema.Caps
}

// Auto is where ato stands, and Queue where the interrupts do.
func (s *State) Auto() *auto.State       { return &s.auto }
func (s *State) Queue() *interrupt.State { return &s.queue }

// Handling is how many handlers are at work.
func (s *State) Handling() int { return len(s.handling) }
