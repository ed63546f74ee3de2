// Package desired takes the fleet's desired documents: story, activities, places,
// configuration and mode. It verifies each one, accepts those of the robot's own fleet,
// saves what it accepted, and reports the result.
package desired

import (
	"time"

	"troupe/robotd/act"
	"troupe/robotd/clock"
	"troupe/robotd/config"
	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// State is the state of all desired documents.
type State struct {
	robot Robot
	base  *config.Config // as configured on the robot
	cfg   *config.Config // overridden by the desired configuration

	story       content[score.PublishedStory]
	activities  content[score.Activities]
	fitted      fitted
	places      content[score.Places]
	placesInUse *delivery.Loaded[score.Places] // the fleet's places that goto can use

	fleetID      string     // the fleet that the robot obeys: that of its enrolment, or else of the first desired document; empty = neither
	fleetIDSaved bool       // or about to be
	counters     sign.Marks // newest counters of signed documents
	config       configState
	mode         modeState

	reportAll          bool // everything has to be reported again
	performingReported bool

	delivered []delivery.Effect // buffer for the effects of one delivery
}

// Robot is what the package asks of other parts.
type Robot interface {
	// Capabilities are those that stories are fitted to.
	Capabilities() schema.Caps
	// Check lets the executor check an act.
	Check(*score.Act) *act.Refusal
	// Taught are the acts that people taught the robot, and their digest.
	Taught() (acts map[string]score.Act, digest string)
	// SetPlaces gives the fleet's places to the body; nil = none.
	SetPlaces(*score.Places)
	// DeliveryFacts are the facts about the performance for the delivery of stories, and
	// AtoPerforms reports whether ato performs.
	DeliveryFacts() delivery.Facts
	AtoPerforms() bool
	// ModeFacts are the facts for the desired mode, except Starting, Story and JustUp.
	ModeFacts() ModeFacts
}

// Memory is what the disk has of the desired documents.
type Memory struct {
	Values     map[string]string
	Deliveries map[sign.Kind]delivery.Persisted
	Contents   delivery.DiskContents
}

// New returns the state of a robot that has just started, and the configuration that
// results from what was saved.
func New(base *config.Config, robot Robot, saved map[string]string) State {
	cfg, adopted := restoreConfig(base, saved)
	return State{robot: robot, base: base, cfg: cfg, config: adopted, mode: restoreMode(cfg, saved)}
}

// Step is the part of one step of the robot that concerns desired documents.
type Step struct {
	*State
	Now     clock.Now
	Fleet   schema.Time // the fleet's time; 0 = unknown
	Session string      // empty without a session
	Out     *effect.List
}

// Restore restores what the robot had accepted before it started.
func (t Step) Restore(m Memory) {
	t.raiseUnreadable()
	t.restoreTrust(m)
	if t.config.kept.FleetID != t.fleetID { // what is in force stays, but another fleet counts its own revisions
		t.config.rev = 0
	}
	t.restoreContents(m)
}

// Config is the configuration that applies. It is changed in place.
func (s *State) Config() *config.Config { return s.cfg }

// Configured reports whether the robot has a desired configuration.
func (s *State) Configured() bool { return s.config.rev > 0 }

// FleetID is the id of the fleet that the robot obeys.
func (s *State) FleetID() string { return s.fleetID }

// Story is the delivery of stories.
func (s *State) Story() *delivery.State[score.PublishedStory] { return s.story.State }

// Activities are the fleet's activities; nil = none.
func (s *State) Activities() *score.Activities {
	if l, _ := s.activities.InUse(); l != nil {
		return l.Fit.Content
	}
	return nil
}

// Revs are the revisions of the newest accepted configuration and mode.
func (s *State) Revs() (config, mode int64) { return s.config.rev, s.mode.rev }

// ReportAll has the robot report on every desired document again.
func (s *State) ReportAll() { s.reportAll = true }

// Deadline is when the package has something to do without another event.
func (s *State) Deadline() (first time.Duration, any bool) {
	for _, d := range [...]interface{ Deadline() (time.Duration, bool) }{s.story.State, s.activities.State, s.places.State} {
		if at, ok := d.Deadline(); ok && (!any || at < first) {
			first, any = at, true
		}
	}
	if at := s.mode.endedAt + storyWait; s.mode.state.awaitsStory() && (!any || at < first) {
		first, any = at, true
	}
	return first, any
}
