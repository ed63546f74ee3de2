// Package manual says who has control of the robot, and carries out what is asked for
// manually: the verbs of a person who has control, and the frames of one who drives it.
package manual

import (
	"time"

	"troupe/robotd/act"
	"troupe/robotd/clock"
	"troupe/robotd/config"
	"troupe/robotd/control"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/request"
	"troupe/robotd/teleop"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// State is who has control, and what is done manually.
type State struct {
	cfg      *config.Config
	control  control.State
	requests request.Inbox[control.Input]

	inbox   request.Inbox[order]
	entries []entry

	stick  teleop.State
	frames []event.Frame // that came in this step
	drive  drive
}

// drive is how fast the drive says that it goes, and what was published of it.
type drive struct {
	vx, wz float64
	sentAt time.Duration
	sent   int64 // sent so far
}

// New is a robot that nobody has control of. boot is the id of this run of robotd.
func New(cfg *config.Config, boot string) State {
	return State{cfg: cfg, control: control.Boot(boot), stick: teleop.Boot()}
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
	Standing  schema.Precondition
	Safety    schema.SafetyState
	Manual    bool   // the mode in charge takes what is asked manually, and is not paused
	Reachable bool   // somebody can be relied on to reach the robot
	Session   string // with the broker; empty while nobody listens
	Body      Body
	Story     Story
}

// Body is what it has to know of the units.
type Body interface {
	Units() []schema.Unit
	First(schema.UnitKind) (schema.Unit, bool)
	Broken(id string) (why string)
	Capabilities(languages []string) schema.Caps
	Volume() verb.Number
	SetVolume(verb.Number)
}

// Story is what can be performed by its name.
type Story struct {
	Acts      map[string]score.Act
	Files     []score.Asset
	Languages []string // to perform in
}

// Control is who has control.
func (s *State) Control() *control.State { return &s.control }

// Gone notes that a client is not there any more: what it had, it has no longer.
func (s *State) Gone(client string) {
	s.requests.Add(control.Input{What: control.Gone, Who: control.Who{Client: client}})
}

// Frame takes a frame as it came.
func (s *State) Frame(ev event.Frame) { s.frames = append(s.frames, ev) }

// Speed is how fast the robot goes, as its drive says.
func (s *State) Speed(vx, wz float64) { s.drive.vx, s.drive.wz = vx, wz }

// Drop takes an order away that waits for its turn.
func (s *State) Drop(k request.Key) bool { return s.inbox.Drop(k) }

// Pending reports whether something waits for its turn.
func (s *State) Pending() bool { return s.requests.Len()+s.inbox.Len() > 0 }

// Busy reports whether something is done manually.
func (s *State) Busy() bool { return len(s.entries) > 0 }

// Deadline is when time alone brings something.
func (s *State) Deadline(b Body, session string) (time.Duration, bool) {
	at, ok := s.control.Deadline()
	if due, sends := s.telemetryDue(b, session); sends && (!ok || due < at) {
		return due, true
	}
	return at, ok
}

// Refs name what of it a reason is about.
func (s *State) Refs(why schema.Reason) (refs []schema.Ref) {
	switch {
	case why == schema.ReasonNotInControl && s.control.At == control.Held:
		refs = append(refs, schema.Ref{Kind: schema.RefClient, ID: s.control.Lease.Who.Client})
	case why == schema.ReasonResourceBusy:
		for _, h := range s.entries {
			refs = append(refs, h.key.Refs()...)
		}
	}
	return refs
}
