// Package report publishes what others see of the robot: its documents, events,
// alerts and presence. It numbers them, reduces them to the size of their topics, and
// says when each is due. What stands in a document is filled in by brain.
package report

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/schema"
)

// State is what was published, and what is to be.
type State struct {
	cfg  *config.Config
	boot string // id of this run of robotd

	session   session
	state     stateTiming
	modes     modesTiming
	beats     heartbeats
	presence  presence
	republish republish
	alerts    alerts
	events    events
	replay    replay
	acts      acts
	disk      disk

	recordsDropped int64
	exporting      command.Key // the command that wants a flight record; empty = none
	late           late
	logOn          bool // see LogKey
}

// New is a robot that has published nothing.
func New(cfg *config.Config, boot string, now clock.Now) State {
	return State{cfg: cfg, boot: boot, events: newEvents(now.Mono)}
}

// Step is the part of one step of the robot that publishes documents.
type Step struct {
	*State
	Now clock.Now
	Out *effect.List
	// AfterAnswer: an answer that waits for the disk precedes the events of this call.
	AfterAnswer bool
}

// session is the one with the broker.
type session struct {
	id         string // empty without a session
	begins     bool   // its documents are still to be published
	since      time.Duration
	ended      time.Duration // when the last one did; 0 = none has
	fault      string        // why the last connection was given up as half-open; empty = it ended otherwise
	earlier    []string      // boots of this robot, so far as the disk knows
	resyncedAt time.Duration // when sys/resync last published all documents; 0 = never
}

// stateTiming says when the state is to be published.
type stateTiming struct {
	changed     effect.Urgency
	seq         int64
	publishedAt time.Duration
	// paidUntil limits the rate of states for answers, as a token bucket does: each state moves it on
	// by a gathering time, and one for an answer is published at once while it is at most
	// answeredStates gathering times later than now.
	paidUntil time.Duration
}

// answeredStates is how many states may be published at once because answers wait for
// them, before their rate is that of gathered ones: the broker drops what exceeds a
// robot's rate.
const answeredStates = 20

// modesTiming is when the catalogue of modes was published, and what.
type modesTiming struct {
	dirty       bool
	publishedAt time.Duration
	last        []byte
	rev         int64
}

// heartbeats says when the next heartbeat is due. A robot at rest sends fewer of them.
type heartbeats struct {
	n          int64
	next       time.Duration
	sentAt     time.Duration // the newest
	rested     bool          // the newest announced that the next one comes after RestHeartbeat
	beforeAt   time.Duration // the one before it, if that announced so; 0 = it did not
	stateSeq   int64         // of the state that the newest named
	outdated   bool          // the state has changed since the newest, other than in what is minor
	restlessAt time.Duration // when the robot was last not at rest
}

// restAfter is how long a robot must have been at rest before it sends fewer heartbeats. A fleetd that connects waits for a sign of each
// robot for longer than that; its robots are not at rest for the first 5 s (operatorlink.AcceptsRest), so it gets several. More would be
// most of the messages while ten thousand robots return at once.
const restAfter = 5 * time.Second

// laterGather is how long changes are gathered that are minor, see effect.FlushLater: an answer to every robot of a large fleet must
// not cost a state of each.
const laterGather = 2 * time.Second

// modesGather is how long changes of the catalogue of modes are gathered.
const modesGather = time.Second

// BootsKey is the key on the disk of the ids of the newest starts of robotd, the newest last.
const BootsKey = "boots"

// bootsKept is how many of them: a will comes within seconds of the next boot.
const bootsKept = 8

// RememberBoots lets the robot know the wills of its earlier boots as its own.
func (t Step) RememberBoots(saved map[string]string) {
	b := strings.Fields(saved[BootsKey])
	t.session.earlier = b[max(0, len(b)-bootsKept+1):]
	t.Out.Do(effect.SaveValue{Name: BootsKey, Value: strings.Join(t.BootIDs(), " ")})
}

// BootIDs are those that the robot knows as its own, the present one among them.
func (s *State) BootIDs() []string { return append(slices.Clone(s.session.earlier), s.boot) }

// Boot is the id of this run of robotd.
func (s *State) Boot() string { return s.boot }

// Session is the session with the broker; empty without one. SessionEnded is when the
// last one ended; 0 = none has.
func (s *State) Session() string             { return s.session.id }
func (s *State) SessionEnded() time.Duration { return s.session.ended }

// Changed notes that the robot's state differs from the published one.
func (s *State) Changed(u effect.Urgency) {
	s.state.changed = max(s.state.changed, u)
	s.modes.dirty = true // why a mode cannot be selected depends on nearly everything
}

// Clean reports whether the newest state shows the robot as it is.
func (s *State) Clean() bool { return s.state.changed == effect.Clean }

// CleanButMinor reports whether the newest state differs from the robot at most in what is minor, see
// effect.FlushLater.
func (s *State) CleanButMinor() bool { return s.state.changed <= effect.FlushLater }

// StateSeq is the number of the newest state.
func (s *State) StateSeq() int64 { return s.state.seq }

// StateDue reports whether the state is to be published. Without a session nothing
// is; the first thing of a new session is the state as it is then.
func (s *State) StateDue(now time.Duration) bool { return s.session.id != "" && now >= s.due() }

// due is when the state has to be published next.
func (s *State) due() time.Duration {
	switch s.state.changed {
	case effect.FlushNow:
		return 0
	case effect.FlushAnswer:
		return min(s.state.publishedAt+s.cfg.Gather, s.state.paidUntil-answeredStates*s.cfg.Gather)
	case effect.FlushSoon:
		return s.state.publishedAt + s.cfg.Gather
	case effect.FlushLater:
		return s.state.publishedAt + laterGather
	}
	if s.beats.rested {
		return s.state.publishedAt + s.cfg.RestInterval
	}
	// The heartbeat that ends a rest makes the state due, perhaps overdue: it does not come in the same step, which is over with the state.
	return max(s.state.publishedAt+s.cfg.StateInterval, s.beats.sentAt+s.cfg.Gather)
}

// NextState counts the next state; urgent reports whether it is published at once, without gathering
// further changes.
func (t Step) NextState() (seq int64, urgent bool) {
	urgent = t.state.changed == effect.FlushNow
	t.beats.outdated = t.beats.outdated || t.state.changed > effect.FlushLater
	t.state.changed, t.state.publishedAt = effect.Clean, t.Now.Mono
	t.state.paidUntil = max(t.state.paidUntil, t.Now.Mono) + t.cfg.Gather
	t.state.seq++
	return t.state.seq, urgent
}

// PublishWithin publishes a document in a form that its topic has room for.
func (t Step) PublishWithin(d effect.Document) {
	t.Out.Do(effect.Publish{Topic: d.Topic, Param: d.Param, Payload: within(d.Topic, d.Value), First: d.First, Confirm: d.Confirm})
}

// ModesChanged makes the catalogue of modes be looked at, as Changed does.
func (s *State) ModesChanged() { s.modes.dirty = true }

// ModesClean reports whether the newest catalogue of modes shows them as they are.
func (s *State) ModesClean() bool { return !s.modes.dirty }

// ModesDue reports whether the catalogue of modes has to be looked at.
func (t Step) ModesDue() bool { return t.modes.dirty && t.Now.Mono >= t.modes.publishedAt+modesGather }

// PublishModes publishes the catalogue of modes when it differs from what was published
// last; why a mode cannot be selected depends on nearly everything, so it is compared
// rather than marked.
func (t Step) PublishModes(d *schema.Modes) {
	t.modes.dirty, t.modes.publishedAt = false, t.Now.Mono
	body := effect.Encode(d)
	if bytes.Equal(body, t.modes.last) {
		return
	}
	t.modes.last = body
	t.modes.rev++
	d.TS, d.ModesRev = t.Now.Wall, t.modes.rev
	t.PublishWithin(effect.Document{Topic: schema.TopicModes, Value: d})
}

// HeartbeatDue reports whether a heartbeat is due, and counts it. atRest says that nothing of the robot moves
// or is performed, that nobody has control, and that the programs that judge the robot by its heartbeats accept fewer of
// them. next is the time within which the heartbeat after this one comes: what one promised is kept, and the
// robot is earlier if it is no longer at rest, or its state is another than that heartbeat named. Readers of a state that
// was lost on its way learn of it from that heartbeat.
func (t Step) HeartbeatDue(atRest bool) (seq int64, next time.Duration, due bool) {
	b := &t.beats
	if !atRest {
		b.restlessAt = t.Now.Mono
	}
	rests := t.Now.Mono-b.restlessAt >= restAfter
	switch {
	case !rests:
		b.next = min(b.next, b.sentAt+t.cfg.Heartbeat)
	case b.stateSeq != t.state.seq:
		b.next = min(b.next, t.state.publishedAt+t.cfg.Heartbeat)
	}
	if t.Now.Mono < b.next {
		return 0, 0, false
	}
	b.beforeAt = 0
	if b.rested {
		b.beforeAt = b.sentAt
	}
	next, b.rested = t.cfg.Heartbeat, rests
	if rests {
		next = max(next, t.cfg.RestHeartbeat)
	}
	b.n++
	b.sentAt, b.stateSeq, b.next = t.Now.Mono, t.state.seq, t.Now.Mono+next
	if b.outdated {
		b.beforeAt, b.outdated = 0, false
	}
	return b.n, next, true
}

// SeenSince is the time of the oldest heartbeat that shows its readers the robot as it still is, although it may be
// older than limit: of a robot at rest the newest one, and the one before it until the newest is older than limit.
// 0 = the robot is not at rest, or its state has changed since the newest.
func (s *State) SeenSince(now, limit time.Duration) time.Duration {
	switch b := &s.beats; {
	case b.outdated:
		return 0
	case b.beforeAt > 0 && now-b.sentAt <= limit:
		return b.beforeAt
	case b.rested:
		return b.sentAt
	}
	return 0
}

// Connected begins a session.
func (t Step) Connected(session string) {
	t.session.id, t.session.since, t.session.begins = session, t.Now.Mono, true
}

// DocumentsPending reports whether the documents of a new session are still to be published.
func (s *State) DocumentsPending() bool { return s.session.begins }

// DocumentsPublished notes that they are published.
func (t Step) DocumentsPublished() { t.session.begins = false }

// MarkStateAndModesDue makes these two due at once, when all documents are published again.
func (t Step) MarkStateAndModesDue() {
	t.modes.publishedAt, t.modes.last, t.modes.dirty = t.Now.Mono-modesGather, nil, true
	t.state.changed, t.state.publishedAt = max(t.state.changed, effect.FlushSoon), t.Now.Mono-t.cfg.Gather
}

// StartHeartbeats begins the heartbeats of a new session, which has got its presence and its first
// documents.
func (t Step) StartHeartbeats() {
	t.beats.next, t.beats.restlessAt, t.beats.rested = t.Now.Mono, t.Now.Mono, false
	if t.session.fault != "" {
		t.Event("half_open_connection_replaced", "mqtt", t.session.fault, "", nil)
		t.session.fault = ""
	}
}

// Disconnected ends the session; fault says why the connection was given up, if it was half-open.
func (t Step) Disconnected(fault string) {
	t.session.id, t.session.begins, t.session.ended = "", false, t.Now.Mono
	t.beats.rested, t.beats.beforeAt = false, 0 // what its readers saw of it says nothing about what it does meanwhile
	t.presence.wrong, t.republish = "", republish{}
	if fault != "" {
		t.session.fault = fault
	}
}

// ClearSessionAlerts clears the alerts about what was found wrong with a session: the next session
// raises them again.
func (t Step) ClearSessionAlerts() {
	for _, a := range slices.Clone(t.alerts.list) {
		switch a.Type {
		case "presence_overwritten", string(schema.ReasonRetainedCommand), droppedAlert:
			t.Clear(a.Type, a.Source)
		}
	}
}

// Dropped is how many events were not recorded because there were too many.
func (s *State) Dropped() int64 { return s.events.dropped }

// Deadline returns when something is due without an event, or false.
func (s *State) Deadline() (first time.Duration, any bool) {
	sooner := func(at time.Duration, ok bool) {
		if ok && (!any || at < first) {
			first, any = at, true
		}
	}
	listens := s.session.id != ""
	sooner(s.disk.okAt, s.disk.okAt > 0 && s.disk.wroteSince)
	sooner(s.due(), listens)
	sooner(s.republish.due, s.republish.due > 0)
	sooner(s.beats.next, listens)
	sooner(s.replay.due, listens && len(s.replay.events) > 0)
	sooner(s.presence.repairedAt+presenceEvery, s.presence.wrong != "")
	sooner(s.modes.publishedAt+modesGather, listens && s.modes.dirty)
	return first, any
}
