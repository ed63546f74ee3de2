package robot

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"troupe/broker/brokertest"
	"troupe/robotd/driver"
	"troupe/robotd/driver/sim"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/score"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stand is a broker, a robot, and plain clients.
type stand struct {
	*testing.T
	broker *brokertest.Broker
	op     *brokertest.Client
	fleetd *brokertest.Client
	body   *sim.Sim
	dir    string
	at     string // where the robot is at the start

	end  func() // asks robotd to end
	done chan error
	n    int
	seen int64 // state_seq of the last awaited state
}

// newStand starts a broker; everything runs in one process and in fake time.
func newStand(t *testing.T) *stand {
	b := brokertest.Start(t, brokertest.InProcess)
	s := &stand{T: t, broker: b, dir: t.TempDir()}
	// A recorder checks every message against the contract, except the unreadable stop.
	brokertest.Record(t, b.Dial).Allow("troupe/v1/robots/r1/cmd/op1/safety/stop")
	s.op, s.fleetd = b.Client(t, "op1"), b.Client(t, "fleetd")
	s.op.Subscribe("troupe/v1/robots/+/ack/op1", "troupe/v1/robots/+/state", "troupe/v1/robots/+/presence", "troupe/v1/robots/+/reported/+")
	return s
}

// boot starts the robot on the stand's data directory.
func (s *stand) boot(options ...func(*Config)) {
	s.Helper()
	s.body, s.seen = sim.New(sim.Config{At: s.at}), 0
	cfg := Config{
		ID: "r1", Dial: s.broker.Dial, Data: s.dir, Driver: s.body,
		Logger: slog.New(slog.NewTextHandler(s.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, o := range options {
		o(&cfg)
	}
	var ctx context.Context
	ctx, s.end = context.WithCancel(s.Context())
	done := make(chan error, 1) // one for each boot
	s.done = done
	ready := make(chan struct{})
	cfg.Ready = func() { close(ready) }
	go func() { done <- Run(ctx, cfg) }()
	<-ready
}

// shutDown ends the robot in order.
func (s *stand) shutDown() {
	s.Helper()
	began := time.Now()
	s.end()
	if err := <-s.done; err != nil {
		s.Errorf("the robot ended with %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		s.Errorf("the robot took %v to end, at most 5 s are allowed", took)
	}
}

// ask sends a command and waits for its final answer.
func (s *stand) ask(verb, payload string) schema.Ack {
	s.Helper()
	s.n++
	id := fmt.Sprintf("t%d", s.n)
	body := map[string]any{"id": id}
	if payload != "" {
		body["args"] = json.RawMessage(payload)
	}
	raw, err := json.Marshal(body)
	if err != nil {
		s.Fatal(err)
	}
	s.op.Publish("troupe/v1/robots/r1/cmd/op1/"+verb, string(raw))
	var a schema.Ack
	s.op.ExpectThat("troupe/v1/robots/r1/ack/op1", func(m brokertest.Message) bool {
		a, _ = schema.Decode[schema.Ack](m.Payload)
		return a.ID != nil && *a.ID == id && a.Status.Final()
	})
	return a
}

// must sends a command that has to succeed.
func (s *stand) must(verb, payload string) {
	s.Helper()
	if a := s.ask(verb, payload); a.Status != schema.StatusSucceeded {
		s.Fatalf("%s %s: %s %s %s", verb, payload, a.Status, a.Reason, a.Detail)
	}
}

// state waits for a state document that holds, later than the last one.
func (s *stand) state(what string, holds func(schema.State) bool) schema.State {
	s.Helper()
	var d schema.State
	s.op.ExpectThat("troupe/v1/robots/r1/state", func(m brokertest.Message) bool {
		d, _ = schema.Decode[schema.State](m.Payload)
		return d.StateSeq > s.seen && holds(d)
	})
	s.seen = d.StateSeq
	return d
}

func (s *stand) mode(m schema.ModeID) {
	s.Helper()
	s.state("mode "+string(m), func(d schema.State) bool {
		return d.Mode.Active == m && d.Mode.Phase == schema.PhaseRunning && d.Mode.Calibrated
	})
}

// publish publishes a story and a desired document for it.
func (s *stand) publish(rev int64, acts ...score.Act) {
	s.Helper()
	story := score.Story{ID: "test", Name: score.Text{"en": "Test"}, Languages: []string{"en"}, Repeat: score.Repeat{Loop: true}}
	lib := map[string]score.Act{}
	for _, a := range acts {
		lib[a.ID] = a
		story.Acts = append(story.Acts, score.Step{Act: a.ID})
	}
	data, sum, err := score.EncodePublishedStory(story, lib, rev)
	if err != nil {
		s.Fatal(err)
	}
	s.fleetd.Retain("troupe/v1/blobs/"+sum, string(data))
	desired, err := schema.Encode(&schema.DesiredStory{Rev: rev, FleetID: "fleetd", Apply: schema.ApplyNextAct, TS: 1,
		Story: &schema.ContentPin{ID: "test", Rev: rev, SHA256: sum, Size: int64(len(data))}})
	if err != nil {
		s.Fatal(err)
	}
	s.fleetd.Retain("troupe/v1/robots/r1/desired/story", string(desired))
	s.op.ExpectThat("troupe/v1/robots/r1/reported/story", func(m brokertest.Message) bool {
		r, _ := schema.Decode[schema.ReportedStory](m.Payload)
		if r.Phase == schema.DeployRejected {
			s.Fatalf("the story was refused: %s", r.Detail)
		}
		return r.Phase == schema.DeployActive && r.DesiredRev == rev
	})
}

func ptr[T any](v T) *T { return &v }

var (
	greet = score.Act{ID: "greet", Actions: []score.Action{
		{Do: score.Face{Face: "smile"}},
		{TimeoutMS: ptr[int64](5000), Do: score.Say{Text: score.Text{"en": "Welcome"}}},
	}}
	walk = score.Act{ID: "walk", Actions: []score.Action{
		{TimeoutMS: ptr[int64](60000), Do: score.Goto{Point: "entrance"}},
		{StartMS: 0, TimeoutMS: ptr[int64](5000), Do: score.Head{Axes: score.Axes{YawRad: ptr(0.5), PitchRad: ptr(0.0)}}},
	}}
)

func TestRobotPerformsItsStoryAndStops(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.boot()
		s.mode(schema.ModeMnl)
		if a := s.ask("mode/set", `{"mode":"ato"}`); a.Result != schema.ResultNotReady || a.Reason != schema.ReasonNoDefaultStory {
			t.Errorf("ato without a story: %s %s", a.Result, a.Reason)
		}
		s.publish(1, greet, walk)
		s.must("mode/set", `{"mode":"ato"}`)
		time.Sleep(10 * time.Second)
		if l := s.body.Snapshot(); l.X != -1 || l.Yaw != 0 {
			t.Errorf("the robot moved before it was enabled: %+v", l)
		}
		s.must("safety/enable", "")
		s.state("walking", func(d schema.State) bool { return d.Auto.Act == "walk" && d.Auto.Status == schema.AutoPerforming })
		time.Sleep(time.Second)
		if l := s.body.Snapshot(); l.V == 0 {
			t.Errorf("the robot does not walk: %+v", l)
		}

		s.op.Publish("troupe/v1/robots/r1/cmd/op1/safety/stop", "{{{")
		s.state("stopped", func(d schema.State) bool { return d.Safety.State == schema.SafetyDisabled })
		before := s.body.Snapshot()
		time.Sleep(10 * time.Second)
		after := s.body.Snapshot()
		if after.V != 0 || after.X != before.X || after.Yaw != before.Yaw {
			t.Errorf("after a stop the robot moves: %+v, then %+v", before, after)
		}
		s.shutDown()
		s.op.ExpectThat("troupe/v1/robots/r1/presence", func(m brokertest.Message) bool {
			return strings.Contains(string(m.Payload), `"offline"`)
		})
	})
}

func TestRestartedRobotHasItsStoryAndDoesNotMove(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		ato := func(c *Config) { c.BootMode = schema.ModeAto }
		s.boot(ato)
		s.mode(schema.ModeMnl)
		s.publish(1, greet, walk)
		s.must("mode/set", `{"mode":"ato"}`)
		s.must("safety/enable", "")
		time.Sleep(3 * time.Second)
		s.shutDown()

		broker := s.broker
		s.broker = brokertest.Start(t, brokertest.InProcess) // an empty one
		s.op = s.broker.Client(t, "op1")
		s.op.Subscribe("troupe/v1/robots/+/ack/op1", "troupe/v1/robots/+/state")
		_ = broker
		s.boot(ato)
		s.mode(schema.ModeAto)
		time.Sleep(20 * time.Second)
		if l := s.body.Snapshot(); l.V != 0 || l.X != -1 {
			t.Errorf("the robot moves by itself after a restart: %+v", l)
		}
		d := s.state("the story", func(d schema.State) bool { return d.Auto.Story != nil })
		if d.Auto.Story.ID != "test" || d.Auto.Status != schema.AutoPaused || d.Safety.State != schema.SafetyDisabled {
			t.Errorf("after a restart: %+v, %s", d.Auto, d.Safety.State)
		}
		s.must("safety/enable", "")
		time.Sleep(5 * time.Second)
		if l := s.body.Snapshot(); l.V == 0 && l.X == -1 {
			t.Errorf("the robot does not perform from its disk: %+v", l)
		}
		s.shutDown()
	})
}

func TestBodyThatNeedsHomingWaitsForAnOperator(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.boot(func(c *Config) {
			s.body = sim.New(sim.Config{Homing: true})
			c.Driver = s.body
		})
		s.state("waiting", func(d schema.State) bool { return len(d.Alerts) > 0 && d.Alerts[0].Type == "calibration_waits" })
		if a := s.ask("mode/set", `{"mode":"mnl"}`); a.Result != schema.ResultNoCalib {
			t.Errorf("mnl before calibration: %s %s", a.Result, a.Reason)
		}
		s.must("safety/enable", "")
		s.state("homed, the alert cleared, and the permission used up", func(d schema.State) bool {
			return d.Mode.Active == schema.ModeMnl && d.Mode.Phase == schema.PhaseRunning && len(d.Alerts) == 0 &&
				d.Safety.State == schema.SafetyDisabled
		})
		s.shutDown()
	})
}

func TestLostLinkStopsTheRobot(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.boot()
		s.mode(schema.ModeMnl)
		beat := func(n int) {
			b, _ := schema.Encode(&schema.FleetHeartbeat{TS: wallNow(), Session: "fleetd", Seq: int64(n)})
			s.fleetd.Send(brokertest.Message{Topic: "troupe/v1/fleet/heartbeat/fleetd", Payload: b})
		}
		for n := range 5 {
			beat(n + 1)
			time.Sleep(time.Second)
		}
		s.must("safety/enable", "")
		silent := time.Now()
		s.state("safe", func(d schema.State) bool {
			return d.Mode.Active == schema.ModeSafe && d.Safety.State != schema.SafetyEnabled
		})
		if took := time.Since(silent); took > 5*time.Second {
			t.Errorf("the robot noticed after %v that its link was lost", took)
		}
		s.shutDown()
	})
}

func TestScreenInterruptRunsAndLowBatteryLeadsToCharging(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.at = "entrance"
		s.boot()
		s.mode(schema.ModeMnl)
		s.publish(1, greet)
		s.must("mode/set", `{"mode":"ato"}`)
		s.must("safety/enable", "")
		s.op.Subscribe("troupe/v1/robots/r1/event")
		s.body.Press("help")
		s.state("service", func(d schema.State) bool { return len(d.Interrupts) == 1 && d.Auto.Status == schema.AutoPaused })
		time.Sleep(time.Second)
		if l := s.body.Snapshot(); len(l.Saying) != 1 || !strings.Contains(l.Saying[0], "service") {
			t.Errorf("the robot says %q", l.Saying)
		}
		s.body.SetBattery(0.15)
		s.state("power too", func(d schema.State) bool { return d.Auto.PauseCount == 2 })
		time.Sleep(2 * time.Minute)
		if l := s.body.Snapshot(); !l.Charging {
			t.Errorf("the robot does not charge: %+v", l)
		}
		if outcome := s.powerEnds(); outcome != "finished" {
			t.Errorf("charging ended as %q", outcome)
		}
		if l := s.body.Snapshot(); l.Battery < 0.80 || l.Battery > 0.82 || !l.Charging {
			t.Errorf("the robot goes on with its story: %+v", l)
		}
		s.state("performing again", func(d schema.State) bool { return d.Auto.Status == schema.AutoPerforming && len(d.Interrupts) == 0 })
		s.shutDown()
	})
}

// powerEnds waits up to half an hour until the handler power ends, and returns how.
func (s *stand) powerEnds() (outcome string) {
	for range 30 * 60 {
		time.Sleep(time.Second)
		for _, m := range s.op.Inbox("troupe/v1/robots/r1/event") {
			if _, rest, ends := strings.Cut(string(m.Payload), `"handler":"power","outcome":"`); ends {
				outcome, _, _ = strings.Cut(rest, `"`)
				return outcome
			}
		}
	}
	return "not at all"
}

func TestRobotWhoseDockDoesNotChargeSaysSo(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.at = "entrance"
		s.boot()
		s.mode(schema.ModeMnl)
		s.publish(1, greet)
		s.must("mode/set", `{"mode":"ato"}`)
		s.op.Subscribe("troupe/v1/robots/r1/event")
		s.body.BreakDock(true)
		s.body.SetBattery(0.15)
		s.state("waiting", func(d schema.State) bool { return len(d.Interrupts) == 1 && d.Interrupts[0].Handler == "power" })
		time.Sleep(time.Hour)
		if l := s.body.Snapshot(); l.X != 0 || len(l.Saying) > 0 {
			t.Errorf("the robot goes to charge, and nobody enabled it: %+v", l)
		}
		s.must("safety/enable", "")
		if outcome := s.powerEnds(); outcome != "failed" {
			t.Errorf("charging ended as %q", outcome)
		}
		d := s.state("the alert", func(d schema.State) bool {
			return slices.ContainsFunc(d.Alerts, func(a schema.Alert) bool { return a.Type == "cannot_charge" })
		})
		if l := s.body.Snapshot(); l.X != -1 || l.Charging || l.Battery >= 0.15 || len(d.Interrupts) > 0 {
			t.Errorf("after charging failed: %+v, interrupts %+v", l, d.Interrupts)
		}
		s.body.BreakDock(false)
		time.Sleep(time.Minute)
		s.state("no alert", func(d schema.State) bool { return len(d.Alerts) == 0 })
		s.shutDown()
	})
}

// lateEnd is a body whose calibration takes a moment to end when it is cancelled.
type lateEnd struct {
	*sim.Sim
	running, most atomic.Int32
}

func (b *lateEnd) Calibrate(ctx context.Context, m driver.Map) (driver.Calibration, error) {
	b.most.Store(max(b.most.Load(), b.running.Add(1)))
	defer b.running.Add(-1)
	c, err := b.Sim.Calibrate(ctx, m)
	time.Sleep(50 * time.Millisecond)
	return c, err
}

func TestCalibrationStartsAfterTheEarlierOneHasEnded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		body := &lateEnd{}
		s.boot(func(c *Config) {
			body.Sim = c.Driver.(*sim.Sim)
			c.Driver = body
		})
		s.op.ExpectThat("troupe/v1/robots/r1/state", func(m brokertest.Message) bool { return strings.Contains(string(m.Payload), `"calibrated":true`) })
		for _, id := range []string{"k1", "k2", "k3"} {
			s.op.Publish("troupe/v1/robots/r1/cmd/op1/mode/set", `{"id":"`+id+`","args":{"mode":"str","restart":true}}`)
			time.Sleep(10 * time.Millisecond)
		}
		ack := s.op.ExpectThat("troupe/v1/robots/r1/ack/op1", func(m brokertest.Message) bool {
			return strings.Contains(string(m.Payload), `"id":"k3"`) && strings.Contains(string(m.Payload), `"status":"SUCCEEDED"`)
		})
		if most := body.most.Load(); most != 1 {
			t.Errorf("%d calibrations ran at once; %s", most, ack.Payload)
		}
		s.shutDown()
	})
}

func TestAnActUsesBothHeadsAtOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.op.Subscribe("troupe/v1/robots/r1/caps")
		s.boot(func(c *Config) {
			s.body = sim.New(sim.Config{Pairs: true})
			c.Driver = s.body
		})
		s.mode(schema.ModeMnl)
		s.op.ExpectThat("troupe/v1/robots/r1/caps", func(m brokertest.Message) bool {
			caps, _ := schema.Decode[schema.Caps](m.Payload)
			heads := 0
			for _, u := range caps.Units {
				if u.Kind == schema.UnitHead {
					heads++
				}
			}
			return heads == 2
		})
		s.must("control/acquire", "")
		s.must("safety/enable", "")
		began := time.Now()
		s.must("act/perform", `{"actions":[
			{"type":"head","start_ms":0,"yaw_rad":1,"timeout_ms":5000},
			{"type":"head","unit":"head-2","start_ms":0,"yaw_rad":-1,"timeout_ms":5000},
			{"type":"face","start_ms":0,"face":"smile"},
			{"type":"face","unit":"face-2","start_ms":0,"face":"wink"}]}`)
		l := s.body.Snapshot()
		if l.Yaws["head"] != 1 || l.Yaws["head-2"] != -1 || l.Faces["face"] != "smile" || l.Faces["face-2"] != "wink" {
			t.Errorf("the body shows %v and %v", l.Yaws, l.Faces)
		}
		if took := time.Since(began); took > 1500*time.Millisecond { // one head needs a second
			t.Errorf("it took %v: the heads turned one after the other", took)
		}
		s.must("manual/head", `{"yaw_rad":0,"unit":"head-2"}`)
		if l := s.body.Snapshot(); l.Yaws["head"] != 1 || l.Yaws["head-2"] != 0 {
			t.Errorf("the heads are at %v", l.Yaws)
		}
		s.shutDown()
	})
}
