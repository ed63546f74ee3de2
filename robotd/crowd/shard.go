package crowd

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/wire"
	"troupe/schema"
)

// shard owns a share of the robots. Only its goroutine touches them.
type shard struct {
	crowd  *Crowd
	robots []*robot
	wheel  wheel
	inputs chan input
	urgent chan input // stops, which overtake the others
	beats  chan input // heartbeats of fleetd and answers to pings, which overtake stops, too: taking one takes no time

	// Reused by every robot.
	events   []event.Event
	effects  []effect.Effect
	packets  []byte
	stepping bool // events are being given to a robot

	own     Counts   // as of the last count
	touched []*robot // whose standing may have changed since
	counts  chan chan Counts
	log     *slog.Logger
}

// A reader that finds a queue full waits, and the broker with it. So that the heartbeat of fleetd does not wait at each robot behind a
// message for which the shard has no time yet, and seem late to all of them, a queue has room for what a fleet is sent at once.
const (
	leastQueue  = 1024
	queuedEach  = 4 // for each robot of the shard
	urgentsEach = 2
)

// input is what comes to a robot from outside its shard.
type input struct {
	r    *robot
	conn *conn // from which, or that was opened
	do   inputKind
	packet
	n   uint64    // number among the messages that the robot received
	at  time.Time // when it was read
	ev  event.Event
	err error
	fn  func(*robot)
}

type inputKind uint8

const (
	inPacket  inputKind = iota // conn, packet, n, at
	inDialled                  // conn, or err
	inEnded                    // conn, err
	inWritten                  // conn, err
	inEvent                    // ev
	inDo                       // fn, for a robot, or with r nil for the shard
)

func newShard(c *Crowd, i, of int) *shard {
	robots := (c.cfg.Count + of - 1) / of
	s := &shard{
		crowd: c, inputs: make(chan input, max(leastQueue, queuedEach*robots)), urgent: make(chan input, max(leastQueue, urgentsEach*robots)),
		beats: make(chan input, max(leastQueue, urgentsEach*robots)), counts: make(chan chan Counts), log: c.cfg.Logger,
	}
	for n := i; n < c.cfg.Count; n += of {
		r := newRobot(s, n)
		s.robots = append(s.robots, r)
		s.touch(r)
	}
	s.own.Robots = len(s.robots)
	return s
}

// now is the time since the crowd began.
func (s *shard) now() time.Duration { return time.Since(s.crowd.began) }

// send sends an input to the shard, and reports whether the crowd still runs.
func (s *shard) send(in input) bool {
	select {
	case s.queueOf(in) <- in:
		return true
	case <-s.crowd.ctx.Done():
		return false
	}
}

// queueOf returns the queue for an input. A robot with a process of its own would take a heartbeat of fleetd, the answer to a ping and a
// stop at once: here they must not seem late, and the link lost, because messages of all other robots wait before them.
func (s *shard) queueOf(in input) chan<- input {
	switch {
	case in.do != inPacket:
		return s.inputs
	case in.kind == packetPingresp:
		return s.beats
	case in.kind != packetPublish:
		return s.inputs
	}
	ns := s.crowd.cfg.Namespace
	switch row, _, ok := ns.Match(in.topic); {
	case ok && row.Kind == schema.TopicFleetHeartbeat:
		return s.beats
	case wire.Urgent(ns, in.topic):
		return s.urgent
	}
	return s.inputs
}

// startEvery is the mean pause between the starts of two robots, so that they neither start nor tick at the same moment.
const startEvery = 200 * time.Microsecond

// run runs the robots until ctx ends, and then ends each one.
func (s *shard) run(ctx context.Context) {
	spread := time.Duration(s.crowd.cfg.Count) * startEvery
	for i, r := range s.robots {
		r.startAt = spread*time.Duration(i)/time.Duration(len(s.robots)) + time.Duration(rand.Int64N(int64(wheelSlot)))
		s.wheel.set(r, r.startAt)
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	var ending <-chan time.Time
	asked := ctx.Done()
	for {
		s.takeWaiting()
		if at, any := s.wheel.next(); any && asked != nil {
			timer.Reset(max(0, at-s.now()))
		}
		select {
		case in := <-s.beats:
			s.take(in)
		case in := <-s.urgent:
			s.take(in)
		case in := <-s.inputs:
			s.take(in)
		case <-timer.C:
		case answer := <-s.counts:
			answer <- s.count()
		case <-asked:
			asked = nil
			ending = time.After(2 * linger)
			for _, r := range s.robots {
				s.call(r, func() { r.leave("shutdown", 0) })
			}
		case <-ending:
			return
		}
		if asked == nil {
			if !s.connected() {
				return
			}
			continue
		}
		s.callDue()
	}
}

// atOnce bounds the inputs that are taken, and the robots that are called, before the others get their turn.
const atOnce = 64

// takeWaiting takes inputs that wait: all heartbeats, answers to pings and stops, and as many others as robots are called between them.
// Calls of robots that are late become fewer, messages do not.
func (s *shard) takeWaiting() {
	for n := 0; n < atOnce; {
		select {
		case in := <-s.beats:
			s.take(in)
			continue
		default:
		}
		select {
		case in := <-s.urgent:
			s.take(in)
			continue
		default:
		}
		select {
		case in := <-s.inputs:
			s.take(in)
			n++
		default:
			return
		}
	}
}

// callDue calls the robots whose time has come, but not so long that no stop would be taken meanwhile.
func (s *shard) callDue() {
	now := s.now()
	for range atOnce {
		r := s.wheel.take(now)
		if r == nil {
			return
		}
		s.call(r, func() { r.tend(now) })
	}
}

func (s *shard) connected() bool {
	for _, r := range s.robots {
		if r.conn != nil {
			return true
		}
	}
	return false
}

func (s *shard) take(in input) {
	if in.r == nil {
		in.fn(nil)
		return
	}
	s.call(in.r, func() { in.r.take(in) })
}

// call does something for a robot. One whose step panics is lost, as if its robotd had crashed, and the others go on.
func (s *shard) call(r *robot, do func()) {
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("robot crashed", "robot", r.id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			s.crowd.totals.fail("a robot crashed")
			s.stepping = false
			r.crash()
			s.touch(r)
		}
	}()
	do()
	s.touch(r)
}

// touch has a robot counted anew.
func (s *shard) touch(r *robot) {
	if !r.touched {
		r.touched = true
		s.touched = append(s.touched, r)
	}
}

// totals are counted since the beginning.
type totals struct {
	mu     sync.Mutex
	errors map[string]int64
}

const mostErrorKinds = 64

// fail counts an error.
func (t *totals) fail(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.errors == nil {
		t.errors = map[string]int64{}
	}
	if _, known := t.errors[what]; !known && len(t.errors) >= mostErrorKinds {
		what = "other"
	}
	t.errors[what]++
}

// cause shortens an error to what is the same for all robots: addresses differ.
func cause(err error) string {
	text := err.Error()
	if strings.Contains(text, "->") {
		if i := strings.LastIndex(text, ": "); i >= 0 {
			return text[i+2:]
		}
	}
	return text
}
