package link

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// item is what the user is told: a state or a message.
type item struct {
	state   *State
	message Message
}

// dispatcher hands states and messages to the user on one goroutine, in order;
// urgent messages overtake. It is the one place where they wait.
type dispatcher struct {
	limit int
	log   *slog.Logger
	says  func(Message) string
	crowd *logLimiter
	onMsg func(Message)
	onSt  func(State)

	mu     sync.Mutex
	n      uint64 // messages so far, in the order of their arrival
	urgent []Message
	alike  []*coalesced
	queue  []item
	ended  bool
	wake   chan struct{} // 1: something to do
	done   chan struct{}
}

func newDispatcher(c Config) *dispatcher {
	return &dispatcher{limit: c.Queue, log: c.Logger, says: c.Says, crowd: &logLimiter{log: c.Logger}, onMsg: c.OnMessage, onSt: c.OnState,
		wake: make(chan struct{}, 1), done: make(chan struct{})}
}

// number counts what arrives. It is given at the reading itself: a message may
// wait for its session to be up while a later, urgent one does not.
func (d *dispatcher) number() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.n++
	return d.n
}

// message queues m and says whether there was room.
func (d *dispatcher) message(m Message) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queue) >= d.limit {
		return false
	}
	d.queue = append(d.queue, item{message: m})
	d.poke()
	return true
}

// first lets m overtake, and reports whether there was room. Beyond the limit it
// takes the place of the oldest on its topic, so that no flood of one stop shuts
// out another: the newest on each topic is never let go.
func (d *dispatcher) first(m Message) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.holds(m, time.Now()) {
		return true
	}
	defer d.poke()
	room := len(d.urgent) < d.limit
	if !room {
		if i := slices.IndexFunc(d.urgent, func(q Message) bool { return q.Topic == m.Topic }); i >= 0 {
			d.urgent = slices.Delete(d.urgent, i, i+1)
		}
	}
	d.urgent = append(d.urgent, m)
	return room
}

// state queues s without limit: states are few, and none may be missed.
func (d *dispatcher) state(s State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, item{state: &s})
	d.poke()
}

// end lets run return when all is handed over.
func (d *dispatcher) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	d.poke()
}

func (d *dispatcher) poke() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *dispatcher) run() {
	defer close(d.done)
	for range d.wake {
		for {
			it, ok, ended := d.next()
			if !ok {
				if ended {
					return
				}
				break
			}
			d.tell(it)
		}
	}
}

func (d *dispatcher) next() (it item, ok, ended bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.urgent) > 0 {
		it.message, d.urgent = d.urgent[0], d.urgent[1:]
		return it, true, false
	}
	if m, released := d.released(d.ended || len(d.queue) > 0, time.Now()); released {
		return item{message: m}, true, false
	}
	if len(d.queue) > 0 {
		it = d.queue[0]
		d.queue[0] = item{}
		if d.queue = d.queue[1:]; len(d.queue) == 0 {
			d.queue = nil
		}
		return it, true, false
	}
	return it, false, d.ended
}

// tell calls the user; a panic of his does not take the program down with it,
// because the other duties of the program outlive one bad message.
func (d *dispatcher) tell(it item) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("handler panicked", "topic", it.message.Topic, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	if it.state != nil {
		d.onSt(*it.state)
		return
	}
	d.onMsg(it.message)
}
