// Package manual decides who has control of the robot, and carries out manual commands: the
// verbs of a client that has control, and the frames of manual driving.
package manual

import (
	"time"

	"troupe/robotd/act"
	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/config"
	"troupe/robotd/control"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/safety"
	"troupe/robotd/taught"
	"troupe/robotd/teleop"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// State is the state of control and of manual commands.
type State struct {
	cfg      *config.Config
	control  control.State
	requests command.Inbox[control.Input] // for control

	inbox   command.Inbox[queuedCommand] // manual commands
	entries []entry

	stick  teleop.State
	frames []event.Frame // received in this step
	drive  drive

	taught       taught.State
	actRecording actRecording
}

// drive is the speed that the drive reports, and what was published of it.
type drive struct {
	vx, wz     float64
	sentAt     time.Duration
	sent       int64 // number of messages so far
	sentMoving bool  // the newest message says that the robot moves
}

// New returns the state of a robot without a holder of control, which knows what it was
// taught before. boot is the id of this run of robotd.
func New(cfg *config.Config, boot string, saved map[string]string) State {
	return State{cfg: cfg, control: control.Boot(boot), stick: teleop.Boot(), taught: taught.Restore(saved)}
}

// Taught returns what people taught the robot.
func (s *State) Taught() *taught.State { return &s.taught }

// Step is the part of one step of the robot that concerns manual commands.
type Step struct {
	*State
	Facts
	Now   clock.Now
	Lanes *act.Lanes
	Out   *effect.List
}

// Facts are the facts about other parts.
type Facts struct {
	CurrentState schema.Precondition
	Safety       schema.SafetyState
	Standstill   safety.Standstill // what keeps the robot at rest, and its way out
	Manual       bool              // the active mode accepts manual commands, and is not paused
	Modes        Modes
	Reachable    bool   // the link is not lost, and the broker or the robot's own page reaches the robot
	Session      string // with the broker; empty without a session
	Body         Body
	Health       Health
	Story        Story
}

// Body is what the package asks of the body.
type Body interface {
	Units() []schema.Unit
	First(schema.UnitKind) (schema.Unit, bool)
	Broken(id string) (why string)
	Capabilities(languages []string) schema.Caps
	Volume() verb.Number
	SetVolume(verb.Number)
	// Position is where the body is, if it has reported that, HasPoint whether goto knows a
	// point, and Elsewhere why it cannot use one that was taught on another map; empty = it
	// was not.
	Position() (taught.Point, bool)
	HasPoint(name string) bool
	Elsewhere(point string) (why string)
}

// Modes is what the package asks of the modes.
type Modes interface {
	// NotManual returns why manual commands are not accepted, and the way out.
	NotManual() string
}

// Health is what the package asks of the diagnosis.
type Health interface {
	// Unusable returns why nobody may use a unit, and MotionBarred why nothing may move; empty = it
	// may. Unusable and MotionDetail, which explains MotionBarred, say the way out too.
	Unusable(unit string) string
	MotionBarred() schema.Reason
	MotionDetail() string
}

// Story is what can be performed by its id.
type Story struct {
	Acts      map[string]score.Act
	Files     []score.Asset
	Languages []string // languages of the performance
}

// Control is the lease of control.
func (s *State) Control() *control.State { return &s.control }

// ClientGone ends the control of a client that has disconnected.
func (s *State) ClientGone(client string) {
	s.requests.Add(control.Input{What: control.Gone, Who: control.Who{Client: client}})
}

// Frame queues a received frame for UpdateSetPoint.
func (s *State) Frame(ev event.Frame) { s.frames = append(s.frames, ev) }

// SpeedReported takes the drive's report of its speed.
func (s *State) SpeedReported(vx, wz float64) { s.drive.vx, s.drive.wz = vx, wz }

// Drop removes a queued command.
func (s *State) Drop(k command.Key) bool { return s.inbox.Drop(k) }

// Pending reports whether a command is queued.
func (s *State) Pending() bool { return s.requests.Len()+s.inbox.Len() > 0 }

// Busy reports whether a manual command is carried out.
func (s *State) Busy() bool { return len(s.entries) > 0 }

// Deadline is when the package has something to do without another event.
func (s *State) Deadline(b Body, session string) (time.Duration, bool) {
	at, ok := s.control.Deadline()
	if due, sends := s.telemetryDue(b, session); sends && (!ok || due < at) {
		return due, true
	}
	return at, ok
}

// Refs lists what a reason is about.
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
