// Package desired takes in the documents in which the fleet says what it wants of the
// robot: its story, activities and places, its configuration and its mode. It verifies
// each, obeys those of its own fleet, keeps what it obeyed, and reports what became of it.
package desired

import (
	"time"

	"troupe/robotd/act"
	"troupe/robotd/clock"
	"troupe/robotd/config"
	"troupe/robotd/delivery"
	"troupe/robotd/desiredmode"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// State is what the fleet desires, and what became of it.
type State struct {
	robot Robot
	base  *config.Config // as the robot was started
	cfg   *config.Config // with what the fleet desires over it

	story      content[score.Blob]
	activities content[score.Activities]
	places     content[score.Places]
	placed     *delivery.Loaded[score.Places] // the fleet's places that goto knows

	fleetID string // the fleet that is obeyed; empty until the first desired state
	marks   sign.Marks
	config  configState
	mode    modeState

	renew           bool // all of it is to be reported again
	playingReported bool

	delivered []delivery.Effect // room for what one delivery says, used again by the next
}

// Robot is what it asks of the others, when it has to know.
type Robot interface {
	// Capabilities are what a story is measured against.
	Capabilities() schema.Caps
	// Check lets the executor go through an act as it would be performed.
	Check(*score.Act) *act.Refusal
	// SetPlaces gives the fleet's places to the body; nil = none.
	SetPlaces(*score.Places)
	// DeliveryFacts are what the delivery of stories has to know of the performance, and
	// Playing whether ato performs.
	DeliveryFacts() delivery.Facts
	Playing() bool
	// ModeFacts are what the desired mode has to know, but for Starting.
	ModeFacts() desiredmode.Facts
}

// Memory is what the disk kept of it.
type Memory struct {
	Settings map[string]string
	Kept     map[sign.Kind]delivery.Persisted
	Held     delivery.DiskContents
}

// New is the configuration of a robot that has just started, and what the fleet desired
// before.
func New(base *config.Config, robot Robot, settings map[string]string) State {
	cfg, adopted := restoreConfig(base, settings)
	return State{robot: robot, base: base, cfg: cfg, config: adopted, mode: restoreMode(cfg, settings)}
}

// Step is the part within one step of the robot.
type Step struct {
	*State
	Now     clock.Now
	Fleet   schema.Time // the fleet's time; 0 = not known
	Session string      // with the broker; empty while nobody listens
	Out     *effect.List
}

// Restore takes up what the robot obeyed before it started.
func (t Step) Restore(m Memory) {
	t.raiseUnread()
	t.restoreTrust(m)
	t.restoreContents(m)
}

// Config is the configuration in force. It is changed in its place.
func (s *State) Config() *config.Config { return s.cfg }

// Configured reports whether the fleet has said how the robot is to behave.
func (s *State) Configured() bool { return s.config.rev > 0 }

// FleetID is the fleet that is obeyed.
func (s *State) FleetID() string { return s.fleetID }

// Story is the delivery of stories.
func (s *State) Story() *delivery.State[score.Blob] { return s.story.State }

// Revs are the newest configuration and mode that were obeyed.
func (s *State) Revs() (config, mode int64) { return s.config.rev, s.mode.rev }

// Renew has all of it reported again.
func (s *State) Renew() { s.renew = true }

// Deadline is when time alone brings something.
func (s *State) Deadline() (first time.Duration, any bool) {
	for _, d := range [...]interface{ Deadline() (time.Duration, bool) }{s.story, s.activities, s.places} {
		if at, ok := d.Deadline(); ok && (!any || at < first) {
			first, any = at, true
		}
	}
	return first, any
}
