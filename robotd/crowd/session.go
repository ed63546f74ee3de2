package crowd

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"troupe/broker/link"
	"troupe/robotd/command"
	"troupe/robotd/event"
	"troupe/robotd/report"
	"troupe/robotd/wire"
	"troupe/schema"
)

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
