package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"troupe/deploy/launch"
	fleetapi "troupe/fleetd/api"
	"troupe/schema"
)

var stalledBenches = []bench{{
	Name:  "stalled",
	What:  "one robot, and then one console, stops reading: how long the others wait for what all get, and what they lose",
	Floor: "the same readers without the stalled one",
	Run:   measureStalled,
}}

// stalledGoal is the largest ratio of the p99 that is good enough.
const stalledGoal = 2

func measureStalled(ctx context.Context, r *run) error {
	if err := r.stalledRobot(ctx); err != nil {
		return fmt.Errorf("a stalled robot: %w", err)
	}
	r.endAll()
	if err := r.stalledConsole(ctx); err != nil {
		return fmt.Errorf("a stalled console: %w", err)
	}
	return nil
}

const (
	// readers is how many robots read beside the stalled one.
	readers = 20
	// blobBytes is the size of what all of them get.
	blobBytes = 16 << 10
	// stalledAfter is how many messages the stalled robot gets before something is measured: more than its connection
	// and its queue at the broker hold.
	stalledAfter = 1000
	stalledName  = "r999"
)

// everyBlob is a topic that all robots may read.
var everyBlob = topics.Topic(schema.TopicBlob, strings.Repeat("0", 64))

func (r *run) stalledRobot(ctx context.Context) error {
	b, err := r.startBroker(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	a, err := r.newAudience(b.addr)
	if err != nil {
		return err
	}
	stalled := &stalledReader{addr: b.addr}
	r.atEnd(stalled.end)
	const alone, beside = "20 robots", "20 robots beside a stalled one"
	err = r.alternate(ctx, turns{warm: 20, rounds: r.size(10, 3), samples: 100},
		arm{name: alone, programs: []*launch.Program{b.Program}, before: func(context.Context) error { stalled.end(); return nil },
			sample: a.sample},
		arm{name: beside, of: alone, goalP99: stalledGoal, programs: []*launch.Program{b.Program},
			before: func(ctx context.Context) error { return stalled.begin(ctx, a) }, sample: a.sample})
	r.note("the stalled robot had up to %s unsent in its connection, and the broker disconnected it %d times",
		showBytes(float64(stalled.unsent)), stalled.disconnected.Load())
	return err
}

// An audience is robots that all receive what one client publishes.
type audience struct {
	publisher *client
	seq       atomic.Uint64
	got       atomic.Int64
	twice     atomic.Int64
	seen      [readers]atomic.Uint64 // the newest number that each has
	done      chan time.Time
	payload   []byte
}

func (r *run) newAudience(addr string) (*audience, error) {
	a := &audience{done: make(chan time.Time, 1), payload: make([]byte, blobBytes)}
	for i := range readers {
		id := fmt.Sprintf("r%d", i+1)
		c, err := dial(addr, clientOptions{id: id, user: id, from: i, on: func(_ *client, m message) { a.received(i, m) }})
		if err != nil {
			return nil, err
		}
		r.atEnd(c.close)
		if err := c.subscribe(1, everyBlob); err != nil {
			return nil, err
		}
	}
	var err error
	if a.publisher, err = dial(addr, clientOptions{id: "fleetd", user: "fleetd"}); err != nil {
		return nil, err
	}
	r.atEnd(a.publisher.close)
	return a, nil
}

func (a *audience) received(reader int, m message) {
	n := binary.BigEndian.Uint64(m.Payload)
	switch {
	case n != a.seq.Load():
		return // of a sample that is over
	case a.seen[reader].Swap(n) == n:
		a.twice.Add(1)
	case a.got.Add(1) == readers:
		a.done <- time.Now()
	}
}

// sample publishes once, until the last reader has it.
func (a *audience) sample(ctx context.Context) (sample, error) {
	a.got.Store(0)
	a.twice.Store(0)
	binary.BigEndian.PutUint64(a.payload, a.seq.Add(1))
	began := time.Now()
	if err := a.publisher.publish(everyBlob, a.payload, 1, true); err != nil {
		return sample{}, err
	}
	late := time.NewTimer(answerLimit)
	defer late.Stop()
	var s sample
	select {
	case end := <-a.done:
		s.took = end.Sub(began)
	case <-late.C:
		s.lost = readers - int(a.got.Load())
	case <-ctx.Done():
		return s, context.Cause(ctx)
	}
	s.doubled = int(a.twice.Load())
	return s, nil
}

// A stalledReader is a robot that subscribes and then reads nothing more, though it goes on sending PINGREQs. If the
// broker disconnects it, it comes back and stalls again.
type stalledReader struct {
	addr         string
	stop         func() // nil: it is not connected
	unsent       int    // the most bytes that waited in its connection, at the broker
	disconnected atomic.Int64
}

const (
	pingEvery = 100 * time.Millisecond
	// noticedWithin is after how many PINGREQs at most it is known that the broker has disconnected it.
	noticedWithin = 20
	// stalledBuffer is what the connection of a stalled reader holds at its side, in bytes: as little as possible.
	stalledBuffer = 4096
)

// begin connects it, unless it is, and publishes until it stalls.
func (s *stalledReader) begin(ctx context.Context, a *audience) error {
	if s.stop != nil {
		return nil
	}
	first, err := s.connect()
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	var pinging sync.WaitGroup
	pinging.Go(func() { s.keep(first, ended) })
	s.stop = func() { close(ended); pinging.Wait() }
	for range stalledAfter {
		if _, err := a.sample(ctx); err != nil {
			return err
		}
	}
	for range noticedWithin {
		unsent := unsentTo(first.conn.LocalAddr().(*net.TCPAddr))
		if s.unsent = max(s.unsent, unsent); unsent > 0 || s.disconnected.Load() > 0 {
			return nil
		}
		if err := sleep(ctx, pingEvery); err != nil { // the broker may have disconnected it, which only its next PINGREQ finds
			return err
		}
	}
	return errors.New("the robot that does not read has nothing unsent, and was not disconnected: it is not stalled")
}

// connect connects a robot that blocks on its first message.
func (s *stalledReader) connect() (*client, error) {
	never := make(chan struct{})
	c, err := dial(s.addr, clientOptions{id: stalledName, user: stalledName, from: readers, on: func(*client, message) { <-never }})
	if err != nil {
		return nil, err
	}
	if err := c.conn.(*net.TCPConn).SetReadBuffer(stalledBuffer); err != nil {
		return nil, err
	}
	return c, c.subscribe(1, everyBlob)
}

// keep sends PINGREQs, and connects again when the connection has ended.
func (s *stalledReader) keep(c *client, ended <-chan struct{}) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			_ = c.conn.Close()
			return
		case <-tick.C:
		}
		if c.ping() == nil {
			continue
		}
		s.disconnected.Add(1)
		_ = c.conn.Close()
		if again, err := s.connect(); err == nil { // else with the next tick
			c = again
		}
	}
}

// end disconnects it, if it is connected.
func (s *stalledReader) end() {
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// unsentTo returns how many bytes wait in the other end of a connection whose own end is at this address, which does
// not read them. It reads /proc/net/tcp.
func unsentTo(at *net.TCPAddr) int {
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line) // sl local_address rem_address st tx_queue:rx_queue ...
		if len(words) < 5 {
			continue
		}
		_, port, _ := strings.Cut(words[2], ":")
		if n, err := strconv.ParseUint(port, 16, 16); err != nil || int(n) != at.Port {
			continue
		}
		tx, _, _ := strings.Cut(words[4], ":")
		n, _ := strconv.ParseUint(tx, 16, 64)
		return int(n)
	}
	return 0
}

// A stalled console is one that has asked fleetd for the stream of all robots, and does not read it.
func (r *run) stalledConsole(ctx context.Context) error {
	size := r.size(1000, 300)
	f, err := r.startFleet(ctx, size, r.sqlite())
	if err != nil {
		return err
	}
	console, err := r.newConsole(ctx, f.fleetd.api)
	if err != nil {
		return err
	}
	var stalled []net.Conn
	end := func() {
		for _, c := range stalled {
			_ = c.Close()
		}
		stalled = nil
	}
	r.atEnd(end)
	unsent := 0
	begin := func(ctx context.Context) error {
		if stalled != nil {
			return nil
		}
		c, err := f.fleetd.api.stallStream(ctx)
		if err != nil {
			return err
		}
		stalled = append(stalled, c)
		if err := sleep(ctx, time.Second); err != nil {
			return err
		}
		if unsent = unsentTo(c.LocalAddr().(*net.TCPAddr)); unsent == 0 {
			return errors.New("the console that does not read has nothing unsent: it is not stalled")
		}
		return nil
	}
	const alone, beside = "a console", "a console beside a stalled one"
	err = r.alternate(ctx, turns{warm: 2, rounds: r.size(5, 2), samples: 10},
		arm{name: alone, programs: f.programs(), before: func(context.Context) error { end(); return nil }, sample: console.sample},
		arm{name: beside, of: alone, goalP99: stalledGoal, programs: f.programs(), before: begin, sample: console.sample})
	r.note("a console sees a change after up to 250 ms, for which fleetd gathers changes; the stalled one of %d robots had %s unsent in "+
		"its connection",
		size, showBytes(float64(unsent)))
	return err
}

// A console reads the stream of all robots.
type console struct {
	api  *api
	seq  int
	seen chan string // each value of the label that is measured
}

// consoleLabel is the label whose change the console waits for, of consoleRobot.
const (
	consoleLabel = "bench"
	consoleRobot = "s1"
)

func (r *run) newConsole(ctx context.Context, a *api) (*console, error) {
	c := &console{api: a, seen: make(chan string, 100)}
	ctx, stop := context.WithCancel(ctx)
	r.atEnd(stop)
	body, err := a.stream(ctx)
	if err != nil {
		return nil, err
	}
	go func() {
		defer body.Close()
		lines := bufio.NewReaderSize(body, 1<<20)
		label := []byte(`"` + consoleLabel + `":"`)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			if at := bytes.Index(line, label); at >= 0 {
				value, _, _ := bytes.Cut(line[at+len(label):], []byte{'"'})
				c.seen <- string(value)
			}
		}
	}()
	return c, nil
}

// sample changes a label, until the console has it.
func (c *console) sample(ctx context.Context) (sample, error) {
	c.seq++
	value := strconv.Itoa(c.seq)
	began := time.Now()
	body := map[string]any{"labels": map[string]string{consoleLabel: value}, "by": "bench"}
	if _, err := c.api.do(ctx, "PUT", "/robots/"+consoleRobot+"/labels", body, nil); err != nil {
		return sample{}, err
	}
	late := time.NewTimer(answerLimit)
	defer late.Stop()
	for {
		select {
		case seen := <-c.seen:
			if seen == value {
				return sample{took: time.Since(began)}, nil
			}
		case <-late.C:
			return sample{lost: 1}, nil
		case <-ctx.Done():
			return sample{}, context.Cause(ctx)
		}
	}
}

// stallStream asks for the stream and does not read it.
func (a *api) stallStream(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{}
	c, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(a.url, "http://"))
	if err != nil {
		return nil, err
	}
	if err := c.(*net.TCPConn).SetReadBuffer(stalledBuffer); err != nil {
		return nil, err
	}
	request, err := http.NewRequest("GET", a.url+fleetapi.Prefix+"/stream", nil)
	if err != nil {
		return nil, err
	}
	return c, request.Write(c)
}
