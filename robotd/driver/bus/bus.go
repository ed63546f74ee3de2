// Package bus is a body whose units are served by adapters: processes in any language, over
// MQTT on the robot. Package schema/bus is the contract with them.
//
// One goroutine owns the body. The methods put their work into an inbox and never wait for
// it, and so does the link for what adapters send: at most inboxLimit commands wait there,
// and of each adapter no more messages than its rate allows. Stops and orders are always
// accepted.
//
// The driver and its adapters watch each other. The driver answers commands by itself when
// their unit may not run any more, trusts no adapter's word about permission, and distrusts
// what moves when its adapter was lost or wrong: such a unit stays in error until a reset. It
// counts its own ticks, so that pausing the whole computer is no fault.
//
// A stop is at most two steps of the robot's loop (TestStopCutsOffTheShutdownActInTwoSteps of
// robotd/brain) and then one message on the bus, which waits for no tick
// (TestStopIsOneDeliveryToTheAdapter). Medians of 300 stops on two processors that had other
// work: 0.36 ms from Order until the adapter gives the order to its motors, beside 0.33 ms for
// the bare delivery of such a message over the same broker (BenchmarkStop); 1.1 ms from a
// client's stop on the broker of the fleet, beside 0.45 ms for its bare delivery there
// (BenchmarkStopAtTheAdapter of robotd/robot).
package bus

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"troupe/broker/link"
	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/bus"
)

const (
	inboxLimit = 1024
	tickMS     = int(driver.Tick / time.Millisecond)
	healTicks  = int(bus.HealAfter / driver.Tick)
	// perTick is how many messages of an adapter are taken in a tick, on average.
	perTick    = bus.MaxRate * tickMS / 1000
	closeGrace = 500 * time.Millisecond
)

// Config says where the bus is and which adapters make the body.
type Config struct {
	URL      string                                      // mqtt://host:port
	Dial     func(ctx context.Context) (net.Conn, error) // replaces URL within one process
	Adapters []string                                    // names
	Wait     time.Duration                               // for all of them at Open; 0 means 30 s
	Waiting  func(what string)                           // called every few seconds while Open waits, if set
	// Told to the adapters: the robot's name, its language, and the directory of the stories'
	// files.
	Robot, Language, Assets string
	Logger                  *slog.Logger
}

// Bus is the body.
type Bus struct {
	config     Config
	log        *slog.Logger
	body       driver.Body // set before Open returns
	events     chan driver.Event
	wake       chan struct{} // capacity 1
	fed        atomic.Bool
	link       *link.Link
	rateLimits map[string]*rateLimit // the limit of messages of each adapter; read-only

	mu     sync.Mutex // guards inbox, opened, shut
	inbox  []func()
	opened bool
	shut   bool

	quit   context.CancelFunc
	ready  chan struct{} // closed when every adapter has been good
	closed chan struct{} // closed when the goroutine has ended
	once   sync.Once

	// The fields below belong to the goroutine.
	out      driver.Queue
	adapters []*adapter
	unused   map[string]bool // other adapters that are present, by their names
	running  map[uint64]*command
	order    driver.Order
	isReady  bool
	seq      int64
	ticks    int
	calib    *calibration
	calibs   uint64
}

// New returns a body that is not open yet.
func New(c Config) *Bus {
	b := &Bus{
		config: c, log: c.Logger, events: make(chan driver.Event), wake: make(chan struct{}, 1), ready: make(chan struct{}),
		closed: make(chan struct{}),
		body:   driver.Body{Driver: "bus"}, rateLimits: map[string]*rateLimit{}, unused: map[string]bool{}, running: map[uint64]*command{},
		order: driver.ToIdle,
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if b.config.Wait == 0 {
		b.config.Wait = waitForAdapters
	}
	for _, name := range c.Adapters {
		b.adapters = append(b.adapters, newAdapter(name))
		b.rateLimits[name] = &rateLimit{}
		b.rateLimits[name].tokens.Store(bus.MaxBurst)
	}
	return b
}

// Body describes the body. Before Open it has no units: the adapters describe them.
func (b *Bus) Body() driver.Body { return b.body }

// Events returns the channel of the body's events.
func (b *Bus) Events() <-chan driver.Event { return b.events }

// Close tells the adapters that robotd is gone, which stops all motion, and waits until the
// goroutine has ended.
func (b *Bus) Close() error {
	b.mu.Lock()
	b.shut = true
	opened := b.opened
	b.mu.Unlock()
	b.once.Do(func() {
		switch {
		case !opened:
			close(b.events)
			close(b.closed)
		case b.link != nil:
			ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
			defer cancel()
			if err := b.link.Close(ctx, b.presence(false)); err != nil {
				b.log.Warn("last presence on the bus not confirmed; the last will replaces it", "error", err)
			}
			b.quit()
		}
	})
	<-b.closed
	return nil
}

// enqueue adds work for the goroutine to the inbox. It reports whether the work was
// accepted.
func (b *Bus) enqueue(limited bool, f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut || limited && len(b.inbox) >= inboxLimit {
		return false
	}
	b.inbox = append(b.inbox, f)
	b.wakeUp()
	return true
}

func (b *Bus) wakeUp() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Start starts a command.
func (b *Bus) Start(c driver.Command) {
	if !b.enqueue(true, func() { b.start(c) }) {
		b.enqueue(false, func() { b.failed(c.Key, schema.ReasonOverloaded, "too many commands wait") })
	}
}

// Stop ends a command.
func (b *Bus) Stop(key uint64) { b.enqueue(false, func() { b.stop(key) }) }

// Move sets the velocity for manual driving.
func (b *Bus) Move(v driver.Velocity) { b.enqueue(true, func() { b.move(v) }) }

// Order sets the order for the units that move; it stays in force.
func (b *Bus) Order(o driver.Order) { b.enqueue(false, func() { b.applyOrder(o) }) }

// Feed resets the adapters' watchdogs.
func (b *Bus) Feed() {
	b.fed.Store(true)
	b.wakeUp()
}

// run is the body's goroutine.
func (b *Bus) run(ctx context.Context) {
	defer close(b.closed)
	defer close(b.events)
	ticker := time.NewTicker(driver.Tick)
	defer ticker.Stop()
	for {
		to, next := b.out.Next(b.events)
		select {
		case <-ctx.Done():
			return
		case to <- next:
			b.out.Pop()
			continue
		case <-b.wake:
			b.work()
		case <-ticker.C:
			b.work() // first what has come: it may not have been late
			b.tick()
		}
	}
}

// work does what waits in the inbox.
func (b *Bus) work() {
	b.mu.Lock()
	work := b.inbox
	b.inbox = nil
	b.mu.Unlock()
	for _, f := range work {
		f()
	}
	if b.fed.Swap(false) {
		b.feed()
	}
}

// tick judges what has not come.
func (b *Bus) tick() {
	b.ticks++
	for _, a := range b.adapters {
		t := b.rateLimits[a.name]
		if t.refill() {
			b.judge(a, flooded, fmt.Sprintf("over %d messages per second", bus.MaxRate))
		}
		a.watch.rival, a.watch.mayNotMove = b.rivalOf(a), a.sent != driver.ToRun
		on, what := a.watch.onTick()
		b.judge(a, on, what)
		b.confirmInputs(a)
		if a.ordered++; a.unsent {
			b.send(a)
		}
		if b.ticks%repeatHealth == 0 {
			b.publishHealth(a)
		}
	}
	if b.ticks%repeatHealth == 0 {
		for name := range b.unused {
			b.publishUnused(name)
		}
	}
}
