// Package life decides what a robot in ato does by itself: which activity has the focus, which
// ones start again after it, what the launchpad starts, which abilities the robot has, and when
// it protects itself.
//
// An activity has a nature: a solitary one passes the time, an interactive one is for people and
// ends solitary ones. The launchpad watches the launch conditions of all activities, and gives the
// focus to one whose condition is true; the focused activity is the one that runs. These words and
// the four states of the table are those of autonomous life on NAOqi robots. Whenever the robot enters
// a state, it gets the abilities, launchpad and plug-ins of that state, so that nothing of one
// activity reaches the next.
//
// It decides only: it performs nothing and knows neither lanes nor units. An activity that gets
// the focus is an effect, which package perform carries out; its end comes back once. In doubt
// the robot does nothing by itself: outside ato its autonomous life is disabled, and while a
// safeguard has a cause it is in safeguard.
package life

import (
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/robotd/signal"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// Config is what is configured of autonomous life.
type Config struct {
	Enabled    bool
	HumansLost time.Duration // without people an interactive activity ends after so long; 0 = never
}

// Defaults is autonomous life as of a robot without configuration.
func Defaults() Config { return Config{Enabled: true} }

// State is the state of autonomous life.
type State struct {
	cfg *Config

	at     schema.LifeState
	reason schema.Reason // why it is disabled or in safeguard
	since  time.Duration

	focus focus
	stack []string // activities that start again, the next one last
	runs  int64    // performances since the start

	launchpadOn bool
	plugins     [len(Plugins)]bool
	hidden      []string // keys of plug-ins that are off

	ato     bool              // as last seen: ato performs
	enabled bool              // as last seen: the setting life.enabled
	begun   bool              // as last seen: ato performs, nobody has stopped its story, and the setting life.enabled is true
	off     bool              // somebody switched it off; that holds when ato begins again without a request
	ignored [len(causes)]bool // causes to which life does not react until an activity ends
	cause   int               // of the safeguard, if it is in safeguard
	stays   bool              // that cause is damage, and the robot has come to rest because of it
	alone   bool              // the robot sees nobody
	lost    time.Duration     // since when

	set        *score.Activities
	activities []activity
	chosen     []int // candidates of the launchpad, the first choice first, as indexes of activities
	next       string
	announced  announced
	seen       seen
	due        time.Duration // when time alone changes what the launchpad chooses; 0 = never
	dirty      bool          // something other than time has changed what it chooses
	chose      int64         // how often it chose, for tests

	focuses []schema.LifeFocus
	states  []schema.LifeEntry

	inbox command.Inbox[input]
	by    command.Key // the command that this step carries out
	again bool        // there was a transition, and another one may follow at once
}

// focus is the performance of an activity.
type focus struct {
	activity, run string // empty = none
	nature        score.Nature
	since         time.Duration
}

// input is a command, or the end of a performance.
type input struct {
	args  verb.Args // of the command; nil = none
	who   string    // sent it
	ended effect.ActivityEnded
}

// New returns the state of a robot that has just started: life is disabled.
func New(cfg *Config) State {
	return State{cfg: cfg, enabled: cfg.Enabled, at: disabled, reason: schema.ReasonNotInAto}
}

// Step is the part of one step of the robot that concerns autonomous life.
type Step struct {
	*State
	Facts
	Now clock.Now
	Out *effect.List
}

// Facts are the facts about other parts.
type Facts struct {
	CurrentState schema.Precondition
	Ato          bool // ato performs
	Requested    bool // somebody asked for ato when it began
	StoryStopped bool // somebody stopped the story: nothing begins by itself
	Paused       bool // a pause other than that of a safeguard freezes everything in ato
	Pauses       Pauses
	Standstill   safety.Standstill // why the robot is at rest, and the way out
	Interrupts   bool              // a handler runs
	Preempts     bool              // one that preempts activities does
	// which stop keeps autonomous life in safeguard: of the safety core, a latch, or a pause that needs auto/continue
	StopReason schema.Reason
	AtRest     bool // the safety core is DISABLED
	Charging   bool
	Health     Health
	Signals    *signal.State
	Activities *score.Activities // of the fleet; nil = none
}

// Pauses explains the pauses of ato to people.
type Pauses interface {
	PausedBy(client, person, standstill string) string
}

// Health is what the package asks of the diagnosis.
type Health interface {
	Safeguarded(schema.Safeguard) bool // whether a safeguard has a cause
}

// At returns the state of life, and Focused the performance that has the focus; its run is empty
// if none has.
func (s *State) At() schema.LifeState { return s.at }
func (s *State) Focused() (activity, run string, nature score.Nature) {
	return s.focus.activity, s.focus.run, s.focus.nature
}

// Ask takes a command of a person or program, and reports whether it is one of life.
func (s *State) Ask(o effect.Dispatch, who string) bool {
	if !isCommand(o.Args) {
		return false
	}
	s.inbox.Put(input{args: o.Args, who: who}, o.Key, o.If)
	return true
}

// Ended takes the end of a performance.
func (s *State) Ended(e effect.ActivityEnded) { s.inbox.Add(input{ended: e}) }

// Drop removes a command that waits, and reports whether it did.
func (s *State) Drop(by command.Key) bool { return s.inbox.Drop(by) }

// Pending reports whether there is something to decide at once.
func (s *State) Pending() bool { return s.again || s.inbox.Len() > 0 }

// Deadline is when time alone changes something.
func (s *State) Deadline() (at time.Duration, any bool) {
	at = s.due
	if s.watchesPeople() && s.alone {
		at = sooner(at, max(s.lost, s.focus.since)+s.cfg.HumansLost)
	}
	return at, at != 0
}

// watchesPeople reports whether the focused activity ends without people.
func (s *State) watchesPeople() bool {
	return s.cfg.HumansLost > 0 && s.at == interactive && s.focus.run != ""
}

// sooner is the earlier of two times, of which 0 is none.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
