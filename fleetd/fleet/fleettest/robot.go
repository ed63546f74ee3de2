// Package fleettest gives tests of the desk a robot that is nothing but its side
// of the contract: it connects, beats, tells its state, takes stories and answers
// commands, or does not, as the test says.
package fleettest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"troupe/broker/link"
	"troupe/schema"
)

// Patience is how long a test waits for what must come. A test that waits so long
// has failed; it is no measure of anything.
const Patience = 20 * time.Second

// Dial opens a connection to the broker.
type Dial func(ctx context.Context) (net.Conn, error)

// Received is one command as it came.
type Received struct {
	Verb    string
	Payload string
	Request schema.Request
	At      time.Time
}

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

	mu        sync.Mutex
	began     time.Time
	session   string
	mute      bool
	beating   bool
	answers   func(verb string, r schema.Request) []schema.Ack
	received  []Received
	state     schema.State
	reported  schema.ReportedStory
	blobs     map[string][]byte
	wish      *schema.DesiredStory
	sent      map[string]schema.Ack // newest answer to each id
	verbs     []string
	seq       int64
	deaf      bool // to blobs
	silent    bool // about stories
	stateless bool // its states do not arrive
	stale     bool // the number of its wish came again with something else

	desiredStop schema.DesiredStop
	fleetStop   schema.FleetStop
	loose       map[string]schema.StopLatch // held, and in no document yet
	calls       int                         // live stops that were heard
}

// Start connects a robot that ends with its test.
func Start(t testing.TB, id string, dial Dial) *Robot {
	t.Helper()
	r := &Robot{
		t: t, ID: id, ns: schema.DefaultNamespace, boot: uuid.NewString(), done: make(chan struct{}), opened: make(chan struct{}), began: time.Now(), beating: true,
		blobs: map[string][]byte{}, loose: map[string]schema.StopLatch{}, sent: map[string]schema.Ack{}, verbs: schema.VerbIDs(),
		state: schema.State{
			Safety: schema.StateSafety{State: schema.SafetyDisabled},
			Mode:   schema.StateMode{System: schema.SystemRunning, Active: schema.ModeMnl, Intended: schema.ModeMnl, Phase: schema.PhaseRunning, Calibrated: true},
			Auto:   schema.StateAuto{Status: schema.AutoHalt, PauseHolders: []schema.Pause{}},
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
			{Filter: r.ns.Topic(schema.TopicBlob, "+"), QoS: 1},
		},
		OnMessage: r.hear,
		OnState:   r.linked,
	})
	if err != nil {
		t.Fatalf("robot %s: %v", id, err)
	}
	close(r.opened)
	go r.beat()
	t.Cleanup(r.Close)
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
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
		_ = r.link.Close(context.Background(), func(session string) link.Message { return r.presence(session, schema.PresenceOffline) }) // the broker may be gone first
	})
}

// Mute makes the robot take commands and answer none, or answer again.
func (r *Robot) Mute(mute bool) { r.with(func() { r.mute = mute }) }

// Beating makes the robot's loop hang, or run again.
func (r *Robot) Beating(beating bool) { r.with(func() { r.beating = beating }) }

// DeafToBlobs makes the robot overlook blobs, as if the broker had lost them.
func (r *Robot) DeafToBlobs(deaf bool) { r.with(func() { r.deaf = deaf; clear(r.blobs) }) }

// Silent makes the robot take stories and tell of none, or tell again.
func (r *Robot) Silent(silent bool) {
	r.with(func() { r.silent = silent })
	r.tellStory()
}

// Stateless makes the robot's states get lost on their way, or arrive again.
func (r *Robot) Stateless(lost bool) { r.with(func() { r.stateless = lost }) }

// Reported is how far the robot is with its story, whether it tells it or not.
func (r *Robot) Reported() (s schema.ReportedStory) {
	r.with(func() { s = r.reported })
	return s
}

// Answer says how the robot answers a command, from now on; nil is as it does by
// itself.
func (r *Robot) Answer(how func(verb string, q schema.Request) []schema.Ack) {
	r.with(func() {
		if r.answers = how; how == nil {
			r.answers = r.obey
		}
	})
}

// Received lists the commands that came, in order.
func (r *Robot) Received() (all []Received) {
	r.with(func() { all = slices.Clone(r.received) })
	return all
}

// Change changes the robot's state and tells it.
func (r *Robot) Change(do func(*schema.State)) {
	r.with(func() { do(&r.state) })
	r.tellState()
}

// Say answers the command of this id once more, late as it may be, to the desk of
// that name; fleetd if none is named.
func (r *Robot) Say(id string, a schema.Ack, desk ...string) {
	a.ID = &id
	r.ack(append(desk, "fleetd")[0], a)
}

// Event tells an event.
func (r *Robot) Event(kind string) {
	var e schema.Event
	r.with(func() {
		r.seq++
		e = schema.Event{TS: schema.TimeOf(time.Now()), Boot: r.boot, Seq: r.seq, Type: kind, Source: "test"}
	})
	r.publish(schema.TopicEvent, e)
}

// Raw publishes bytes of the test's own on one of the robot's topics.
func (r *Robot) Raw(kind schema.TopicKind, payload string) {
	row := schema.TopicOf(kind)
	_ = r.link.Publish(context.Background(), link.Message{Topic: r.ns.Topic(kind, r.ID), Payload: []byte(payload), QoS: row.QoS, Retain: row.Retain})
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
		Software: schema.CapsSoftware{Robotd: "fleettest", Protocol: []string{"1.0"}}, Verbs: r.verbs, Units: []schema.Unit{},
	})
	r.tellState()
	r.tellStory()
}

func (r *Robot) tellState() {
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
			hangs = !r.beating || h.Session == ""
		})
		if !hangs {
			r.publish(schema.TopicHeartbeat, h)
		}
	}
}

func (r *Robot) hear(m link.Message) {
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
			r.with(func() { r.heed(d) })
			r.accept()
		}
	case schema.TopicBlob:
		r.with(func() {
			if !r.deaf {
				r.blobs[params.SHA256] = m.Payload
			}
		})
		r.accept()
	}
}

// heed takes a newer wish; a number stands for what it came with first. It is called
// under the lock.
func (r *Robot) heed(d schema.DesiredStory) {
	pin := func(d *schema.DesiredStory) (p schema.StoryPin) {
		if d.Story != nil {
			p = *d.Story
		}
		return p
	}
	switch was := r.wish; {
	case was == nil || d.Rev > was.Rev:
		r.wish, r.stale = &d, false
	case d.Rev == was.Rev:
		r.stale = pin(&d) != pin(was)
	}
}

// accept takes the wished story if its bytes are there, and asks for them if not.
func (r *Robot) accept() {
	r.with(func() {
		d := r.wish
		if d == nil {
			return
		}
		r.reported.Authority, r.reported.DesiredRev, r.reported.Fetching, r.reported.Reason = d.Authority, d.Rev, "", ""
		if r.stale {
			r.reported.Phase, r.reported.Reason = schema.DeployRejected, schema.ReasonStaleRevision
			return
		}
		if d.Story == nil {
			r.reported.Phase, r.reported.Active = schema.DeployWithdrawn, nil
			return
		}
		body, there := r.blobs[d.Story.SHA256]
		if sum := sha256.Sum256(body); !there || hex.EncodeToString(sum[:]) != d.Story.SHA256 {
			r.reported.Phase, r.reported.Fetching = schema.DeployFetching, d.Story.SHA256
			return
		}
		r.reported.Phase = schema.DeployActive
		r.reported.Active = &schema.ActiveStory{ID: d.Story.ID, Rev: d.Story.Rev, SHA256: d.Story.SHA256, EffectiveActs: []string{}, Pruned: []string{}}
	})
	r.tellStory()
}

func (r *Robot) tellStory() {
	var s schema.ReportedStory
	silent := false
	r.with(func() {
		r.reported.TS, r.reported.Session = schema.TimeOf(time.Now()), r.session
		s, silent = r.reported, r.silent
	})
	if silent {
		return
	}
	r.publish(schema.TopicReportedStory, s)
}

func (r *Robot) command(p schema.TopicParams, payload []byte) {
	verb, ok := schema.VerbOf(p.Group, p.Verb)
	if !ok {
		return
	}
	q, problems := schema.DecodeRequest(verb, payload)
	var answers []schema.Ack
	mute := false
	r.with(func() {
		r.received = append(r.received, Received{verb.ID(), string(payload), q, time.Now()})
		how := r.answers
		mute = r.mute
		if mute {
			return
		}
		switch before, known := r.sent[q.Args.ID]; {
		case len(problems) > 0:
			answers = []schema.Ack{{Status: schema.StatusRejected, Reason: schema.ReasonBadRequest, Detail: problems[0].Detail}}
		case verb.ID() == "sys/query" && known:
			before.Dup = true
			answers = []schema.Ack{before, {Status: schema.StatusSucceeded}}
		case verb.ID() == "sys/query":
			answers = []schema.Ack{{Status: schema.StatusRejected, Reason: schema.ReasonUnknownID}}
		default:
			answers = how(verb.ID(), q)
		}
		for i := range answers {
			if answers[i].ID == nil {
				answers[i].ID = &q.ID
			}
			if answers[i].Verb == "" {
				answers[i].Verb = verb.ID()
			}
			r.sent[*answers[i].ID] = answers[i]
		}
	})
	for _, a := range answers {
		r.ack(p.CID, a)
	}
	if !mute {
		r.tellState()
	}
}

func (r *Robot) ack(client string, a schema.Ack) {
	r.with(func() { a.TS, a.Session = schema.TimeOf(time.Now()), r.session })
	if a.Verb == "" {
		a.Verb = "sys/query"
	}
	r.publish(schema.TopicAck, a, client)
}

// obey does what is asked, in state only. It is called under the lock.
func (r *Robot) obey(verb string, q schema.Request) []schema.Ack {
	if q.Args.Latch != "" {
		r.loose[q.Args.Latch] = schema.StopLatch{ID: q.Args.Latch, Level: schema.StopStop, By: q.By, Why: q.Why, Since: schema.TimeOf(time.Now())}
		r.hold()
	}
	switch verb {
	case "safety/stop", "safety/soft-stop":
		r.state.Safety.State = schema.SafetyDisabled
	case "safety/halt", "safety/estop":
		r.state.Safety.State = schema.SafetyEStop
	case "safety/enable":
		r.state.Safety.State = schema.SafetyEnabled
	case "safety/reset":
		r.state.Safety.State = schema.SafetyDisabled
	case "mode/set":
		if !slices.Contains([]schema.ModeID{schema.ModeStr, schema.ModeMnl, schema.ModeAto}, q.Args.Mode) {
			return []schema.Ack{{Status: schema.StatusRejected, Result: schema.ResultNoMode, Reason: schema.ReasonUnknownMode, Detail: "str, mnl, ato"}}
		}
		r.state.Mode.Active, r.state.Mode.Intended = q.Args.Mode, q.Args.Mode
		return []schema.Ack{{Status: schema.StatusAccepted}, {Status: schema.StatusSucceeded, Result: schema.ResultSuccess}}
	}
	return []schema.Ack{{Status: schema.StatusSucceeded, Result: schema.ResultOK}}
}
