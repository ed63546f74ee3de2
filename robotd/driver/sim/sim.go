// Package sim is a simulated body: units with plausible physics, a small map, and
// faults that tests and demos can inject. Authors try their stories on it.
//
// One goroutine owns the body. The methods put their work into an inbox and never
// wait for it. At most inboxLimit commands wait there; further commands fail as
// overloaded, but stops and orders are always accepted. Events queue in the goroutine
// until they are read, see driver.Queue.
//
// The body's clock is its ticker: if the whole computer pauses for a second, the
// body pauses too and its watchdog does not trip.
package sim

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
)

const (
	inboxLimit = 1024
	restTicks  = 10 // an idle body wakes up only once in so many ticks
)

// Config configures the body. The zero value has a map and needs no homing.
type Config struct {
	Serial   string
	NoMap    bool
	Homing   bool    // head and drive need homing, which moves them
	Battery  float64 // initial charge, 0..1; 0 means full
	Charging float64 // share of the battery that the dock charges in a minute; 0 means 0.05
	DeadDock bool    // the dock does not charge
	Speed    float64 // how many times as fast as in reality battery and temperatures change; 0 means 1
	At       string  // point to start from; empty = dock
	Pairs    bool    // two heads, faces, leds and screens; the second ones are head-2 and so on
	Assets   string  // directory of the stories' files; empty: every asset is accepted and lasts a second
}

// Sim is the simulated body.
type Sim struct {
	config Config
	units  []schema.Unit
	events chan driver.Event
	wake   chan struct{} // capacity 1
	fed    atomic.Bool

	mu     sync.Mutex // guards inbox, opened, shut
	inbox  []func()
	opened bool
	shut   bool

	quit   context.CancelFunc
	closed chan struct{} // closed when the goroutine has ended
	once   sync.Once

	// The fields below belong to the goroutine.
	out            driver.Queue
	order          driver.Order
	movers         []mover // the drive, then the heads
	unfed          int
	pressed        map[string]bool // stop inputs that are pressed
	at             position
	v, w           float64 // m/s, rad/s
	trip           *trip
	obstacles      []place
	velocity       *driver.Velocity
	sinceSpeed     time.Duration // since the last speed report
	reportedMoving bool
	voices         []*voice
	displays       map[string]*display // faces, leds and screens, by unit
	cruise         *cruise
	pose           pose
	level          float64
	reportedLevel  float64 // level in the last report
	charging       bool
	chargeRate     float64 // share of the battery per second, at the dock
	deadDock       bool
	brokenUnits    map[string]string // faults of broken units that do not move
	failNext       map[string]schema.Reason
	hung           map[string]bool
	pace           float64
	calib          *calibration
}

// New returns a body that is not open yet.
func New(c Config) *Sim {
	s := &Sim{
		config:   c,
		events:   make(chan driver.Event),
		wake:     make(chan struct{}, 1),
		closed:   make(chan struct{}),
		order:    driver.ToIdle,
		displays: map[string]*display{},
		at:       position{place: points["dock"]},
		pose:     pose{now: upright, to: upright},
		level:    c.Battery, pace: 1, chargeRate: cmp.Or(c.Charging, charging) / 60, deadDock: c.DeadDock,
		pressed: map[string]bool{}, brokenUnits: map[string]string{}, failNext: map[string]schema.Reason{}, hung: map[string]bool{},
	}
	s.at.chart = s.ownChart()
	s.movers = append(s.movers, mover{id: drive})
	s.units = s.Body().Units
	for _, u := range s.units {
		if k, _ := s.kind(u.ID); k.shows != "" {
			s.displays[u.ID] = &display{base: k.shows}
		} else if u.Kind.Moves() && u.ID != drive {
			s.movers = append(s.movers, mover{id: u.ID})
		}
	}
	for i := range s.movers {
		s.movers[i].state, s.movers[i].homed = driver.Idle, !c.Homing
		s.movers[i].heat = heat{celsius: ambient, reported: ambient}
	}
	if p, ok := points[c.At]; ok {
		s.at.place = p
	}
	if s.level <= 0 {
		s.level = 1
	}
	return s
}

// Events returns the channel of the body's events.
func (s *Sim) Events() <-chan driver.Event { return s.events }

// Open starts the body.
func (s *Sim) Open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened || s.shut {
		return errors.New("open the simulated body: it was opened before")
	}
	s.opened = true
	loop, quit := context.WithCancel(context.Background())
	s.quit = quit
	go s.run(loop)
	return nil
}

// Close stops the body and waits until its goroutine has ended.
func (s *Sim) Close() error {
	s.mu.Lock()
	s.shut = true
	opened := s.opened
	s.mu.Unlock()
	s.once.Do(func() {
		if opened {
			s.quit()
			return
		}
		close(s.events)
		close(s.closed)
	})
	<-s.closed
	return nil
}

// enqueue adds work for the goroutine to the inbox. It reports whether the work was
// accepted.
func (s *Sim) enqueue(limited bool, f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shut || limited && len(s.inbox) >= inboxLimit {
		return false
	}
	s.inbox = append(s.inbox, f)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return true
}

// Start starts a command.
func (s *Sim) Start(c driver.Command) {
	if !s.enqueue(true, func() { s.start(c) }) {
		s.enqueue(false, func() { s.failed(c.Key, schema.ReasonOverloaded, "too many commands wait") })
	}
}

// Stop ends a command.
func (s *Sim) Stop(key uint64) { s.enqueue(false, func() { s.stop(key) }) }

// Move sets the velocity for manual driving.
func (s *Sim) Move(v driver.Velocity) { s.enqueue(false, func() { s.setVelocity(v) }) }

// Order sets the order for the units that move; it stays in force.
func (s *Sim) Order(o driver.Order) { s.enqueue(false, func() { s.applyOrder(o) }) }

// Feed resets the watchdog.
func (s *Sim) Feed() { s.fed.Store(true) }

// run is the body's goroutine. It sleeps until there is work, the ticker fires, or
// the next event is read.
func (s *Sim) run(ctx context.Context) {
	defer close(s.closed)
	defer close(s.events)
	s.emitAll()
	interval := driver.Tick
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		to, next := s.out.Next(s.events)
		select {
		case <-ctx.Done():
			return
		case to <- next:
			s.out.Pop()
		case <-s.wake:
			for _, f := range s.takeInbox() {
				f()
			}
		case <-ticker.C:
			s.advance(interval)
		}
		want := driver.Tick
		if !s.busy() {
			want = restTicks * driver.Tick
		}
		if want != interval {
			interval = want
			ticker.Reset(interval)
		}
	}
}

// emitAll reports everything once, as after Open.
func (s *Sim) emitAll() {
	for _, u := range s.units {
		s.emit(driver.Event{Kind: driver.Unit, Unit: u.ID, State: driver.Idle})
	}
	s.emitBattery()
	s.emitPosition()
}

func (s *Sim) takeInbox() []func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	work := s.inbox
	s.inbox = nil
	return work
}

// advance simulates dt for every unit, one tick at a time. At rest only time passes, whatever its amount.
func (s *Sim) advance(dt time.Duration) {
	if !s.busy() {
		s.checkWatchdog()
		s.takeDue(dt)
		slow := time.Duration(float64(dt) * cmp.Or(s.config.Speed, 1))
		s.drainBattery(slow)
		s.warm(slow)
		return
	}
	for ; dt > 0; dt -= driver.Tick {
		s.checkWatchdog()
		s.takeDue(driver.Tick)
		own := time.Duration(float64(driver.Tick) * s.pace)
		s.moveDrive(own)
		s.emitSpeed(driver.Tick)
		s.movePose(own)
		for i := range s.heads() {
			s.turnHead(&s.heads()[i], own)
			s.emitAngles(&s.heads()[i], own)
		}
		s.playVoices(own)
		slow := time.Duration(float64(driver.Tick) * cmp.Or(s.config.Speed, 1))
		s.drainBattery(slow)
		s.warm(slow)
		s.advanceCalibration(driver.Tick)
	}
}

// busy reports whether the body has to simulate every tick.
func (s *Sim) busy() bool {
	return s.calib != nil || len(s.voices) > 0 || s.moving() || s.trip != nil || s.velocity != nil || s.cruise != nil || s.pose.active ||
		slices.ContainsFunc(s.movers, func(m mover) bool { return m.awaitsTime(s.order) })
}

// start hands a command to its unit.
func (s *Sim) start(c driver.Command) {
	if why, ok := s.failNext[c.Unit]; ok {
		delete(s.failNext, c.Unit)
		s.failed(c.Key, why, "an injected fault")
		return
	}
	if why, broken := s.brokenUnits[c.Unit]; broken {
		s.failed(c.Key, schema.ReasonUnitError, why)
		return
	}
	if c.Do == nil {
		s.failed(c.Key, schema.ReasonBadRequest, "the command has no action")
		return
	}
	if k, _ := s.kind(c.Unit); k.start != nil {
		k.start(s, c)
	} else {
		s.failed(c.Key, schema.ReasonBadRequest, "the "+c.Unit+" knows no "+string(c.Do.Type()))
	}
}

// stop ends a command wherever it runs.
func (s *Sim) stop(key uint64) {
	if s.trip != nil && s.trip.key == key {
		s.trip = nil
	}
	for i := range s.heads() {
		if g := &s.heads()[i].gaze; g.key == key {
			g.rest()
		}
	}
	s.stopCruise(key)
	s.stopPose(key)
	s.stopVoice(key)
	for _, l := range s.displays {
		l.release(key)
	}
}
