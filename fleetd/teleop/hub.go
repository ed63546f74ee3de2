package teleop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/auth"
	"troupe/fleetd/drive"
	"troupe/fleetd/view"
	"troupe/schema"
)

// suffix ends the client id of the connection that carries frames, heartbeats and live stops.
const suffix = "drive"

// Hub has the sessions of all people who drive robots through this instance.
type Hub struct {
	deps   Deps
	leases leases

	link      atomic.Pointer[link.Link]
	connected atomic.Bool
	heardAt   atomic.Int64    // when a heartbeat of fleetd came back over the link, or when it connected, in Unix ns
	ctx       context.Context // of the sessions; ends with the hub
	end       context.CancelFunc

	mu       sync.Mutex
	closed   bool
	broker   string              // of the link
	sessions map[string]*session // the newest of each robot
	running  sync.WaitGroup
}

// Deps is what a Hub needs.
type Deps struct {
	Log       *slog.Logger
	Namespace schema.Namespace
	Name      string // of this instance
	Now       func() time.Time
	// Open makes another connection of this instance, whose client id ends with suffix.
	Open  func(ctx context.Context, suffix string, cfg link.Config) (*link.Link, error)
	Robot func(id string) (view.Detail, bool)
	// WantsSpeed reports whether the speed of a robot is wanted now, also if another client drives it, and Driven gets it.
	WantsSpeed func(robot string) bool
	Driven     func(robot string, speedMPS float64)
	// GiveBackControl gives control of a robot back, as a command of this person.
	GiveBackControl func(ctx context.Context, p auth.Principal, robot, by, lease, why string) error
}

// New makes a hub without sessions.
func New(d Deps) *Hub {
	h := &Hub{deps: d, leases: leases{name: d.Name, byRobot: map[string]lease{}}, sessions: map[string]*session{}}
	h.ctx, h.end = context.WithCancel(context.Background())
	return h
}

// Sessions is how many robots are driven through this instance.
func (h *Hub) Sessions() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sessions)
}

// Follow opens the connection that carries frames to a broker, the one of this instance's main
// link: robots come there, too. The connection reconnects by itself, and to no other broker.
func (h *Hub) Follow(broker string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.link.Load()
	if h.closed || old != nil && h.broker == broker {
		return
	}
	var opened *link.Link
	l, err := h.deps.Open(context.WithoutCancel(h.ctx), suffix, link.Config{
		URL: broker,
		Subscribe: []link.Subscription{
			{Filter: h.deps.Namespace.Topic(schema.TopicTelemetry, "+", "drive")},
			{Filter: h.deps.Namespace.Topic(schema.TopicFleetHeartbeat, h.deps.Name)},
		},
		OnMessage: h.receive,
		OnState: func(s link.State) {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.link.Load() == opened { // not one that is being closed
				h.connected.Store(s.Phase == link.Up)
				h.heardAt.Store(h.deps.Now().UnixNano())
			}
		},
		Logger: h.deps.Log.With("connection", "drive"),
	})
	if err != nil {
		h.deps.Log.Error("robots cannot be driven: the connection for it cannot be opened", "broker", broker, "error", err)
		return
	}
	opened = l
	h.link.Store(l)
	h.broker = broker
	if old != nil {
		h.running.Go(func() { _ = old.Close(h.ctx) })
	}
}

// silentAfter is how long none of fleetd's heartbeats came back over the connection of frames, one of which it sends every second,
// until the connection counts as half-open.
const silentAfter = 3 * time.Second

var errSilent = errors.New("fleetd's own heartbeats do not come back over the connection of frames")

// PublishUrgent publishes a message that must not wait behind commands on the connection that carries frames, as
// link.PublishLive does. An error says that it may not arrive: while that connection is down, and while it seems to be half-open.
func (h *Hub) PublishUrgent(ctx context.Context, m link.Message) error {
	l := h.link.Load()
	if l == nil {
		return link.ErrNotReady
	}
	if err := l.PublishLive(ctx, m); err != nil {
		return err
	}
	if h.deps.Now().Sub(time.Unix(0, h.heardAt.Load())) > silentAfter {
		return errSilent
	}
	return nil
}

// Close stops every robot that is driven, ends the sessions, and closes the connection.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.end()
	h.running.Wait()
	if l := h.link.Load(); l != nil {
		return l.Close(ctx)
	}
	return nil
}

// ReceiveAnswer receives a robot's answer to a command of this instance.
func (h *Hub) ReceiveAnswer(robot string, a schema.Ack) { h.leases.answered(robot, a) }

// ReceiveState receives a robot's state.
func (h *Hub) ReceiveState(robot string, s *schema.State) { h.leases.shown(robot, s) }

// ReceiveEvent receives an event of a robot, and passes the refusal of this instance's frames on to the
// device of the person who drives. It does not block.
func (h *Hub) ReceiveEvent(robot string, e *schema.Event) {
	if e.Type != "teleop_refused" || e.Source != h.deps.Name {
		return
	}
	h.mu.Lock()
	s := h.sessions[robot]
	h.mu.Unlock()
	var r refusal
	if s == nil || json.Unmarshal(e.Data, &r) != nil {
		return
	}
	select {
	case s.refusals <- r:
	default: // the robot reports it again as long as it refuses frames
	}
}

// receive receives the speed of a robot. It does not block.
func (h *Hub) receive(m link.Message) {
	row, params, ok := h.deps.Namespace.Match(m.Topic)
	if ok && row.Kind == schema.TopicFleetHeartbeat {
		h.heardAt.Store(h.deps.Now().UnixNano())
	}
	if !ok || row.Kind != schema.TopicTelemetry {
		return
	}
	h.mu.Lock()
	s := h.sessions[params.RID]
	h.mu.Unlock()
	measured := h.deps.WantsSpeed(params.RID)
	if s == nil && !measured {
		return
	}
	r, ok := decodeReport(m.Payload)
	if !ok {
		return
	}
	if speed, known := r.figures["vx_mps"].(float64); known && measured {
		h.deps.Driven(params.RID, math.Abs(speed))
	}
	if s != nil {
		s.reports.put(r)
	}
}

// Refused is the cause of the only message of a session that does not begin.
const Refused drive.Cause = "refused"

// Person is who drives.
type Person struct {
	Principal auth.Principal
	// Owns reports whether a lease belongs to the person; by is the name in the lease.
	Owns func(by string) bool
	// Forbidden returns why they may not drive any more; empty = they may. It may take a while.
	Forbidden func() string
}

// Begin begins a session of a person who has control of a robot, or says why not and what to do.
// The caller calls the session's Run once.
func (h *Hub) Begin(robot string, p Person) (*Session, error) {
	l := h.leases.of(robot)
	switch {
	case l.ID == "":
		return nil, fmt.Errorf("driving needs control of %s: %s; take control with control/acquire or control/takeover", robot, l.over)
	case !p.Owns(l.By):
		return nil, fmt.Errorf("%s has control of %s; ask them to give control back, or take it with control/takeover", l.By, robot)
	}
	now := h.deps.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errors.New("fleetd shuts down; try again when it runs again")
	}
	if old := h.sessions[robot]; old != nil && old.lease == l.ID {
		if !old.mayBeReplaced(now) {
			return nil, fmt.Errorf("%s is driven with this lease from another window or device; close it, or take control again here", robot)
		}
		old.replaced.Store(true)
	}
	s := newSession(h, robot, l, p, now)
	h.sessions[robot] = s
	h.running.Add(1)
	return &Session{s}, nil
}

// limits are those of driving the robot, by its capabilities.
func (h *Hub) limits(robot string) drive.Limits {
	d, _ := h.deps.Robot(robot)
	var units []schema.Unit
	if d.Caps != nil {
		units = d.Caps.Units
	}
	u, _ := schema.FindUnit(units, schema.UnitDrive, "")
	mps, radps := u.Speeds()
	return drive.LimitsOf(mps, radps, u.BrakingMPS2)
}

// publishWithin bounds how long a frame waits for its place on the connection; after that it
// is too old.
const publishWithin = 100 * time.Millisecond

// publish publishes a frame. With wait it returns only when the frame was written, as the last frame
// of a session must be.
func (h *Hub) publish(robot string, f schema.VelocityFrame, wait bool) error {
	payload, err := schema.Encode(&f)
	if err != nil {
		return fmt.Errorf("encode frame: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), publishWithin)
	defer cancel()
	l := h.link.Load()
	if l == nil {
		return link.ErrNotReady
	}
	m := link.Message{Topic: h.deps.Namespace.Topic(schema.TopicTeleop, robot, h.deps.Name), Payload: payload}
	if wait {
		err = l.PublishWait(ctx, m)
	} else {
		err = l.Publish(ctx, m)
	}
	if errors.Is(err, link.ErrNotReady) {
		h.connected.Store(false)
	}
	return err
}

// forget removes a session that ended.
func (h *Hub) forget(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions[s.robot] == s {
		delete(h.sessions, s.robot)
	}
}
