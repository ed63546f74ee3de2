package operatorlink

import (
	"cmp"
	"slices"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// State is what the robot knows from heartbeats and from the connection over which they come.
type State struct {
	cfg        Config
	link       Link
	halfOpen   HalfOpen
	absent     Absent
	gaps       Gaps
	senders    Senders
	seq        int64 // of the newest heartbeat of a fleetd instance; 0 = none came
	clock      clock.FleetTime
	hastyAt    time.Duration // when the newest heartbeat came whose sender needs more heartbeats of the robot than one at rest sends
	pageBeatAt time.Duration // when the newest heartbeat of the robot's own page came; 0 = none did
	told       told
}

// told is what the robot has said of the link by its state, events and alerts.
type told struct {
	state   schema.LinkState
	since   time.Duration // since when the link has been that
	differs time.Duration // since when the link has been worse; 0 = it is not
	on      Event         // the newest that changed the link
}

// tellAfter is how long the link of a robot for which that changes nothing must have been worse before the robot says so. When a
// busy machine, an update or the loss of a node of a cluster delays the heartbeats of fleetd for some seconds, they are late for all
// robots at once, and ten messages of each would keep that machine busy for longer.
const tellAfter = 8 * time.Second

// New returns the state of a robot that has received nothing.
func New(cfg Config) State {
	return State{cfg: cfg, link: boot(), told: told{state: schema.LinkNever}}
}

// Step is the part of one step of the robot that concerns heartbeats.
type Step struct {
	*State
	Now    clock.Now
	Alerts []schema.Alert // those that are raised now
	// Indifferent: the loss of the link would change nothing of the robot, which is at rest and in a mode that does not wait for operators.
	Indifferent bool
	Out         *effect.List
}

// Received takes a heartbeat of an operator. Those of a fleetd instance also carry the
// fleet's time. Those of a console at the robot keep up the link, because a person there can
// stop the robot, but they affect neither the fleet's time nor fleetd's presence.
func (t Step) Received(ev event.Heartbeat) {
	t.linkChanged(t.link.heartbeat(t.Now.Mono, t.cfg, ev.Client))
	if ev.Client == schema.LocalClient {
		t.pageBeatAt = t.Now.Mono
	} else if t.hasty(ev) {
		t.hastyAt = t.Now.Mono
	}
	if ev.FromConsole {
		return
	}
	t.halfOpen.Heartbeat(t.Now.Mono)
	t.absent.Heartbeat(t.Now.Mono)
	t.seq = ev.Beat.Seq
	t.senders.Note(ev.Client, ev.Beat.Session)
	t.learnFleetTime(ev.Client, ev.Beat.TS)
}

// hasty reports whether the sender of a heartbeat needs more heartbeats of the robot than one at rest sends, as a fleetd that has just
// started does.
func (s *State) hasty(ev event.Heartbeat) bool {
	return ev.Beat.MaxHeartbeatMS < schema.RestHeartbeatMS || !ev.FromConsole && !s.senders.hasSession(ev.Beat.Session)
}

// InTime reports whether a heartbeat that arrives now changes nothing but when the newest one came: the link is up, and this one is in time
// and of somebody whose clock is the robot's, and who accepts few heartbeats of it.
func (s *State) InTime(now clock.Now, ev event.Heartbeat) bool {
	return s.link.At == schema.LinkUp && s.Told() && now.Mono-s.link.LastHeartbeat <= s.cfg.late() && s.clock.Knows(ev.Client) &&
		!s.clock.Differs(ev.Client) && !s.hasty(ev)
}

// AcceptsRest reports whether the robot may send as few heartbeats as one at rest does: a fleetd is there, and each
// sender of heartbeats can judge that. One that has just connected first waits for a sign of each robot.
func (s *State) AcceptsRest(now clock.Now) bool {
	return s.seq > 0 && now.Mono-s.halfOpen.LastHeartbeat < s.cfg.Lost+tellAfter && now.Mono-s.hastyAt >= s.cfg.Lost
}

// CheckLink checks how long no heartbeat has arrived, and CheckConnection whether the
// connection is half-open, or leads to a broker without fleetd. A robot that somebody operates
// over this connection without fleetd, so that its link is up, stays there, and so does one that may move.
func (t Step) CheckLink() {
	t.linkChanged(t.link.tick(t.Now.Mono, t.cfg))
	if t.told.differs > 0 && (!t.Indifferent || t.Now.Mono-t.told.differs >= tellAfter) {
		t.tell()
	}
}

func (t Step) CheckConnection(mayMove bool) {
	if t.halfOpen.Detected(t.Now.Mono, t.cfg) {
		t.Out.Do(effect.Reconnect{Why: "fleetd says that it is there, and its heartbeats do not come"})
		return
	}
	if t.absent.Detected(t.Now.Mono, t.cfg, t.link.At != schema.LinkUp && !mayMove) {
		t.Out.Do(effect.Reconnect{Why: "no heartbeat of fleetd comes over this broker", NextBroker: true})
	}
}

func (t Step) linkChanged(d decision) {
	if !d.Changed {
		return
	}
	t.Out.LogTransition("link", string(d.From), string(d.To), d.Why, d.Silence.String())
	t.told.on = d.On
	worse := t.told.state == schema.LinkUp || t.told.state == schema.LinkDegraded && d.To == schema.LinkLost
	switch {
	case d.To == t.told.state:
		t.told.since, t.told.differs = t.link.Since, 0
	case !worse || !t.Indifferent:
		t.tell()
	case t.told.differs == 0:
		t.told.differs = t.Now.Mono
	}
}

// tell makes the robot say what the link is now.
func (t Step) tell() {
	from, to := t.told.state, t.link.At
	t.told.state, t.told.since, t.told.differs = to, t.link.Since, 0
	t.Out.Changed(effect.FlushSoon)
	switch {
	case to == schema.LinkLost:
		t.Out.Raise("link_lost", schema.AlertWarn, "link", "no heartbeat of fleetd or of a panel arrives",
			"see whether fleetd and the network are up")
		t.Out.Event("link_lost", "link", string(t.told.on), "", effect.Transition{From: string(from), To: string(to)})
	case from == schema.LinkLost:
		t.Out.Clear("link_lost", "link")
		t.Out.Event("link_restored", "link", string(t.told.on), "", effect.Transition{From: string(from), To: string(to)})
	}
}

// Told reports whether the robot has said what the link is now.
func (s *State) Told() bool { return s.told.differs == 0 }

// Lost reports whether the link is lost, and for how long no operator could reach the robot.
func (s *State) Lost(now clock.Now) (bool, time.Duration) {
	return s.link.At == schema.LinkLost, s.link.lostFor(now.Mono, s.cfg)
}

const clockDiffers = "clock_differs" // alert about a fleetd instance

// learnFleetTime takes the fleet's time from a heartbeat. It raises an alert about a fleetd
// instance whose clock differs, because its commands would be too old or in the future.
func (t Step) learnFleetTime(client string, fleet schema.Time) {
	t.clock.Learn(t.Now, client, fleet)
	for _, a := range t.Alerts {
		if a.Type == clockDiffers && !t.clock.Knows(a.Source) {
			t.Out.Clear(a.Type, a.Source)
		}
	}
	if t.clock.Differs(client) {
		t.Out.Raise(clockDiffers, schema.AlertWarn, client, "the clock of "+client+" is not the one that the robot goes by",
			"set the clocks of the fleetd instances by the same source; until then commands with a ts are refused or expire")
		return
	}
	t.Out.Clear(clockDiffers, client)
}

// AtRobot reports whether a person has the robot's own page open.
func (s *State) AtRobot(now clock.Now) bool {
	return s.pageBeatAt > 0 && now.Mono-s.pageBeatAt < s.cfg.Lost
}

// FleetTime is the fleet's time according to the heartbeats since the start, and Offset is
// that time minus the robot's.
func (s *State) FleetTime(now clock.Now) (schema.Time, bool) { return s.clock.At(now) }

func (s *State) Offset(now clock.Now) (time.Duration, bool) {
	fleet, known := s.clock.At(now)
	return fleet.Sub(now.Wall), known
}

// NoteArrival notes, before ev is judged, when the loop ran and when a message arrived: a
// message that arrives right after a gap in either may be as old as the gap.
func (s *State) NoteArrival(now clock.Now, ev event.Event) {
	s.gaps.Stepped(now.Mono)
	switch ev := ev.(type) {
	case event.Heartbeat:
		if ev.Client != schema.LocalClient {
			s.gaps.Arrived(now.Mono, true, s.cfg)
		}
	case event.Delivered:
		if ev.Key.Client() != schema.LocalClient {
			s.gaps.Arrived(now.Mono, false, s.cfg)
		}
	case event.Command:
		if ev.Client != schema.LocalClient {
			s.gaps.Arrived(now.Mono, false, s.cfg)
		}
	case event.Frame, event.StopDocument, event.LiveStop, event.DesiredStory, event.DesiredSet, event.DesiredConfig, event.DesiredMode,
		event.PresenceSeen, event.FleetdPresence, event.MessageDropped:
		s.gaps.Arrived(now.Mono, false, s.cfg)
	}
}

// Late is how long ago a command may have been sent: it was delayed on the network, or here
// after it was read.
func (s *State) Late(now clock.Now, ev event.Command) time.Duration {
	late := s.gaps.Longest(now.Mono)
	if ev.Client == schema.LocalClient { // it came over no connection
		late = 0
	}
	if ev.Read > 0 {
		late = max(late, now.Mono-ev.Read)
	}
	return late
}

// Connected takes a new connection, and Disconnected the end of one. The link degrades with
// a connection that ends while the robot is not DISABLED.
func (t Step) Connected() {
	t.halfOpen.Opened(t.Now.Mono)
	t.absent.Opened(t.Now.Mono)
	t.gaps.Opened(t.Now.Mono)
	t.linkChanged(t.link.connectionRestored(t.Now.Mono))
}

func (t Step) Disconnected(disabled bool) {
	t.halfOpen.Closed()
	t.absent.Closed()
	t.gaps.Closed()
	if !disabled {
		t.linkChanged(t.link.connectionLost(t.Now.Mono))
	}
}

// FleetdPresence takes the presence of the leading fleetd instance, the only one that has a
// presence. If that instance is gone, it returns the instance's client, whose control of the robot
// ends, unless a newer session of the client sends heartbeats. While the presence is not online, no
// heartbeats are expected until one arrives.
func (s *State) FleetdPresence(now clock.Now, p schema.Presence) (gone string, ok bool) {
	online := p.State == schema.PresenceOnline
	s.halfOpen.SetFleetdOnline(online, now.Mono)
	if online {
		s.gaps.Expect()
		return "", false
	}
	s.gaps.Closed()
	return s.senders.Of(p.Session)
}

// Asker names, for people, the person who sent a command. The robot trusts the name that a
// fleetd instance gives, because fleetd knows the person. To a name that another client
// gives it adds the client.
func (s *State) Asker(client, by string) string {
	if by != "" && s.senders.Has(client) {
		return by
	}
	return schema.Asker(client, by)
}

// Link is the state of the link to the operators in the state document, where policy is what
// the robot does when it is lost. While the robot has not said that the link is worse, the document does not either: no message would
// take that back when the link returns soon.
func (s *State) Link(now clock.Now, policy schema.LinkLoss) schema.StateLink {
	d := schema.StateLink{
		State: s.link.At, Since: now.At(s.link.Since), Client: s.link.Client,
		BudgetMS: s.link.remaining(now.Mono, s.cfg).Milliseconds(),
		Policy:   policy,
	}
	if !s.Told() {
		d.State, d.Since = s.told.state, now.At(s.told.since)
	}
	if o := s.link.Outage; o != (Outage{}) && (o.Over || s.Told()) {
		d.LastOutage = &schema.LinkOutage{From: now.At(o.From)}
		if o.Over {
			d.LastOutage.To = now.At(o.To)
		}
	}
	return d
}

// Fill sets what the robot's own heartbeat says of those that it receives.
func (s *State) Fill(h *schema.Heartbeat, now clock.Now) {
	h.Link = schema.HeartbeatLink{State: s.link.At, Client: cmp.Or(s.senders.Newest(), s.link.Client), FleetSeq: s.seq}
	if s.seq > 0 {
		h.Link.FleetAgeMS = (now.Mono - s.halfOpen.LastHeartbeat).Milliseconds()
	}
	if off, ok := s.Offset(now); ok {
		h.Clock = schema.HeartbeatClock{OffsetMS: off.Milliseconds(), Known: true}
	}
}

// maxSenders bounds how many senders of heartbeats the robot knows by their sessions.
const maxSenders = 4

// sender is one sender of heartbeats and its session.
type sender struct{ client, session string }

// Senders are the fleetd instances whose heartbeats came last, the newest first. A console at
// the robot is not among them.
type Senders [maxSenders]sender

// Note records that a heartbeat came.
func (d *Senders) Note(client, session string) {
	at := maxSenders - 1
	for i := range d {
		if d[i].client == client {
			at = i
			break
		}
	}
	copy(d[1:at+1], d[:at])
	d[0] = sender{client, session}
}

// Newest is the client whose heartbeat came last; empty for none.
func (d *Senders) Newest() string { return d[0].client }

// Has reports whether the client is one of them.
func (d *Senders) Has(client string) bool {
	return slices.ContainsFunc(d[:], func(k sender) bool { return k.client == client })
}

// hasSession reports whether the newest heartbeat of one of them was of this session.
func (d *Senders) hasSession(session string) bool { _, known := d.Of(session); return known }

// Of returns the client of a session.
func (d *Senders) Of(session string) (string, bool) {
	for _, k := range d {
		if session != "" && k.session == session {
			return k.client, true
		}
	}
	return "", false
}
