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

// A wire leads one client to the broker, packet by packet: what is published on
// it meets its fate. Everything else passes as it is.
type faultyLink struct {
	name     string
	dial     func(context.Context) (net.Conn, error)
	observer linkObserver // nil: none

	mu         sync.Mutex
	faults     *faults
	log        *packetLog
	blocked    bool // nothing gets through, and nobody new
	conns      map[net.Conn]bool
	opened     map[string]int // connections so far, by client id
	deliverers sync.WaitGroup
}

// A bystander stands at the client's end of a wire.
type linkObserver interface {
	onSent(conn string, topic string, payload []byte)     // by the client, before its fate
	onReceived(conn string, topic string, payload []byte) // to the client, after its fate
	onClosed(conn string)
}

var errCut = errors.New("the wire is cut")

func (w *faultyLink) open(ctx context.Context) (net.Conn, error) {
	w.mu.Lock()
	parted := w.blocked
	w.mu.Unlock()
	if parted {
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
	up := &direction{connection: c, name: "up", from: inner, to: far, queue: make(chan queuedPacket, 4096)}
	down := &direction{connection: c, name: "down", from: far, to: inner, queue: make(chan queuedPacket, 4096)}
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

// cut cuts every connection; parted, no new one is made until it heals.
func (w *faultyLink) cut(block bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blocked = block
	for c := range w.conns {
		_ = c.Close()
		delete(w.conns, c)
	}
}

// restore ends what was parted, and with all every fault.
func (w *faultyLink) restore(endFaults bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blocked = false
	if endFaults {
		w.faults.ended = true
	}
}

// A connection is named by its client and how many that one had before it, which
// its first packet tells: a program has several at a time, and which of them asks
// first is the scheduler's affair.
type connection struct {
	*faultyLink
	name string // under the wire's lock
}

func (c *connection) readConnect(packet []byte) {
	at := bodyOffset(packet)
	at += 2 + int(binary.BigEndian.Uint16(packet[at:])) // the name of the protocol
	at += 1 + 1 + 2                                     // its level, flags, keep-alive
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

// A lane is one direction of a connection. Each packet arrives at an instant of
// its own, which the seed knows, so that what a packet brings about has happened
// before the next one comes, in every run. Messages of one topic keep their order,
// and so do acknowledgements; between them the seed decides, because who was the
// first in an instant is up to the scheduler. The end overtakes nothing.
type direction struct {
	*connection
	name       string // up or down
	from, to   net.Conn
	reverse    *direction // the other direction
	queue      chan queuedPacket
	onSent     func(conn, topic string, payload []byte) // a message was sent
	onReceived func(conn, topic string, payload []byte) // a message came
	onClosed   func(conn string)
}

// A parcel is a packet on its way; without bytes it is the end of the connection.
type queuedPacket struct {
	at      time.Time
	bytes   []byte
	message publishPacket
}

func (l *direction) read() {
	r := bufio.NewReader(l.from)
	newest := map[string]time.Time{} // arrival, by what keeps its order
	var latest time.Time             // of them
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
		way := name + " " + l.name
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
		line := m.topic // of what keeps its order
		if kind != publish {
			line = fmt.Sprint(kind)
		}
		at := notBefore(time.Now().Add(f.latency), newest[line])
		newest[line] = at
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

// notBefore is at, or an instant after other if that is not before it.
func notBefore(at, other time.Time) time.Time {
	if at.After(other) {
		return at
	}
	return other.Add(time.Microsecond)
}

// deliver takes the packets of a lane to its end, each in its time.
func (l *direction) deliver() {
	defer l.from.Close()
	defer l.to.Close()
	if l.onClosed != nil {
		defer func() { l.onClosed(l.clientName()) }()
	}
	var waiting []queuedPacket // the next one first
	next := time.NewTimer(time.Hour)
	defer next.Stop()
	for {
		select {
		case p := <-l.queue:
			at, _ := slices.BinarySearchFunc(waiting, p.at, func(q queuedPacket, at time.Time) int {
				if q.at.After(at) {
					return 1
				}
				return -1 // behind all of the same instant
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
	connect    = 1
	publish    = 3
	puback     = 4
	disconnect = 14
)

type publishPacket struct {
	topic   string
	payload []byte
	qos     byte
	id      uint16
}

// readPacket returns one packet of MQTT 3.1.1 as it is.
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

// bodyOffset is where what follows the fixed header of a packet begins.
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
