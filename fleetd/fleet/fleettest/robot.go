// Package fleettest gives tests of fleetd a robot that is nothing but its side
// of the contract: it connects, sends heartbeats and its state, accepts stories and answers
// commands, or does not, as the test says.
package fleettest

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"troupe/broker/link"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

// Timeout is how long a test waits for what must come. A test that waits so long
// has failed; it is no measure of anything.
const Timeout = 20 * time.Second

// Dial opens a connection to the broker.
type Dial func(ctx context.Context) (net.Conn, error)

// Robot is a robot without a body.
type Robot struct {
	t      testing.TB
	ID     string
	link   *link.Link // set before opened is closed
	opened chan struct{}
	ns     schema.Namespace
	boot   string
	done   chan struct{}
	once   sync.Once

	mu         sync.Mutex
	began      time.Time
	session    string
	mute       bool
	hangs      bool
	answers    func(verbID string, q verb.Request) []schema.Ack
	received   []Received
	state      schema.State
	reported   schema.ReportedStory
	blobs      map[string][]byte
	desired    *schema.DesiredStory
	desiredSet *schema.DesiredSet // of activities
	activities *score.Activities
	sent       map[string]schema.Ack // newest answer to each id
	verbs      []string
	seq        int64
	silent     bool // does not report what became of a desired story
	stateless  bool // its states do not arrive
	stale      bool // its desired revision came again with other content

	desiredStop schema.DesiredStop
	fleetStop   schema.FleetStop
	unrecorded  map[string]schema.StopLatch // latched, and in no document yet
	liveStops   int                         // received
}

// Start connects a robot that ends with its test.
func Start(t testing.TB, id string, dial Dial) *Robot {
	t.Helper()
	r := &Robot{
		t: t, ID: id, ns: schema.DefaultNamespace, boot: uuid.NewString(), done: make(chan struct{}), opened: make(chan struct{}),
		began: time.Now(),
		blobs: map[string][]byte{}, unrecorded: map[string]schema.StopLatch{}, sent: map[string]schema.Ack{}, verbs: verb.IDs(),
		state: schema.State{
			Safety: schema.StateSafety{State: schema.SafetyDisabled},
			Mode: schema.StateMode{System: schema.SystemRunning, Active: schema.ModeMnl, Intended: schema.ModeMnl, Phase: schema.PhaseRunning,
				Calibrated: true},
			Auto: schema.StateAuto{Status: schema.AutoNotActive, PauseHolders: []schema.Pause{}},
		},
		reported: schema.ReportedStory{Phase: schema.DeployIdle},
	}
	r.answers = r.obey
	var err error
	r.link, err = link.Open(context.Background(), link.Config{
		Dial: dial, Name: id, ClientID: id,
		Will:     func(session string) link.Message { return r.presence(session, schema.PresenceLost) },
		Presence: func(session string) link.Message { return r.presence(session, schema.PresenceOnline) },
		Subscribe: []link.Subscription{
			{Filter: r.ns.Topic(schema.TopicPresence, id), QoS: 1},
			{Filter: r.ns.Topic(schema.TopicCmd, id, "+", "+", "+"), QoS: 1},
			{Filter: r.ns.Topic(schema.TopicDesiredStop, id), QoS: 1},
			{Filter: r.ns.Topic(schema.TopicFleetStop), QoS: 1},
			{Filter: r.ns.Topic(schema.TopicFleetStopCmd, "+"), QoS: 1},
			{Filter: r.ns.Topic(schema.TopicDesiredStory, id), QoS: 1},
			{Filter: r.ns.Topic(schema.TopicDesiredActivities, id), QoS: 1},
			{Filter: r.ns.Topic(schema.TopicBlob, "+"), QoS: 1},
		},
		OnMessage: r.receive,
		OnState:   r.linked,
	})
	if err != nil {
		t.Fatalf("robot %s: %v", id, err)
	}
	close(r.opened)
	go r.beat()
	t.Cleanup(r.Close)
	ctx, cancel := context.WithTimeout(context.Background(), Timeout)
	defer cancel()
	if err := r.link.WaitUp(ctx); err != nil {
		t.Fatalf("robot %s: %v", id, err)
	}
	return r
}

// Close ends the robot as an orderly shutdown does.
func (r *Robot) Close() {
	r.once.Do(func() {
		close(r.done)
		// the broker may be gone first
		_ = r.link.Close(context.Background(), func(session string) link.Message { return r.presence(session, schema.PresenceOffline) })
	})
}

// Mute makes the robot take commands and answer none, or answer again.
func (r *Robot) Mute(mute bool) { r.with(func() { r.mute = mute }) }

// SetHanging makes the robot's loop hang, or run again.
func (r *Robot) SetHanging(hangs bool) { r.with(func() { r.hangs = hangs }) }

// Stateless makes the robot's states get lost on their way, or arrive again.
func (r *Robot) Stateless(lost bool) { r.with(func() { r.stateless = lost }) }

// Change changes the robot's state and publishes it.
func (r *Robot) Change(do func(*schema.State)) {
	r.with(func() { do(&r.state) })
	r.publishState()
}

// Event publishes an event.
func (r *Robot) Event(kind string) {
	var e schema.Event
	r.with(func() {
		r.seq++
		e = schema.Event{TS: schema.TimeOf(time.Now()), Boot: r.boot, Seq: r.seq, Type: kind, Level: schema.EventOf(kind).Level, Source: "test"}
	})
	r.publish(schema.TopicEvent, e)
}

// Raw publishes bytes of the test's own on one of the robot's topics.
func (r *Robot) Raw(kind schema.TopicKind, payload string) {
	row := schema.TopicOf(kind)
	_ = r.link.Publish(context.Background(), link.Message{Topic: r.ns.Topic(kind, r.ID), Payload: []byte(payload), QoS: row.QoS,
		Retain: row.Retain})
}

func (r *Robot) with(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
}

func (r *Robot) presence(session string, state schema.PresenceState) link.Message {
	p := schema.Presence{State: state, Session: session, Boot: r.boot, Software: "fleettest"}
	if state != schema.PresenceLost {
		p.TS = schema.TimeOf(time.Now())
	}
	return r.message(schema.TopicPresence, p)
}

func (r *Robot) message(kind schema.TopicKind, v any, params ...string) link.Message {
	body, err := schema.Encode(v)
	if err != nil {
		r.t.Errorf("robot %s: %v", r.ID, err)
	}
	row := schema.TopicOf(kind)
	return link.Message{Topic: r.ns.Topic(kind, append([]string{r.ID}, params...)...), Payload: body, QoS: row.QoS, Retain: row.Retain}
}

func (r *Robot) publish(kind schema.TopicKind, v any, params ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = r.link.Publish(ctx, r.message(kind, v, params...)) // the test sees what is missing
}

func (r *Robot) linked(s link.State) {
	<-r.opened
	if s.Phase != link.Up {
		return
	}
	r.with(func() { r.session = s.Session })
	r.publish(schema.TopicCaps, schema.Caps{
		TS: schema.TimeOf(time.Now()), Session: s.Session, Robot: schema.CapsRobot{Model: "none", Driver: "none"},
		Software: schema.CapsSoftware{Robotd: "fleettest", Protocol: []string{"1.0"}}, Verbs: r.verbs, Arguments: verb.ArgumentsOf(r.verbs),
		Units: []schema.Unit{},
	})
	r.publishState()
	r.publishStory()
}

func (r *Robot) publishState() {
	var s schema.State
	lost := false
	r.with(func() {
		r.state.StateSeq++
		r.state.TS, r.state.Session, r.state.Boot = schema.TimeOf(time.Now()), r.session, r.boot
		s, lost = r.state, r.stateless
	})
	if lost {
		return
	}
	r.publish(schema.TopicState, s)
}

func (r *Robot) beat() {
	every := time.NewTicker(2 * time.Second)
	defer every.Stop()
	for {
		select {
		case <-r.done:
			return
		case <-every.C:
		}
		var h schema.Heartbeat
		hangs := false
		r.with(func() {
			r.seq++
			h = schema.Heartbeat{
				Session: r.session, Seq: r.seq, MonoMS: time.Since(r.began).Milliseconds(), Boot: r.boot, Mode: r.state.Mode.Active,
				Safety: r.state.Safety.State, StateSeq: max(1, r.state.StateSeq), Link: schema.HeartbeatLink{State: schema.LinkUp},
			}
			hangs = r.hangs || h.Session == ""
		})
		if !hangs {
			r.publish(schema.TopicHeartbeat, h)
		}
	}
}

func (r *Robot) receive(m link.Message) {
	row, params, ok := r.ns.Match(m.Topic)
	if !ok || len(m.Payload) == 0 && row.Kind != schema.TopicCmd && row.Kind != schema.TopicFleetStopCmd {
		return
	}
	switch row.Kind {
	case schema.TopicCmd:
		r.command(params, m.Payload)
	case schema.TopicDesiredStop, schema.TopicFleetStop, schema.TopicFleetStopCmd:
		r.stopped(row.Kind, params.CID, m.Payload)
	case schema.TopicDesiredStory:
		if d, problems := schema.Decode[schema.DesiredStory](m.Payload); len(problems) == 0 {
			r.with(func() { r.acceptRevision(d) })
			r.accept()
		}
	case schema.TopicDesiredActivities:
		if d, problems := schema.Decode[schema.DesiredSet](m.Payload); len(problems) == 0 {
			r.with(func() { r.desiredSet = &d })
			r.acceptSet()
		}
	case schema.TopicBlob:
		r.with(func() { r.blobs[params.SHA256] = m.Payload })
		r.accept()
		r.acceptSet()
	}
}
