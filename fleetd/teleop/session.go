package teleop

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"troupe/fleetd/drive"
)

const (
	// lookEvery is how often a session looks at the time.
	lookEvery = 25 * time.Millisecond
	// checkEvery is how often a session asks whether the person may still drive.
	checkEvery = time.Second
	// releaseWithin bounds how long giving control back may take.
	releaseWithin = 5 * time.Second
	// inFlight is for how many frames a session remembers when they were sent.
	inFlight = 64
)

// Conn is the connection to a person's device. Read and Write are each called by one
// goroutine; Close ends both, and may be called again.
type Conn interface {
	Read() ([]byte, error)
	Write(m Message) error
	Close()
}

// Session is a session that has begun.
type Session struct{ *session }

// session is one person who drives one robot over one connection.
type session struct {
	hub    *Hub
	robot  string
	lease  string
	by     string
	person Person

	heard     atomic.Int64 // when the newest frame arrived, in nanoseconds
	replaced  atomic.Bool
	forbidden atomic.Pointer[string]
	limits    atomic.Pointer[drive.Limits]
	reports   newest
	refusals  chan refusal

	// Owned by Run.
	state  drive.State
	out    chan Message
	gone   bool
	seen   report
	seenAt time.Time
	trip   time.Duration
	sentAt map[int64]time.Time
}

func newSession(h *Hub, robot string, l lease, p Person, now time.Time) *session {
	s := &session{
		hub: h, robot: robot, lease: l.ID, by: l.By, person: p,
		reports: newest{changed: make(chan struct{}, 1)}, refusals: make(chan refusal, 1), state: drive.New(now), out: make(chan Message, 64),
		sentAt: map[int64]time.Time{},
	}
	s.heard.Store(now.UnixNano())
	return s
}

// mayBeReplaced reports whether no frame came for so long that another connection may drive with the lease.
func (s *session) mayBeReplaced(now time.Time) bool {
	return now.Sub(time.Unix(0, s.heard.Load())) >= drive.FrameGap
}

// Run drives until the session ends. It closes the connection.
func (s *Session) Run(conn Conn) {
	defer s.hub.running.Done()
	ctx, cancel := context.WithCancel(s.hub.ctx)
	var all, written sync.WaitGroup
	frames := make(chan Frame, 8)
	s.check()
	all.Go(func() { s.checkAgain(ctx) })
	written.Go(func() { s.write(conn) })
	all.Go(func() { s.read(ctx, conn, frames) })
	log := s.hub.deps.Log.With("robot", s.robot, "by", s.by)
	log.Info("driving began")
	cause := s.drive(frames)
	log.Info("driving ended", "cause", string(cause))
	s.hub.forget(s.session)
	close(s.out) // write closes the connection, which ends read
	written.Wait()
	cancel()
	all.Wait()
}

// drive is the loop of the session. It returns why the session ended.
func (s *session) drive(frames <-chan Frame) drive.Cause {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	limits := *s.limits.Load()
	s.tell(Message{Type: TypeLimits, MPS: limits.MPS, RadPS: limits.RadPS})
	for {
		var d drive.Decision
		select {
		case f, ok := <-frames:
			if !ok {
				frames, s.gone = nil, true
				d = drive.Tick(&s.state, s.hub.deps.Now(), s.facts())
				break
			}
			now := s.hub.deps.Now()
			d = drive.Receive(&s.state, now, s.facts(), f.drive())
			s.heard.Store(s.state.Heard().UnixNano())
			s.tell(Message{Type: TypeEcho, Seq: f.Seq, T: f.T, RobotMS: s.trip.Milliseconds()})
		case <-s.reports.changed:
			s.report(s.reports.take())
			d = drive.Tick(&s.state, s.hub.deps.Now(), s.facts())
		case r := <-s.refusals:
			s.tell(Message{Type: TypeRefused, Cause: drive.Cause(r.Reason), Detail: r.Detail})
			d = drive.Tick(&s.state, s.hub.deps.Now(), s.facts())
		case <-tick.C:
			d = drive.Tick(&s.state, s.hub.deps.Now(), s.facts())
		case <-s.hub.ctx.Done():
			d = drive.Tick(&s.state, s.hub.deps.Now(), s.facts())
		}
		s.carryOut(d)
		if d.To == drive.Ended {
			return d.On
		}
	}
}

// facts are the facts of now.
func (s *session) facts() drive.Facts {
	l := s.hub.leases.of(s.robot)
	if l.ID != "" && l.ID != s.lease {
		l.over = l.By + " has taken control"
	}
	return drive.Facts{
		Lease: l.ID, Why: l.over, Forbidden: *s.forbidden.Load(), Gone: s.gone, Ending: s.hub.ctx.Err() != nil, Replaced: s.replaced.Load(),
		Connected: s.hub.connected.Load(), Limits: *s.limits.Load(), SeenMonoMS: s.seen.monoMS, SeenAt: s.seenAt, RobotLatency: s.trip,
	}
}

// report takes the robot's report of its speed.
func (s *session) report(r report) {
	now := s.hub.deps.Now()
	s.seen, s.seenAt = r, now
	if at, ok := s.sentAt[r.frame]; ok {
		s.trip = max(now.Sub(at)-r.age, 0)
	}
	s.tell(Message{Type: TypeRobot, MonoMS: r.monoMS, Figures: r.figures})
}

func (s *session) carryOut(d drive.Decision) {
	ended := d.To == drive.Ended
	if f := d.Send; f != nil {
		if err := s.hub.publish(s.robot, *f, ended); err == nil {
			if len(s.sentAt) >= inFlight {
				clear(s.sentAt)
			}
			s.sentAt[f.Seq] = s.hub.deps.Now()
		}
	}
	if d.Zeroed != "" {
		s.hub.deps.Log.Warn("fleetd stopped a robot that was driven", "robot", s.robot, "by", s.by, "cause", string(d.Zeroed))
		if !ended {
			s.tell(Message{Type: TypeStopped, Cause: d.Zeroed, Detail: d.Why})
		}
	}
	if ended {
		detail := d.Why
		if d.Detail != "" {
			detail += ": " + d.Detail
		}
		s.tell(Message{Type: TypeEnded, Cause: d.On, Detail: detail})
	}
	if d.GiveBackControl {
		s.giveBackControl(d)
	}
}

// giveBackControl gives control back. Without the database it cannot, and the lease runs out.
func (s *session) giveBackControl(d drive.Decision) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.hub.ctx), releaseWithin)
	defer cancel()
	if err := s.hub.deps.GiveBackControl(ctx, s.person.Principal, s.robot, s.by, s.lease, d.Why); err != nil {
		s.hub.deps.Log.Error("control not given back", "robot", s.robot, "by", s.by, "error", err)
	}
}

// tell queues a message for the person's device. A device that does not read misses messages; it
// measures how old they are, and stops driving.
func (s *session) tell(m Message) {
	select {
	case s.out <- m:
	default:
	}
}

// write writes messages until there are no more.
func (s *session) write(conn Conn) {
	for m := range s.out {
		if conn.Write(m) != nil {
			conn.Close()
		}
	}
	conn.Close()
}

// read reads frames until the connection ends or something else comes, and closes frames then.
func (s *session) read(ctx context.Context, conn Conn, frames chan<- Frame) {
	defer close(frames)
	defer conn.Close()
	for {
		text, err := conn.Read()
		if err != nil {
			return
		}
		f, err := decodeFrame(text)
		if err != nil {
			return
		}
		select {
		case frames <- f:
		case <-ctx.Done():
			return
		}
	}
}

// check asks whether the person may still drive, and what the robot can do.
func (s *session) check() {
	why, limits := s.person.Forbidden(), s.hub.limits(s.robot)
	s.forbidden.Store(&why)
	s.limits.Store(&limits)
}

func (s *session) checkAgain(ctx context.Context) {
	t := time.NewTicker(checkEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			s.check()
		}
	}
}

// newest keeps the newest report of the robot's speed.
type newest struct {
	changed chan struct{} // capacity 1

	mu sync.Mutex
	r  report
}

func (n *newest) put(r report) {
	n.mu.Lock()
	n.r = r
	n.mu.Unlock()
	select {
	case n.changed <- struct{}{}:
	default:
	}
}

func (n *newest) take() report {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.r
}
