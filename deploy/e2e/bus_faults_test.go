package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"troupe/broker/link"
	"troupe/broker/server"
	"troupe/deploy/mosquittotest"
	"troupe/schema"
	"troupe/schema/bus"
)

// busWorld is a robot whose base is an adapter in Python, on a bus that outlives both.
type busWorld struct {
	*world
	url  string
	bus  *link.Link
	base *process
	goal int

	mu       sync.Mutex
	newest   bus.State
	standsAt time.Time // when the base was last seen with a set-point of zero that it did not have before
}

func newBusWorld(t *testing.T) *busWorld {
	w := &busWorld{world: newWorld(t, ownBroker)}
	s, err := server.New(server.Config{MQTT: "127.0.0.1:0", Dev: true, Bus: true})
	if err != nil {
		t.Fatal(err)
	}
	w.url = "mqtt://" + s.Addr()
	w.bus, err = link.Open(context.Background(),
		link.Config{URL: w.url, Subscribe: []link.Subscription{{Filter: bus.Out("base", bus.OutState)}}, OnMessage: w.see})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.bus.Close(context.Background())
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := w.bus.WaitUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.startBase()
	mark := w.observer.mark()
	w.runRobot("r1", "", "--body", "bus", "--bus", w.url, "--bus-adapters", "base")
	awaitDocumentAfter(w.world, mark, robotTopic("r1", "state"), "r1 to be in mnl", func(s schema.State) bool {
		return s.Mode.Active == schema.ModeMnl && s.Mode.Phase == schema.PhaseRunning && s.Safety.State == schema.SafetyDisabled
	})
	return w
}

func (w *busWorld) see(m link.Message) {
	s, problems := schema.DecodeStrict[bus.State](m.Payload)
	if len(problems) > 0 || s.Units["drive"].SetVXMPS == nil {
		return // an injected one
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if was := w.newest.Units["drive"].SetVXMPS; was != nil && *was != 0 && *s.Units["drive"].SetVXMPS == 0 {
		w.standsAt = m.At
	}
	w.newest = s
}

// state returns the newest state of the base, and when its set-point became zero.
func (w *busWorld) state() (bus.State, time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.newest, w.standsAt
}

func (w *busWorld) newBase() *process {
	p := launch(w.t, "base", mosquittotest.PythonWithPaho(w.t), []string{"-B", "../adapters/python/base.py", "--bus", w.url}, nil)
	p.ignoreExit = true
	return p
}

func (w *busWorld) startBase() { w.base = w.newBase() }

// drive lets the robot drive to a far place, and waits until the base moves. On a busy machine a
// tick may be late; then the base stops, and gets a second try.
func (w *busWorld) drive() {
	for try := 1; ; try++ {
		w.goal++
		point := []string{"stage", "fountain"}[w.goal%2]
		w.mustRequest("op1", "r1", "safety/enable", "")
		w.publish("op1", robotTopic("r1", "cmd/op1/act/perform"),
			fmt.Sprintf(`{"id":"g%d","args":{"actions":[{"type":"goto","start_ms":0,"point":%q,"timeout_ms":60000}]}}`, w.goal, point))
		moves := false
		w.until("the base to move, or a stop because a tick was late", func() bool {
			s, _ := w.state()
			drive := s.Units["drive"]
			moves = drive.SetVXMPS != nil && *drive.SetVXMPS > 0.2
			return moves || try == 1 && drive.State == "error"
		})
		if moves {
			return
		}
		w.until("a reset to be accepted", func() bool { return w.request("op1", "r1", "safety/reset", "").Status != schema.StatusRejected })
		w.awaitState("r1", "a second try", func(s schema.State) bool {
			return s.Safety.State == schema.SafetyDisabled && unitOf(s, "drive").State == "idle"
		})
	}
}

// inject sends a payload as the adapter, many times if asked.
func (w *busWorld) inject(what, payload string, times int) {
	for range times {
		if err := w.bus.Publish(context.Background(), link.Message{Topic: bus.Out("base", what), Payload: []byte(payload)}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestFaultsOfAnAdapterStopTheRobotUntilAReset has every fault of a base that drives: robotd
// reports its units in error, with the way out, and the robot stops. It recovers when the
// adapter behaves again and a person resets, and nothing moves before.
func TestFaultsOfAnAdapterStopTheRobotUntilAReset(t *testing.T) {
	t.Parallel()
	w := newBusWorld(t)
	var second *process
	for _, c := range []struct {
		what       string
		begin, end func()
		says, hint string
	}{
		{"kill -9", func() { w.base.signal(syscall.SIGKILL) }, w.startBase, "the adapter is gone", "start the adapter"},
		{"SIGSTOP", func() { w.base.signal(syscall.SIGSTOP) }, func() { w.base.signal(syscall.SIGCONT) }, "no state for 200 ms",
			"restart the adapter"},
		{"a flood of 10,000 messages in a second", func() {
			s, _ := w.state()
			for range 50 { // 200 in 20 ms
				w.inject(bus.OutEvent, fmt.Sprintf(`{"v":1,"session":%q,"kind":"sensed","signal":"dark","on":true}`, s.Session), 200)
				<-time.After(20 * time.Millisecond)
			}
		}, func() {}, "over 500 messages per second", "restart the adapter"},
		{"JSON that cannot be decoded", func() { w.inject(bus.OutState, `{"v":1,`, 1) }, func() {}, "not in the contract", "correct the adapter"},
		{"a battery in percent", func() {
			s, _ := w.state()
			percent := 87.0
			s.Seq, s.TMS = s.Seq+10, s.TMS+200 // later than what the adapter sends until this is there
			b := s.Units["battery"]
			b.Level = &percent
			s.Units = map[string]bus.UnitState{"drive": s.Units["drive"], "battery": b}
			text, err := schema.Encode(s)
			if err != nil {
				t.Fatal(err)
			}
			w.inject(bus.OutState, string(text), 1)
		}, func() {}, "not percent", "correct the adapter"},
		{"time that goes back", func() {
			s, _ := w.state()
			w.inject(bus.OutState, fmt.Sprintf(`{"v":1,"session":%q,"seq":1,"t_ms":1,"units":{}}`, s.Session), 1)
		}, func() {}, "time went back", "restart the adapter"},
		// whichever of the two is noticed first
		{"two processes for one unit", func() { second = w.newBase() }, func() { second.kill() }, "process", "end one of the two"},
	} {
		w.drive()
		_, before := w.state()
		mark, began := w.observer.mark(), time.Now()
		c.begin()
		var after time.Duration
		s := awaitDocumentAfter(w.world, mark, robotTopic("r1", "state"), c.what+": the drive to be in error and the robot stopped",
			func(s schema.State) bool {
				u, a := unitOf(s, "drive"), alertOf(s, "unit_error", "drive")
				return u.State == "error" && s.Safety.State == schema.SafetyEStop && strings.Contains(a.Detail, c.says) &&
					strings.Contains(a.Detail, c.hint) && a.Hint != ""
			})
		after = time.Since(began)
		t.Logf("%s: %v later: %s (%s)", c.what, after.Round(time.Millisecond), alertOf(s, "unit_error", "drive").Detail,
			alertOf(s, "unit_error", "drive").Hint)
		if c.what != "kill -9" && c.what != "SIGSTOP" { // these tell nobody what they do
			w.until(c.what+": the base to stand", func() bool { _, at := w.state(); return at.After(before) })
		}
		c.end()
		w.awaitState("r1", c.what+" is over: healed, but in error", func(s schema.State) bool {
			return unitOf(s, "drive").Detail == "" && unitOf(s, "drive").State == "error" && unitOf(s, "battery").State == "idle"
		})
		if now, _ := w.state(); *now.Units["drive"].SetVXMPS != 0 {
			t.Errorf("%s: the base moves before a reset: %+v", c.what, now)
		}
		w.until(c.what+": a reset to be accepted",
			func() bool { return w.request("op1", "r1", "safety/reset", "").Status != schema.StatusRejected })
		w.awaitState("r1", c.what+" is over: reset", func(s schema.State) bool {
			return s.Safety.State == schema.SafetyDisabled && unitOf(s, "drive").State == "idle"
		})
	}

	// robotd is killed while the base drives.
	w.drive()
	began := time.Now()
	w.robots["r1"].kill()
	w.until("the base to stand without robotd", func() bool { _, at := w.state(); return at.After(began) })
	_, at := w.state()
	t.Logf("kill -9 of robotd: set-points zero after %v", at.Sub(began).Round(time.Millisecond))
	if d := at.Sub(began); d > 5*time.Second {
		t.Errorf("the base's set-points were zero %v after the end of robotd", d)
	}
	mark := w.observer.mark()
	w.runRobot("r1", "", "--body", "bus", "--bus", w.url, "--bus-adapters", "base")
	awaitDocumentAfter(w.world, mark, robotTopic("r1", "state"), "r1 to be back, its drive in error until a reset", func(s schema.State) bool {
		return unitOf(s, "drive").State == "error" && s.Safety.State == schema.SafetyEStop
	})
	if s, _ := w.state(); *s.Units["drive"].SetVXMPS != 0 || s.Units["drive"].State == "run" {
		t.Errorf("after the restart of robotd the base is %+v", s.Units["drive"])
	}
}

func alertOf(s schema.State, kind, source string) schema.Alert {
	for _, a := range s.Alerts {
		if a.Type == kind && a.Source == source {
			return a
		}
	}
	return schema.Alert{}
}
