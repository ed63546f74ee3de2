// Package bustest serves a body of this process on a bus, as adapters do: tests connect the
// simulated one to the driver under test, and try wrong adapters on it.
package bustest

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"troupe/broker/link"
	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/bus"
)

// Config says which body is served where.
type Config struct {
	URL  string
	Dial func(ctx context.Context) (net.Conn, error) // replaces URL within one process
	Body driver.Driver                               // opened and closed by the adapters
	// Parts are the adapters by name, with the kinds of the units of each. Units that move
	// belong to one of them.
	Parts map[string][]schema.UnitKind
	// Session is the session of each adapter; empty: s1.
	Session string
	// Spoil changes what an adapter sends, and returns nil to send nothing. what is the end
	// of its topic.
	Spoil func(adapter, what string, payload []byte) []byte
	// Strict adapters ignore a start with fields that they do not know.
	Strict bool
}

// Adapters serve a body. One goroutine owns all of them.
type Adapters struct {
	config Config
	parts  []*part
	inbox  chan func()
	quit   context.CancelFunc
	closed chan struct{}
	start  time.Time
	keys   map[uint64]*part
	calib  *calibration
}

// part is one adapter.
type part struct {
	name   string
	units  []schema.Unit
	moves  bool
	link   *link.Link
	seq    int64
	now    map[string]bus.UnitState
	order  bus.Order
	inputs map[string]bool // stop inputs that are pressed
	failed error
}

// Serve opens the body and connects its adapters. It does not wait until they are connected.
func Serve(ctx context.Context, c Config) (*Adapters, error) {
	if c.Session == "" {
		c.Session = "s1"
	}
	a := &Adapters{config: c, inbox: make(chan func(), 64), closed: make(chan struct{}), start: time.Now(), keys: map[uint64]*part{}}
	if err := c.Body.Open(ctx); err != nil {
		return nil, err
	}
	loop, quit := context.WithCancel(ctx)
	a.quit = quit
	for name, kinds := range c.Parts {
		p := &part{name: name, now: map[string]bus.UnitState{}, inputs: map[string]bool{}}
		for _, u := range c.Body.Body().Units {
			if slices.Contains(kinds, u.Kind) {
				p.units = append(p.units, u)
				p.moves = p.moves || u.Kind.Moves()
			}
		}
		a.parts = append(a.parts, p)
	}
	for _, p := range a.parts {
		for _, u := range p.units {
			p.now[u.ID] = firstState(u)
		}
		l, err := link.Open(loop, a.linkConfig(loop, p))
		if err != nil {
			quit()
			return nil, err
		}
		p.link = l
	}
	go a.run(loop)
	return a, nil
}

func firstState(u schema.Unit) bus.UnitState {
	s := bus.UnitState{State: "idle"}
	zero, full := 0.0, 1.0
	switch u.Kind {
	case schema.UnitDrive:
		s.VXMPS, s.WZRadPS = &zero, &zero
	case schema.UnitHead:
		s.YawRad, s.PitchRad, s.RollRad = &zero, &zero, &zero
	case schema.UnitBattery:
		s.Level = &full
	}
	return s
}

// Close ends the adapters in an orderly way, and the body.
func (a *Adapters) Close() error { return a.end(true) }

// Kill ends the adapters as a crash would: their wills are sent.
func (a *Adapters) Kill() error { return a.end(false) }

func (a *Adapters) end(orderly bool) error {
	if orderly {
		for _, p := range a.parts {
			_ = p.link.Close(context.Background(), a.presence(p, false)) // the will says the same
		}
	}
	a.quit()
	<-a.closed
	for _, p := range a.parts {
		_ = p.link.Close(context.Background())
	}
	return a.config.Body.Close()
}

func (a *Adapters) linkConfig(ctx context.Context, p *part) link.Config {
	return link.Config{
		URL: a.config.URL, Dial: a.config.Dial, ClientID: p.name,
		Will: a.presence(p, false), Presence: a.presence(p, true),
		Subscribe: []link.Subscription{{Filter: bus.In(p.name, "#"), QoS: 1}, {Filter: bus.Out(p.name, bus.OutPresence), QoS: 1},
			{Filter: bus.RobotPresenceTopic, QoS: 1}},
		OnMessage: func(m link.Message) { a.do(ctx, func() { a.receive(ctx, p, m) }) },
		OnState: func(s link.State) {
			switch s.Phase {
			case link.Up:
				a.do(ctx, func() { a.reportInputs(p) })
			case link.Down:
				a.do(ctx, func() { a.robotdGone(p) })
			}
		},
	}
}

func (a *Adapters) do(ctx context.Context, f func()) {
	select {
	case a.inbox <- f:
	case <-ctx.Done():
	}
}

func (a *Adapters) presence(p *part, there bool) func(string) link.Message {
	return func(string) link.Message {
		m := bus.Presence{V: bus.Version, Present: there, Session: a.config.Session}
		if there {
			d := a.config.Body.Body()
			m.Describe = &bus.Describe{Model: d.Model, Serial: d.Serial, Hardware: d.Hardware, StateMS: bus.MinStateMS, Units: p.units}
			if p.moves {
				m.Describe.Points, m.Describe.Homing, m.Describe.Calibrates = d.Points, d.Homing, true
			} else {
				m.Describe.Languages = d.Languages
			}
			if len(a.parts) == 1 {
				m.Describe.Languages = d.Languages
			}
		}
		return link.Message{Topic: bus.Out(p.name, bus.OutPresence), Payload: a.encode(p, bus.OutPresence, m), QoS: 1, Retain: true}
	}
}

func (a *Adapters) encode(p *part, what string, v any) []byte {
	payload, err := schema.Encode(v)
	if err != nil {
		panic(err)
	}
	if a.config.Spoil != nil {
		return a.config.Spoil(p.name, what, payload)
	}
	return payload
}

// Presence returns the presence of an adapter.
func (a *Adapters) Presence(adapter string) []byte {
	for _, p := range a.parts {
		if p.name == adapter {
			return a.presence(p, true)("").Payload
		}
	}
	return nil
}

// Publish sends a payload as the adapter.
func (a *Adapters) Publish(adapter, what string, payload []byte) error {
	for _, p := range a.parts {
		if p.name == adapter {
			return p.link.Publish(context.Background(), link.Message{Topic: bus.Out(adapter, what), Payload: payload})
		}
	}
	return fmt.Errorf("publish: there is no adapter %s", adapter)
}

func (a *Adapters) publish(p *part, what string, qos byte, v any) {
	if payload := a.encode(p, what, v); payload != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		p.failed = p.link.Publish(ctx, link.Message{Topic: bus.Out(p.name, what), Payload: payload, QoS: qos})
	}
}

func (a *Adapters) run(ctx context.Context) {
	defer close(a.closed)
	ticker := time.NewTicker(bus.MinStateMS * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case f := <-a.inbox:
			f()
		case e := <-a.config.Body.Events():
			a.report(e)
		case <-ticker.C:
			for _, p := range a.parts {
				a.state(p)
			}
		}
	}
}

func (a *Adapters) state(p *part) {
	p.seq++
	a.publish(p, bus.OutState, 0, bus.State{V: bus.Version, Session: a.config.Session, Seq: p.seq, TMS: time.Since(a.start).Milliseconds(),
		Units: p.now})
}

func (a *Adapters) event(p *part, e bus.Event) {
	e.V, e.Session = bus.Version, a.config.Session
	a.publish(p, bus.OutEvent, 1, e)
}

// mover is the part with the units that move, else the first.
func (a *Adapters) mover() *part {
	return a.parts[max(0, slices.IndexFunc(a.parts, func(p *part) bool { return p.moves }))]
}

// of returns the part that has a unit.
func (a *Adapters) of(match func(schema.Unit) bool) (*part, string) {
	for _, p := range a.parts {
		if i := slices.IndexFunc(p.units, match); i >= 0 {
			return p, p.units[i].ID
		}
	}
	return nil, ""
}

func kindIs(k schema.UnitKind) func(schema.Unit) bool {
	return func(u schema.Unit) bool { return u.Kind == k }
}
