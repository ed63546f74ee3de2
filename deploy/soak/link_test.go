package soak

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// A faultyLink connects one client to the broker, packet by packet. Messages are
// lost, delayed or duplicated as its faults decide; other packets are only
// delayed.
type faultyLink struct {
	name     string
	dial     func(context.Context) (net.Conn, error)
	observer linkObserver // nil: none

	mu         sync.Mutex
	faults     *faults
	log        *packetLog
	blocked    bool // new connections are refused
	conns      map[net.Conn]bool
	opened     map[string]int // connections so far, by client id
	deliverers sync.WaitGroup
}

// A linkObserver sees the messages at the client's end of a link.
type linkObserver interface {
	onSent(conn string, topic string, payload []byte)     // by the client, before faults
	onReceived(conn string, topic string, payload []byte) // by the client, after faults
	onClosed(conn string)
}

var errCut = errors.New("the link is cut")

func (w *faultyLink) open(ctx context.Context) (net.Conn, error) {
	w.mu.Lock()
	blocked := w.blocked
	w.mu.Unlock()
	if blocked {
		return nil, errCut
	}
	far, err := w.dial(ctx)
	if err != nil {
		return nil, err
	}
	near, inner := net.Pipe()
	w.mu.Lock()
	w.conns[inner], w.conns[far] = true, true
	w.mu.Unlock()
	c := &connection{faultyLink: w}
	up := &direction{connection: c, way: "up", from: inner, to: far, queue: make(chan queuedPacket, 4096)}
	down := &direction{connection: c, way: "down", from: far, to: inner, queue: make(chan queuedPacket, 4096)}
	up.reverse, down.reverse = down, up
	if w.observer != nil {
		up.onSent, down.onReceived, up.onClosed = w.observer.onSent, w.observer.onReceived, w.observer.onClosed
	}
	for _, l := range []*direction{up, down} {
		go l.read()
		w.deliverers.Go(l.deliver)
	}
	return near, nil
}

// cut closes every connection. With block, no new one is accepted until restore.
func (w *faultyLink) cut(block bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blocked = block
	for c := range w.conns {
		_ = c.Close()
		delete(w.conns, c)
	}
}

// restore accepts connections again; with endFaults it also ends all faults.
func (w *faultyLink) restore(endFaults bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blocked = false
	if endFaults {
		w.faults.ended = true
	}
}

// A connection is named after its client id and the number of the client's earlier
// connections. The id comes from the CONNECT packet, because a program has several
// connections at a time, and the scheduler decides which one dials first.
type connection struct {
	*faultyLink
	name string // guarded by the link's mutex
}

func (c *connection) readConnect(packet []byte) {
	at := bodyOffset(packet)
	at += 2 + int(binary.BigEndian.Uint16(packet[at:])) // protocol name
	at += 1 + 1 + 2                                     // protocol level, flags, keep-alive
	n := int(binary.BigEndian.Uint16(packet[at:]))
	id := string(packet[at+2 : at+2+n])
	c.opened[id]++
	c.name = fmt.Sprintf("%s#%d", id, c.opened[id])
}

func (c *connection) clientName() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.name
}

// A direction is one of the two directions of a connection. The seed decides when
// each packet arrives, at an instant of its own, so that in every run the effects
// of one packet have happened before the next one arrives. Messages of one topic
// keep their order, and so do acknowledgements; between these the seed decides,
// because the scheduler decides which packet is sent first within an instant. The
// end of the connection overtakes nothing.
type direction struct {
	*connection
	way        string // up or down
	from, to   net.Conn
	reverse    *direction // the other direction
	queue      chan queuedPacket
	onSent     func(conn, topic string, payload []byte) // may be nil
	onReceived func(conn, topic string, payload []byte) // may be nil
	onClosed   func(conn string)
}

// A queuedPacket is a packet on its way; without bytes it is the end of the
// connection.
type queuedPacket struct {
	at      time.Time
	bytes   []byte
	message publishPacket
}

func (l *direction) read() {
	r := bufio.NewReader(l.from)
	newest := map[string]time.Time{} // newest arrival, by sequence
	var latest time.Time             // of all sequences
	last := func() time.Time { return notBefore(time.Now(), latest) }
	for {
		p, err := readPacket(r)
		if err != nil {
			l.queue <- queuedPacket{at: last()}
			return
		}
		var m publishPacket
		var f delivery
		kind := p[0] >> 4
		l.mu.Lock()
		if kind == connect {
			l.readConnect(p)
		}
		name := l.name
		way := name + " " + l.way
		if kind == publish {
			m = parsePublish(p)
			f = l.faults.next(way, m.topic)
			l.log.record(way, m.topic, f)
		} else {
			f = controlDelivery(way, kind)
			l.log.record(way, fmt.Sprint(kind), f)
		}
		l.mu.Unlock()
		if kind == publish && l.onSent != nil {
			l.onSent(name, m.topic, m.payload)
		}
		if kind == disconnect {
			l.queue <- queuedPacket{at: last(), bytes: p}
			continue
		}
		sequence := m.topic // packets of a sequence keep their order
		if kind != publish {
			sequence = fmt.Sprint(kind)
		}
		at := time.Now().Add(f.latency)
		if kind != unsubscribe && kind != unsuback { // how many a client sends in one instant is the scheduler's choice
			at = notBefore(at, newest[sequence])
		}
		newest[sequence] = at
		if at.After(latest) {
			latest = at
		}
		switch {
		case kind != publish || f.delay == 0 && !f.lost:
			l.queue <- queuedPacket{at, p, m}
		case f.lost && m.qos == 1:
			l.reverse.queue <- queuedPacket{at: at, bytes: []byte{puback << 4, 2, byte(m.id >> 8), byte(m.id)}}
		case f.delay > 0:
			l.queue <- queuedPacket{at.Add(f.delay), p, m}
		}
		if f.duplicated {
			l.queue <- queuedPacket{at.Add(f.delay + 50*time.Millisecond), p, m}
		}
	}
}

// notBefore returns at, but an instant after other if at is not later than that.
func notBefore(at, other time.Time) time.Time {
	if at.After(other) {
		return at
	}
	return other.Add(time.Microsecond)
}

// deliver writes each packet to the other end when its time has come.
func (l *direction) deliver() {
	defer l.from.Close()
	defer l.to.Close()
	if l.onClosed != nil {
		defer func() { l.onClosed(l.clientName()) }()
	}
	var waiting []queuedPacket // by time
	next := time.NewTimer(time.Hour)
	defer next.Stop()
	for {
		select {
		case p := <-l.queue:
			at, _ := slices.BinarySearchFunc(waiting, p.at, func(q queuedPacket, at time.Time) int {
				if q.at.After(at) {
					return 1
				}
				return -1 // after all packets of the same instant
			})
			waiting = slices.Insert(waiting, at, p)
			next.Reset(time.Until(waiting[0].at))
		case <-next.C:
			if len(waiting) == 0 {
				next.Reset(time.Hour)
				continue
			}
			p := waiting[0]
			waiting = waiting[1:]
			if p.bytes == nil {
				return
			}
			if _, err := l.to.Write(p.bytes); err != nil {
				return
			}
			if p.message.topic != "" && l.onReceived != nil {
				l.onReceived(l.clientName(), p.message.topic, p.message.payload)
			}
			if len(waiting) > 0 {
				next.Reset(time.Until(waiting[0].at))
			}
		}
	}
}

const (
	connect     = 1
	publish     = 3
	puback      = 4
	unsubscribe = 10
	unsuback    = 11
	disconnect  = 14
)

type publishPacket struct {
	topic   string
	payload []byte
	qos     byte
	id      uint16
}

// readPacket reads one packet of MQTT 3.1.1.
func readPacket(r *bufio.Reader) ([]byte, error) {
	head, err := r.ReadByte()
	if err != nil {
		return nil, err
	}
	p := []byte{head}
	length := 0
	for shift := 0; ; shift += 7 {
		b, err := r.ReadByte()
		if err != nil {
			return nil, err
		}
		p = append(p, b)
		length |= int(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	at := len(p)
	p = append(p, make([]byte, length)...)
	_, err = io.ReadFull(r, p[at:])
	return p, err
}

// bodyOffset returns the length of a packet's fixed header.
func bodyOffset(p []byte) int {
	at := 1
	for p[at] >= 0x80 {
		at++
	}
	return at + 1
}

func parsePublish(p []byte) publishPacket {
	at := bodyOffset(p)
	n := int(binary.BigEndian.Uint16(p[at:]))
	m := publishPacket{topic: string(p[at+2 : at+2+n]), qos: p[0] >> 1 & 3}
	at += 2 + n
	if m.qos > 0 {
		m.id = binary.BigEndian.Uint16(p[at:])
		at += 2
	}
	m.payload = p[at:]
	return m
}
