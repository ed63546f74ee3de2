package soak

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
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
	faults *faults // nil: none
	parted bool    // nothing gets through, and nobody new
	ends   map[net.Conn]bool
	count  int // connections so far
}

// A bystander stands at the client's end of a wire.
type bystander interface {
	sent(conn int, topic string, payload []byte) // by the client, before its fate
	came(conn int, topic string, payload []byte) // to the client, after its fate
	over(conn int)
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
	w.count++
	conn := w.count
	w.mu.Unlock()
	a, b := &side{Conn: inner}, &side{Conn: far}
	var before, after func(string, []byte)
	over := func() {}
	if w.watch != nil {
		before = func(topic string, payload []byte) { w.watch.sent(conn, topic, payload) }
		after = func(topic string, payload []byte) { w.watch.came(conn, topic, payload) }
		over = func() { w.watch.over(conn) }
	}
	go func() {
		w.pump(a, b, "up", before, nil)
		over()
	}()
	go w.pump(b, a, "down", nil, after)
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
		w.faults = nil
	}
}

// A side writes whole packets.
type side struct {
	net.Conn
	mu sync.Mutex
}

// packet reports whether the other side took it; that it ended is seen by the
// reader.
func (s *side) packet(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.Write(b)
	return err == nil
}

func (w *wire) pump(from, to *side, way string, before, after func(string, []byte)) {
	defer from.Close()
	defer to.Close()
	r := bufio.NewReader(from)
	for {
		p, err := readPacket(r)
		if err != nil {
			return
		}
		if p[0]>>4 != 3 {
			to.packet(p)
			continue
		}
		m := parse(p)
		if before != nil {
			before(m.topic, m.payload)
		}
		var f fate
		w.mu.Lock()
		if w.faults != nil {
			f = w.faults.of(w.name+" "+way, m.topic)
		}
		w.mu.Unlock()
		if f.lost {
			if m.qos == 1 {
				from.packet([]byte{0x40, 2, byte(m.id >> 8), byte(m.id)})
			}
			continue
		}
		pass := func() {
			if to.packet(p) && after != nil {
				after(m.topic, m.payload)
			}
		}
		if f.late == 0 {
			pass()
		} else {
			time.AfterFunc(f.late, pass)
		}
		if f.twice {
			time.AfterFunc(f.late+50*time.Millisecond, pass)
		}
	}
}

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

func parse(p []byte) publication {
	at := 1
	for p[at] >= 0x80 {
		at++
	}
	at++
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
