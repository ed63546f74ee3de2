package crowd

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"troupe/broker/link"
	"troupe/robotd/brain"
	"troupe/robotd/clock"
	"troupe/robotd/command"
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

	// What the scenario does to it.
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

// heldInput waits for a slow or stalled robot.
type heldInput struct {
	at time.Duration
	input
}

// confirm is an answer that waits for its PUBACK.
type confirm struct {
	id  uint16
	key command.Key
	at  time.Duration
}

const (
	mostConfirms = 32
	confirmTime  = 2 * time.Second
	mostPending  = 4096
)

// phase is that of the connection.
type phase uint8

const (
	down        phase = iota // until dialAt
	dialling                 // a goroutine opens a connection
	connecting               // CONNECT was sent
	subscribing              // SUBSCRIBE was sent
	announcing               // the presence was sent and has to come back
	up
)

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

// ---- the connection

var (
	errRefused  = errors.New("refused by the broker")
	errHalfOpen = link.ErrHalfOpen
)

// tendConnection connects, sends pings, renews subscriptions, and gives up a connection that does not answer.
func (r *robot) tendConnection(now time.Duration) {
	switch r.phase {
	case down:
		if now >= r.dialAt && r.conn == nil {
			r.dial()
		}
	case connecting, subscribing, announcing:
		if now >= r.phaseUntil {
			r.drop(fmt.Errorf("connect: nothing from the broker within %v", connectTimeout), now)
		}
	case up:
		switch {
		case r.pingSent > 0 && now-r.pingSent >= keepAlive/2:
			r.drop(fmt.Errorf("%w: a ping was not answered", errHalfOpen), now)
		case r.probed && now-r.lastCame >= quiet+connectTimeout:
			r.drop(fmt.Errorf("%w: the robot's own presence did not come back", errHalfOpen), now)
		case !r.probed && now-r.lastCame >= quiet:
			r.probed = true
			r.shard.packets = r.shard.packets[:0]
			r.publish(r.ownPresence())
			r.flush()
		case now-r.lastSent >= keepAlive:
			r.pingSent = now
			r.shard.packets = appendEmpty(r.shard.packets[:0], packetPingreq)
			r.flush()
		case now >= r.renewAt:
			r.renewAt = now + renewal
			r.subscribe(true)
		}
	}
}

func (r *robot) dial() {
	c := r.crowd()
	r.phase, r.session = dialling, uuid.NewString()
	payload, err := schema.Encode(report.WillOf(r.session, r.boot))
	if err != nil {
		panic(err)
	}
	will := wire.Message(c.cfg.Namespace, r.id, schema.TopicPresence, "", payload)
	connect := appendConnect(nil, r.id, r.id, c.cfg.Password, uint16(keepAlive/time.Second), &will)
	r.attempt++
	n := r.attempt
	c.work.Go(func() {
		select {
		case c.starts <- struct{}{}:
		case <-c.ctx.Done():
			return
		}
		conn, err := c.dial(c.ctx, r, connect)
		if err != nil {
			<-c.starts
		} else {
			conn.started = sync.OnceFunc(func() { <-c.starts })
		}
		if !r.shard.send(input{r: r, do: inDialled, conn: conn, n: n, err: err}) && conn != nil {
			conn.Close()
			conn.started()
		}
	})
}

func (r *robot) dialled(n *conn, attempt uint64, err error, now time.Duration) {
	switch {
	case r.state == nil || r.phase != dialling || attempt != r.attempt: // it has left meanwhile
		if n != nil {
			n.Close()
			n.started()
		}
		return
	case err != nil:
		r.lost(err, now)
		return
	}
	r.conn, r.phase, r.phaseUntil = n, connecting, now+connectTimeout
	r.lastCame, r.lastSent, r.pingSent, r.probed = now, now, 0, false
	r.sawEcho = false
	// A goroutine of its own, whose stack has not been grown by the dial.
	r.crowd().work.Go(func() { r.read(n) })
	r.schedule()
}

// read is the goroutine that reads a connection.
func (r *robot) read(n *conn) {
	err := n.read(func(p packet) bool {
		in := input{r: r, do: inPacket, conn: n, packet: p, at: time.Now()}
		if p.kind == packetPublish {
			in.n = r.received.Add(1)
		}
		return r.shard.send(in)
	})
	n.started()
	r.shard.send(input{r: r, do: inEnded, conn: n, err: err})
}

func (r *robot) packet(in input, now time.Duration) {
	switch in.kind {
	case packetConnack:
		if len(in.payload) < 2 || in.payload[1] != 0 {
			r.drop(fmt.Errorf("connect: %w", errRefused), now)
			return
		}
		r.phase, r.phaseUntil = subscribing, now+connectTimeout
		r.subscribe(false)
	case packetSuback:
		r.subscribed(in.payload, now)
	case packetPuback:
		for i, c := range r.confirms {
			if c.id == in.id {
				r.confirms = append(r.confirms[:i], r.confirms[i+1:]...)
				r.give(event.Delivered{Key: c.key})
				return
			}
		}
	case packetPingresp:
		r.pingSent = 0
	case packetPublish:
		r.shard.own.Received++
		r.lastCame, r.probed = now, false
		r.arrived(link.Message{Topic: in.topic, Payload: in.payload, QoS: in.qos, Retain: in.retain, N: in.n, At: in.at}, in.id, now)
	}
}

// subscribe sends the SUBSCRIBE for a new session, or renews the subscriptions that a broker may have lost unnoticed.
func (r *robot) subscribe(again bool) {
	ns := r.crowd().cfg.Namespace
	var wanted []link.Subscription
	for _, s := range wire.Subscriptions(ns, r.id, false) {
		if !again || s.Renew {
			wanted = append(wanted, s)
		}
	}
	if !again {
		wanted = append(wanted, link.Subscription{Filter: ns.Topic(schema.TopicPresence, r.id), QoS: 1})
	}
	for i := range wanted {
		wanted[i].QoS = r.crowd().cfg.Engine.SubscribeQoS(wanted[i].QoS)
	}
	r.shard.packets = appendSubscribe(r.shard.packets[:0], r.nextID(), wanted)
	r.flush()
	r.schedule()
}

// subscribed looks at what the broker granted. Those that are optional are granted by every broker of this release.
func (r *robot) subscribed(codes []byte, now time.Duration) {
	if bytes.IndexByte(codes, 0x80) >= 0 {
		r.drop(fmt.Errorf("subscribe: %w", errRefused), now)
		return
	}
	if r.phase != subscribing {
		return
	}
	r.phase, r.phaseUntil = announcing, now+connectTimeout
	m := r.ownPresence()
	r.presence = m.Payload
	r.shard.packets = r.shard.packets[:0]
	r.publish(m)
	r.flush()
	r.schedule()
}

func (r *robot) ownPresence() link.Message {
	payload, err := schema.Encode(report.PresenceOf(r.session, r.boot, r.crowd().cfg.Version, schema.TimeOf(time.Now())))
	if err != nil {
		panic(err)
	}
	return wire.Message(r.crowd().cfg.Namespace, r.id, schema.TopicPresence, "", payload)
}

// arrived takes a message. Until the own presence has come back, only stops are handed to the robot, and the others wait.
func (r *robot) arrived(m link.Message, id uint16, now time.Duration) {
	c := r.crowd()
	ack := func() {
		if m.QoS > 0 {
			r.shard.packets = appendPuback(r.shard.packets, id)
		}
	}
	if wire.Urgent(c.cfg.Namespace, m.Topic) {
		r.message(m, ack)
		return
	}
	if r.phase != up {
		r.shard.packets = r.shard.packets[:0]
		ack()
		r.flush()
		isPresence := m.Topic == c.cfg.Namespace.Topic(schema.TopicPresence, r.id)
		own := isPresence && r.phase == announcing && bytes.Equal(m.Payload, r.presence)
		switch {
		case own:
			r.nowUp(now)
		case isPresence && m.Retain:
		case len(r.pending) >= mostPending:
			r.drop(fmt.Errorf("%w: more than %d messages wait", link.ErrOverrun, mostPending), now)
		default:
			r.pending = append(r.pending, m)
		}
		r.schedule()
		return
	}
	r.message(m, ack)
}

// message gives the robot a message, and acknowledges it in the same write as what follows from it.
func (r *robot) message(m link.Message, ack func()) {
	c := r.crowd()
	ev := wire.Event(c.cfg.Namespace, m, r.started, r.shard.log)
	r.shard.packets = r.shard.packets[:0]
	r.shard.events = r.shard.events[:0]
	ack()
	switch ev := ev.(type) {
	case nil:
		r.flush()
		r.schedule()
		return
	case event.LiveStop:
		if !ev.Retained {
			r.countLiveStop(m.At)
		}
	case event.MessageDropped:
		c.totals.fail("the broker dropped a message: " + string(ev.Reason))
	}
	r.passBody()
	r.later(ev)
	r.steps(nil)
}

func (r *robot) countLiveStop(at time.Time) {
	o := &r.shard.own
	o.LiveStops++
	if at.Sub(o.StopLast) > stopGap {
		o.StopFirst = at
	}
	if at.After(o.StopLast) {
		o.StopLast = at
	}
}

func (r *robot) nowUp(now time.Duration) {
	r.phase, r.upSince = up, now
	r.conn.started()
	r.renewAt = now + jitter(renewal)
	r.give(event.Connected{Session: r.session})
	pending := r.pending
	r.pending, r.presence = nil, nil
	for _, m := range pending {
		if r.phase == up {
			r.message(m, func() {})
		}
	}
}

// lost notes that the connection has ended.
func (r *robot) lost(err error, now time.Duration) {
	was := r.phase
	if r.conn != nil && r.stallEnd > 0 {
		r.resume() // or its reader would wait for ever
	}
	r.phase, r.conn, r.pending, r.confirms = down, nil, nil, nil
	if r.state == nil {
		return
	}
	if was == up {
		r.shard.own.Lost++
	}
	r.crowd().totals.fail(cause(err))
	if was == up && now-r.upSince > backoffMost/2 {
		r.backoff = backoffFirst
	}
	wait := min(jitter(r.backoff), backoffMost)
	r.backoff = min(2*r.backoff, backoffMost*2/3)
	r.dialAt = now + wait
	if was == up {
		ev := event.Disconnected{Why: err.Error(), HalfOpen: errors.Is(err, errHalfOpen)}
		if r.shard.stepping {
			r.later(ev)
			return
		}
		r.give(ev)
	}
	r.schedule()
}

// drop ends the connection without DISCONNECT, and notes why.
func (r *robot) drop(err error, now time.Duration) {
	if r.conn != nil {
		r.conn.Close()
	}
	r.lost(err, now)
}

// disconnect ends the connection with DISCONNECT after what is to be sent.
func (r *robot) disconnect() {
	r.shard.packets = appendEmpty(r.shard.packets, packetDisconnect)
	r.conn.ending = true
	r.flush()
}

func (r *robot) nextID() uint16 {
	if r.packetID++; r.packetID == 0 {
		r.packetID = 1
	}
	return r.packetID
}

// publish appends a message to what flush sends.
func (r *robot) publish(m link.Message) (id uint16) {
	if m.QoS > 0 {
		m.QoS = 1
		id = r.nextID()
	}
	r.shard.own.Published++
	r.shard.packets = appendPublish(r.shard.packets, &m, id)
	return id
}

// flush sends the packets that were appended, without waiting.
func (r *robot) flush() {
	b := r.shard.packets
	r.shard.packets = r.shard.packets[:0]
	c := r.conn
	if c == nil || len(b) == 0 && !c.ending {
		return
	}
	r.lastSent = r.shard.now()
	if !c.writing {
		n, err := c.writeNow(b)
		if err != nil {
			r.drop(fmt.Errorf("write to the broker: %w", err), r.lastSent)
			return
		}
		b = b[n:]
		if len(b) == 0 {
			if c.ending {
				c.end()
			}
			return
		}
	}
	if len(c.unsent)+len(b) > mostUnsent {
		r.drop(errors.New("the broker does not read"), r.lastSent)
		return
	}
	c.unsent = append(c.unsent, b...)
	r.writeUnsent()
}

// writeUnsent begins to write what the network has not taken.
func (r *robot) writeUnsent() {
	c := r.conn
	if c.writing {
		return
	}
	c.writing = true
	b := c.unsent
	c.unsent = nil
	r.crowd().work.Go(func() {
		err := c.write(b)
		r.shard.send(input{r: r, do: inWritten, conn: c, err: err})
	})
}

func (r *robot) written(c *conn, err error, now time.Duration) {
	c.writing = false
	switch {
	case err == nil && len(c.unsent) == 0 && c.ending:
		c.end()
	case c != r.conn:
	case err != nil:
		r.drop(fmt.Errorf("write to the broker: %w", err), now)
	case len(c.unsent) > 0:
		r.writeUnsent()
	}
}

// ---- what the scenario does

// cut ends the connection as a network does, and keeps the robot away from the broker for a while.
func (r *robot) cut(away time.Duration) {
	if r.state == nil || r.phase != up {
		return
	}
	now := r.shard.now()
	r.drop(errCut, now)
	r.dialAt = now + away
	r.schedule()
}

var errCut = errors.New("scenario: link lost")

// stall makes the robot do nothing for a while, not even read, while its connection stays.
func (r *robot) stall(lasts time.Duration) {
	if r.state == nil || r.phase != up || r.stallEnd > 0 {
		return
	}
	gate := make(chan struct{})
	r.conn.gate.Store(&gate)
	r.stallEnd = r.shard.now() + lasts
	r.schedule()
}

func (r *robot) resume() {
	r.stallEnd = 0
	if r.conn == nil {
		return
	}
	if gate := r.conn.gate.Swap(nil); gate != nil {
		close(*gate)
	}
}

// follow does what the scenario wants of this robot at its time.
func (r *robot) follow(now time.Duration) {
	if r.fails && now >= r.failAt {
		units := r.crowd().body.Units
		r.body.FailNext(units[rand.IntN(len(units))].ID, schema.ReasonUnitError)
		r.failAt = now + jitter(r.crowd().cfg.Scenario.Failing.Time)
	}
	if !r.performs || now < r.askAt || r.phase != up {
		return
	}
	r.askAt = now + jitter(3*time.Second)
	if t := r.state.Tally(); t.Story && !t.Performing && !t.Latched && !t.EStop {
		r.local("mode/set", map[string]any{"mode": r.crowd().performer})
		r.local("safety/enable", map[string]any{})
	}
}
