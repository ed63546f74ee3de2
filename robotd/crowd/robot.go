package crowd

import (
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"troupe/broker/link"
	"troupe/robotd/brain"
	"troupe/robotd/clock"
	"troupe/robotd/driver"
	"troupe/robotd/driver/sim"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/mode"
	"troupe/robotd/report"
	"troupe/robotd/wire"
	"troupe/schema"
)

// robot is one robot: its brain, its body, what it remembers, and its connection. Its shard owns it.
type robot struct {
	shard *shard
	n     int // among the robots of the crowd, from 0
	id    string

	stood   standing // as it is counted
	touched bool     // since

	inSlot

	journal journal
	state   *brain.State // nil: the robot does not run
	startAt time.Duration
	started time.Time // of this run
	boot    string
	body    *sim.Stepped
	bodyAt  time.Duration // up to which the body was stepped, since the crowd began
	calib   struct {      // the newest calibration
		run int64
		of  driver.Map
	}
	tickDue time.Duration // since started
	fetcher *fetcher

	phase      phase
	phaseUntil time.Duration // of a phase that must not last
	dialAt     time.Duration // next attempt to connect
	backoff    time.Duration
	conn       *conn
	attempt    uint64
	session    string
	upSince    time.Duration
	presence   []byte
	sawEcho    bool
	pending    []link.Message // received before the session was up
	packetID   uint16
	confirms   []confirm // answers without a PUBACK
	received   atomic.Uint64
	lastSent   time.Duration
	lastCame   time.Duration
	pingSent   time.Duration // 0 = no ping is unanswered
	probed     bool          // the presence was published to see whether anything comes
	renewAt    time.Duration

	scripted
}

// scripted is what the scenario does to a robot.
type scripted struct {
	slowBy   time.Duration // each input waits so long
	stallEnd time.Duration // 0 = it does not stall
	held     []heldInput
	fails    bool          // commands of its units fail
	failAt   time.Duration // when one fails again
	performs bool          // it is to perform
	askAt    time.Duration // when it is asked to again
}

// inSlot is the place of a robot in the wheel of its shard.
type inSlot struct {
	prev, next *robot
	slot       int64
	inWheel    bool
}

func newRobot(s *shard, n int) *robot {
	r := &robot{shard: s, n: n, id: s.crowd.id(n)}
	sc := s.crowd.cfg.Scenario
	if sc.Slow.Share.has(n, 1) {
		r.slowBy = sc.Slow.Time
	}
	r.fails, r.performs = sc.Failing.Share.has(n, 2), sc.Performing.has(n, 3)
	return r
}

func (r *robot) crowd() *Crowd { return r.shard.crowd }

// start starts the robot from what it remembers.
func (r *robot) start() {
	r.body = sim.NewStepped(sim.Config{})
	r.bodyAt, r.started, r.boot = r.shard.now(), time.Now(), uuid.NewString()
	var first []effect.Effect
	r.state, first = r.crowd().newBrain(r.id, r.boot, r.journal.memory(), r.started)
	r.tickDue = 0
	r.startAt, r.dialAt, r.backoff = 0, r.shard.now(), backoffFirst
	r.shard.packets = r.shard.packets[:0]
	r.shard.events = r.shard.events[:0]
	r.carryOut(first)
	r.steps(event.Begin{})
}

// newBrain returns the brain of robot id that starts at a time.
func (c *Crowd) newBrain(id, boot string, m brain.Memory, at time.Time) (*brain.State, []effect.Effect) {
	own, body := c.base, c.body
	own.ID, body.Serial = id, "simulated-"+id
	return brain.New(&own, boot, body, m, mode.NewRunner(c.modes, mode.Unguarded), clock.Read(at, at))
}

// Model is what the caps of the robots of a crowd say.
const Model = "simulated robot of robotd sim"

// leave ends the robot in order, to start again at a time; 0 = never.
func (r *robot) leave(why string, again time.Duration) {
	if r.state != nil && r.phase == up {
		r.shard.packets = r.shard.packets[:0]
		payload, err := schema.Encode(report.FarewellOf(r.session, r.boot, why, schema.TimeOf(time.Now())))
		if err == nil {
			r.publish(wire.Message(r.crowd().cfg.Namespace, r.id, schema.TopicPresence, "", payload))
		}
		r.disconnect()
	} else if r.conn != nil {
		r.conn.Close()
	}
	r.gone(again)
}

// crash ends the robot without a word.
func (r *robot) crash() {
	if r.conn != nil {
		r.conn.Close()
	}
	r.gone(r.shard.now() + jitter(10*time.Second))
}

func (r *robot) gone(again time.Duration) {
	if r.fetcher != nil {
		r.fetcher.cancel()
		r.fetcher = nil
	}
	r.resume()
	r.state, r.body, r.held, r.pending, r.confirms = nil, nil, nil, nil, nil
	if r.phase = down; r.conn != nil && !r.conn.ending { // otherwise the reader reports the end
		r.conn = nil
	}
	r.startAt = again
	if again > 0 {
		r.shard.wheel.set(r, again)
	} else {
		r.shard.wheel.remove(r)
	}
}

// take takes an input.
func (r *robot) take(in input) {
	now := r.shard.now()
	if in.do == inPacket && (r.stallEnd > 0 || r.slowBy > 0) {
		at := max(r.stallEnd, now+r.slowBy)
		r.held = append(r.held, heldInput{at, in})
		r.schedule()
		return
	}
	r.handle(in, now)
}

func (r *robot) handle(in input, now time.Duration) {
	switch in.do {
	case inDo:
		in.fn(r)
	case inEvent:
		r.give(in.ev)
	case inDialled:
		r.dialled(in.conn, in.n, in.err, now)
	case inEnded:
		if in.conn == r.conn {
			r.lost(in.err, now)
		}
	case inWritten:
		r.written(in.conn, in.err, now)
	case inPacket:
		if in.conn == r.conn && r.state != nil {
			r.packet(in, now)
		}
	}
}

// tend does what time alone makes due.
func (r *robot) tend(now time.Duration) {
	if r.state == nil {
		if r.startAt > 0 && now >= r.startAt {
			r.start()
		} else if r.startAt > 0 {
			r.shard.wheel.set(r, r.startAt)
		}
		return
	}
	if r.stallEnd > 0 {
		if now < r.stallEnd {
			r.schedule()
			return
		}
		r.resume()
	}
	for len(r.held) > 0 && r.held[0].at <= now && r.state != nil {
		in := r.held[0].input
		r.held = r.held[1:]
		r.handle(in, now)
	}
	if r.state == nil {
		return
	}
	r.tendConnection(now)
	if r.state == nil {
		return
	}
	r.follow(now)
	mono := time.Since(r.started)
	if r.tickDue = brain.NextTickAtRest(r.state, r.tickDue, mono); mono >= r.tickDue {
		r.tickDue = mono
		r.give(event.Tick{}) // never late: thousands share this processor, so lateness says nothing of a robot, and its events would be a load
		return
	}
	r.give(nil)
}

// schedule asks the shard to call the robot when it has something to do next.
func (r *robot) schedule() {
	if r.state == nil {
		return
	}
	if r.stallEnd > 0 {
		r.shard.wheel.set(r, r.stallEnd)
		return
	}
	mono := time.Since(r.started)
	r.tickDue = brain.NextTickAtRest(r.state, r.tickDue, mono)
	now := r.shard.now()
	due := now - mono + r.tickDue
	if r.body.Busy() {
		due = min(due, r.bodyAt+driver.Tick)
	}
	if r.phase == down {
		due = min(due, r.dialAt)
	}
	if len(r.held) > 0 {
		due = min(due, r.held[0].at)
	}
	r.shard.wheel.set(r, due)
}

// give gives the robot an event, and carries out all that follows from it; nil = only the time that has passed for its body.
func (r *robot) give(ev event.Event) {
	if r.state == nil {
		return
	}
	r.shard.packets = r.shard.packets[:0]
	r.shard.events = r.shard.events[:0]
	r.passBody()
	if ev != nil {
		r.shard.events = append(r.shard.events, ev)
	}
	r.steps(nil)
}

// later adds an event behind those that the robot is being given.
func (r *robot) later(ev event.Event) { r.shard.events = append(r.shard.events, ev) }

// mostBehind is how far the body catches up after a delay. Its watchdog counts ticks of the body, and must not trip because the computer
// was busy.
const mostBehind = 4 * driver.Tick

// passBody lets the time pass for the body that has passed since the last call.
func (r *robot) passBody() {
	now := r.shard.now()
	ticks := (now - r.bodyAt) / driver.Tick
	if ticks <= 0 {
		return
	}
	dt := ticks * driver.Tick
	r.bodyAt += dt
	if r.body.Busy() && dt > mostBehind {
		dt = mostBehind
	}
	r.stepBody(dt)
}

func (r *robot) stepBody(dt time.Duration) {
	for _, e := range r.body.Step(dt) {
		r.later(event.Reported{Event: e})
	}
	if c, done := r.body.Calibrated(); done {
		r.later(event.CalibratedOf(r.calib.run, r.calib.of, c, nil))
	}
}

// steps makes a step for first and each event in the shard's list, of which more come meanwhile: the answers of disk and body.
func (r *robot) steps(first event.Event) {
	s := r.shard
	if first != nil {
		r.later(first)
	}
	s.stepping = true
	for i := 0; i < len(s.events) && r.state != nil; i++ {
		ev := s.events[i]
		for {
			s.effects = brain.Step(r.state, clock.Read(r.started, time.Now()), ev, s.effects[:0])
			more := r.state.Pending()
			r.carryOut(s.effects)
			clear(s.effects)
			if !more || r.state == nil {
				break
			}
			ev = event.Follow{}
		}
		if r.state != nil {
			r.stepBody(0)
		}
	}
	s.stepping = false
	clear(s.events)
	s.events = s.events[:0]
	if r.state != nil {
		r.flush()
		r.schedule()
	}
}

// local sends a command as a person at the robot's own page does.
func (r *robot) local(id string, args any) {
	group, name, ok := strings.Cut(id, "/")
	if !ok {
		return
	}
	payload, err := schema.Encode(map[string]any{"id": uuid.NewString(), "args": args})
	if err != nil {
		return
	}
	r.give(event.Command{Client: schema.LocalClient, Group: group, Verb: name, Payload: payload, Read: time.Since(r.started)})
}
