package link

import (
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// item is a state or a message for the user.
type item struct {
	state   *State
	message Message
}

// dispatcher hands states and messages to the user on one goroutine, in order; urgent
// messages overtake. It is the only place where they wait.
type dispatcher struct {
	limit      int
	log        *slog.Logger
	dedupKey   func(Message) string
	limitedLog *logLimiter
	onMessage  func(Message)
	onState    func(State)

	mu         sync.Mutex
	lastNumber uint64 // number of the last message received
	urgent     []Message
	coalesced  []*coalesced
	queue      []item
	ended      bool
	wake       chan struct{} // capacity 1: something to hand over
	done       chan struct{}
}

func newDispatcher(c Config) *dispatcher {
	return &dispatcher{limit: c.Queue, log: c.Logger, dedupKey: c.DedupKey, limitedLog: &logLimiter{log: c.Logger}, onMessage: c.OnMessage,
		onState: c.OnState,
		wake:    make(chan struct{}, 1), done: make(chan struct{})}
}

// nextNumber numbers a received message. It is called right after reading: a message may
// wait for its session to be up while a later, urgent one does not.
func (d *dispatcher) nextNumber() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lastNumber++
	return d.lastNumber
}

// pushMessage queues m and reports whether there was room.
func (d *dispatcher) pushMessage(m Message) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queue) >= d.limit {
		return false
	}
	d.queue = append(d.queue, item{message: m})
	d.wakeUp()
	return true
}

// pushUrgent lets m overtake, and reports whether there was room. Beyond the limit, m
// replaces the oldest message on its topic, so that a flood of one stop does not displace
// another: the newest message of each topic is never dropped.
func (d *dispatcher) pushUrgent(m Message) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.coalesce(m, time.Now()) {
		return true
	}
	defer d.wakeUp()
	room := len(d.urgent) < d.limit
	if !room {
		if i := slices.IndexFunc(d.urgent, func(q Message) bool { return q.Topic == m.Topic }); i >= 0 {
			d.urgent = slices.Delete(d.urgent, i, i+1)
		}
	}
	d.urgent = append(d.urgent, m)
	return room
}

// pushState queues s without a limit: states are few, and none may be missed.
func (d *dispatcher) pushState(s State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = append(d.queue, item{state: &s})
	d.wakeUp()
}

// end lets run return once everything is handed over.
func (d *dispatcher) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	d.wakeUp()
}

func (d *dispatcher) wakeUp() {
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
			d.deliver(it)
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
	if m, isHeld := d.takeHeld(d.ended || len(d.queue) > 0, time.Now()); isHeld {
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

// deliver calls the user. A panic of a handler does not end the program, because the
// program's other duties matter more than one bad message.
func (d *dispatcher) deliver(it item) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("handler panicked", "topic", it.message.Topic, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	if it.state != nil {
		d.onState(*it.state)
		return
	}
	d.onMessage(it.message)
}
