// Package sim is a body in software: units with believable physics, a small map
// and faults to order. Tests, demos and authors perform on it.
//
// One goroutine owns the body. Whatever the driver's methods and the controls
// want is put into an inbox that is never waited for; at most inboxLimit
// commands wait there, further ones fail as overloaded, stops and orders always
// go in. Events wait in the goroutine until somebody reads them: commands, units and
// stop inputs never lose one, of other sensors the oldest go first beyond eventLimit.
//
// The body's clock is its ticker: a computer that stands still for a second makes
// the body stand still with it, and no watchdog bites for it.
package sim

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"troupe/robotd/driver"
	"troupe/schema"
)

const (
	inboxLimit = 1024
	eventLimit = 1024
	restTicks  = 10 // while nothing happens the body looks only every so many ticks
)

// Config is which body it is. The zero value boots by itself: map, no homing.
type Config struct {
	Serial  string
	NoMap   bool
	Homing  bool    // head and drive have to be homed, which moves them
	Battery float64 // share at the start; 0 = full
	At      string  // point to start from; empty = dock
	Assets  string  // folder of the files that stories bring; empty: any is taken
}

// Sim is the body.
type Sim struct {
	config Config
	events chan driver.Event
	wake   chan struct{} // at most one is waiting
	fed    atomic.Bool

	mu     sync.Mutex // guards inbox, opened and shut
	inbox  []func()
	opened bool
	shut   bool

	quit   context.CancelFunc
	closed chan struct{} // when the goroutine has ended
	once   sync.Once

	// What follows belongs to the goroutine.
	out        []driver.Event
	sensed     int // events of sensors in out
	order      driver.Order
	movers     [2]mover // drive, head
	unfed      int
	pressed    map[string]bool // stop inputs
	at         place
	v, w       float64 // m/s, rad/s
	trip       *trip
	velocity   *driver.Velocity
	sinceSpeed time.Duration // that was told
	toldMoving bool
	gaze       gaze
	voices     []*voice
	face, led  lamp
	level      float64
	told       float64 // level, as last told
	charging   bool
	still      map[string]string // units that do not move and are broken: why
	failNext   map[string]schema.Reason
	hung       map[string]bool
	pace       float64
	calib      *calibration
}

// New returns a body that is not open yet.
func New(c Config) *Sim {
	s := &Sim{
		config: c,
		events: make(chan driver.Event),
		wake:   make(chan struct{}, 1),
		closed: make(chan struct{}),
		order:  driver.ToIdle,
		movers: [2]mover{{id: drive, state: driver.Idle, homed: !c.Homing}, {id: head, state: driver.Idle, homed: !c.Homing}},
		at:     points["dock"],
		face:   lamp{base: "neutral"}, led: lamp{base: "off"},
		level: c.Battery, pace: 1,
		pressed: map[string]bool{}, still: map[string]string{}, failNext: map[string]schema.Reason{}, hung: map[string]bool{},
	}
	if p, ok := points[c.At]; ok {
		s.at = p
	}
	if s.level <= 0 {
		s.level = 1
	}
	return s
}

// Events is where the body talks.
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

// Close ends the body and waits for it.
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

// post puts work for the goroutine into the inbox. It answers whether it will
// be looked at.
func (s *Sim) post(limited bool, f func()) bool {
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

// Start gives a unit something to do.
func (s *Sim) Start(c driver.Command) {
	if !s.post(true, func() { s.start(c) }) {
		s.post(false, func() { s.failed(c.Key, schema.ReasonOverloaded, "too many commands wait") })
	}
}

// Stop ends a command.
func (s *Sim) Stop(key uint64) { s.post(false, func() { s.stop(key) }) }

// Move drives manually.
func (s *Sim) Move(v driver.Velocity) { s.post(false, func() { s.move(v) }) }

// Order tells the units that move what they are allowed.
func (s *Sim) Order(o driver.Order) { s.post(false, func() { s.ordered(o) }) }

// Feed keeps the watchdog quiet.
func (s *Sim) Feed() { s.fed.Store(true) }

// run is the body's goroutine: it sleeps until it is woken, time passes, or
// somebody reads the next event.
func (s *Sim) run(ctx context.Context) {
	defer close(s.closed)
	defer close(s.events)
	for _, u := range s.Body().Units {
		s.tell(driver.Event{Kind: driver.Unit, Unit: u.ID, State: driver.Idle})
	}
	s.tellBattery()
	interval := driver.Tick
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		var to chan driver.Event
		var next driver.Event
		if len(s.out) > 0 {
			to, next = s.events, s.out[0]
		}
		select {
		case <-ctx.Done():
			return
		case to <- next:
			if sheds(next) {
				s.sensed--
			}
			s.out = s.out[1:]
		case <-s.wake:
			for _, f := range s.take() {
				f()
			}
		case <-ticker.C:
			s.pass(interval)
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

func (s *Sim) take() []func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	work := s.inbox
	s.inbox = nil
	return work
}

// pass lets dt pass for every unit, a tick at a time.
func (s *Sim) pass(dt time.Duration) {
	for ; dt > 0; dt -= driver.Tick {
		s.watch()
		s.settle(driver.Tick)
		own := time.Duration(float64(driver.Tick) * s.pace)
		s.roll(own)
		s.tellSpeed(driver.Tick)
		s.turnHead(own)
		s.speak(own)
		s.use(driver.Tick)
		s.calibrating(driver.Tick)
	}
}

// busy reports whether the body has to look at every tick.
func (s *Sim) busy() bool {
	return s.calib != nil || len(s.voices) > 0 || s.moving() || s.trip != nil || s.velocity != nil ||
		s.movers[0].unsettled(s.order) || s.movers[1].unsettled(s.order)
}

// start hands a command to its unit.
func (s *Sim) start(c driver.Command) {
	if why, ok := s.failNext[c.Unit]; ok {
		delete(s.failNext, c.Unit)
		s.failed(c.Key, why, "a fault that was ordered")
		return
	}
	if why, broken := s.still[c.Unit]; broken {
		s.failed(c.Key, schema.ReasonUnitError, why)
		return
	}
	if c.Do == nil {
		s.failed(c.Key, schema.ReasonBadRequest, "there is nothing to do in this command")
		return
	}
	switch c.Unit {
	case drive:
		s.startTrip(c)
	case head:
		s.startGaze(c)
	case speaker:
		s.startVoice(c)
	case face:
		s.startFace(c)
	case led:
		s.startLED(c)
	default:
		s.failed(c.Key, schema.ReasonBadRequest, "the "+c.Unit+" knows no "+string(c.Do.Type))
	}
}

// stop ends a command wherever it runs.
func (s *Sim) stop(key uint64) {
	if s.trip != nil && s.trip.key == key {
		s.trip = nil
	}
	if s.gaze.key == key {
		s.gaze.key, s.gaze.on = 0, false
	}
	s.silence(key)
	s.face.release(key)
	s.led.release(key)
}

func (s *Sim) tell(e driver.Event) {
	if sheds(e) {
		if s.sensed >= eventLimit {
			s.dropSensed()
		}
		s.sensed++
	}
	s.out = append(s.out, e)
}

// sheds reports whether an event may be left out when nobody reads: a newer one
// says more. A stop input is told whatever else floods.
func sheds(e driver.Event) bool {
	return e.Kind == driver.Sensed && e.Signal != driver.EStopInput || e.Kind == driver.Battery || e.Kind == driver.Speed
}

func (s *Sim) dropSensed() {
	for i, e := range s.out {
		if sheds(e) {
			s.out = append(s.out[:i], s.out[i+1:]...)
			s.sensed--
			return
		}
	}
}

func (s *Sim) done(key uint64) { s.tell(driver.Event{Kind: driver.Done, Key: key}) }

func (s *Sim) failed(key uint64, why schema.Reason, detail string) {
	s.tell(driver.Event{Kind: driver.Failed, Key: key, Reason: why, Detail: detail})
}

// Look shows the body as it is now, for tests and dashboards.
func (s *Sim) Look() Look {
	answer := make(chan Look, 1)
	if !s.post(false, func() { answer <- s.look() }) {
		return Look{}
	}
	select {
	case l := <-answer:
		return l
	case <-s.closed:
		return Look{}
	}
}

// Look is the body from outside.
type Look struct {
	X, Y, Theta      float64 // metres, radians
	V, W             float64 // m/s, rad/s
	Yaw, Pitch, Roll float64
	Saying           []string // texts, after the voice that was asked for, and sounds that are heard
	Face, LED        string
	Battery          float64
	Charging         bool
	Drive, Head      driver.State
	Pressed          map[string]bool
}

func (s *Sim) look() Look {
	l := Look{
		X: s.at.x, Y: s.at.y, Theta: s.at.theta, V: s.v, W: s.w,
		Yaw: s.gaze.now[0], Pitch: s.gaze.now[1], Roll: s.gaze.now[2],
		Face: s.face.shown(), LED: s.led.shown(), Battery: s.level, Charging: s.charging,
		Drive: s.movers[0].state, Head: s.movers[1].state, Pressed: maps.Clone(s.pressed),
	}
	for _, v := range s.voices {
		l.Saying = append(l.Saying, v.what)
	}
	return l
}
