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
type wire struct {
	name  string
	dial  func(context.Context) (net.Conn, error)
	watch bystander // nil: none

	mu     sync.Mutex
	faults *faults
	log    *log
	parted bool // nothing gets through, and nobody new
	ends   map[net.Conn]bool
	opened map[string]int // connections so far, by client id
	lanes  sync.WaitGroup
}

// A bystander stands at the client's end of a wire.
type bystander interface {
	sent(conn string, topic string, payload []byte) // by the client, before its fate
	came(conn string, topic string, payload []byte) // to the client, after its fate
	over(conn string)
}

var errParted = errors.New("the wire is cut")

func (w *wire) open(ctx context.Context) (net.Conn, error) {
	w.mu.Lock()
	parted := w.parted
	w.mu.Unlock()
	if parted {
		return nil, errParted
	}
	far, err := w.dial(ctx)
	if err != nil {
		return nil, err
	}
	near, inner := net.Pipe()
	w.mu.Lock()
	w.ends[inner], w.ends[far] = true, true
	w.mu.Unlock()
	c := &connection{wire: w}
	up := &lane{connection: c, way: "up", from: inner, to: far, queue: make(chan parcel, 4096)}
	down := &lane{connection: c, way: "down", from: far, to: inner, queue: make(chan parcel, 4096)}
	up.back, down.back = down, up
	if w.watch != nil {
		up.before, down.after, up.over = w.watch.sent, w.watch.came, w.watch.over
	}
	for _, l := range []*lane{up, down} {
		go l.read()
		w.lanes.Go(l.deliver)
	}
	return near, nil
}

// part cuts every connection; parted, no new one is made until it heals.
func (w *wire) part(stay bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parted = stay
	for c := range w.ends {
		_ = c.Close()
		delete(w.ends, c)
	}
}

// heal ends what was parted, and with all every fault.
func (w *wire) heal(all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parted = false
	if all {
		w.faults.ended = true
	}
}

// A connection is named by its client and how many that one had before it, which
// its first packet tells: a program has several at a time, and which of them asks
// first is the scheduler's affair.
type connection struct {
	*wire
	name string // under the wire's lock
}

func (c *connection) begins(packet []byte) {
	at := body(packet)
	at += 2 + int(binary.BigEndian.Uint16(packet[at:])) // the name of the protocol
	at += 1 + 1 + 2                                     // its level, flags, keep-alive
	n := int(binary.BigEndian.Uint16(packet[at:]))
	id := string(packet[at+2 : at+2+n])
	c.opened[id]++
	c.name = fmt.Sprintf("%s#%d", id, c.opened[id])
}

func (c *connection) called() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.name
}

// A lane is one direction of a connection. Each packet arrives at an instant of
// its own, which the seed knows, so that what a packet brings about has happened
// before the next one comes, in every run. Messages of one topic keep their order,
// and so do acknowledgements; between them the seed decides, because who was the
// first in an instant is up to the scheduler. The end overtakes nothing.
type lane struct {
	*connection
	way      string // up or down
	from, to net.Conn
	back     *lane // the other direction
	queue    chan parcel
	before   func(conn, topic string, payload []byte) // a message was sent
	after    func(conn, topic string, payload []byte) // a message came
	over     func(conn string)
}

// A parcel is a packet on its way; without bytes it is the end of the connection.
type parcel struct {
	at      time.Time
	bytes   []byte
	message publication
}

func (l *lane) read() {
	r := bufio.NewReader(l.from)
	newest := map[string]time.Time{} // arrival, by what keeps its order
	var latest time.Time             // of them
	last := func() time.Time { return later(time.Now(), latest) }
	for {
		p, err := readPacket(r)
		if err != nil {
			l.queue <- parcel{at: last()}
			return
		}
		var m publication
		var f fate
		kind := p[0] >> 4
		l.mu.Lock()
		if kind == connect {
			l.begins(p)
		}
		name := l.name
		way := name + " " + l.way
		if kind == publish {
			m = parse(p)
			f = l.faults.of(way, m.topic)
			l.log.note(way, m.topic, f)
		} else {
			f = unharmed(way, kind)
			l.log.note(way, fmt.Sprint(kind), f)
		}
		l.mu.Unlock()
		if kind == publish && l.before != nil {
			l.before(name, m.topic, m.payload)
		}
		if kind == disconnect {
			l.queue <- parcel{at: last(), bytes: p}
			continue
		}
		line := m.topic // of what keeps its order
		if kind != publish {
			line = fmt.Sprint(kind)
		}
		at := later(time.Now().Add(f.takes), newest[line])
		newest[line] = at
		if at.After(latest) {
			latest = at
		}
		switch {
		case kind != publish || f.late == 0 && !f.lost:
			l.queue <- parcel{at, p, m}
		case f.lost && m.qos == 1:
			l.back.queue <- parcel{at: at, bytes: []byte{puback << 4, 2, byte(m.id >> 8), byte(m.id)}}
		case f.late > 0:
			l.queue <- parcel{at.Add(f.late), p, m}
		}
		if f.twice {
			l.queue <- parcel{at.Add(f.late + 50*time.Millisecond), p, m}
		}
	}
}

// later is at, or an instant after other if that is not before it.
func later(at, other time.Time) time.Time {
	if at.After(other) {
		return at
	}
	return other.Add(time.Microsecond)
}

// deliver takes the packets of a lane to its end, each in its time.
func (l *lane) deliver() {
	defer l.from.Close()
	defer l.to.Close()
	if l.over != nil {
		defer func() { l.over(l.called()) }()
	}
	var waiting []parcel // the next one first
	next := time.NewTimer(time.Hour)
	defer next.Stop()
	for {
		select {
		case p := <-l.queue:
			at, _ := slices.BinarySearchFunc(waiting, p.at, func(q parcel, at time.Time) int {
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
			if p.message.topic != "" && l.after != nil {
				l.after(l.called(), p.message.topic, p.message.payload)
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

type publication struct {
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

// body is where what follows the fixed header of a packet begins.
func body(p []byte) int {
	at := 1
	for p[at] >= 0x80 {
		at++
	}
	return at + 1
}

func parse(p []byte) publication {
	at := body(p)
	n := int(binary.BigEndian.Uint16(p[at:]))
	m := publication{topic: string(p[at+2 : at+2+n]), qos: p[0] >> 1 & 3}
	at += 2 + n
	if m.qos > 0 {
		m.id = binary.BigEndian.Uint16(p[at:])
		at += 2
	}
	m.payload = p[at:]
	return m
}
