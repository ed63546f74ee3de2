package bus_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/link"
	"troupe/robotd/driver"
	"troupe/robotd/driver/sim"
	"troupe/schema"
	"troupe/schema/bubble"
	contract "troupe/schema/bus"
	"troupe/schema/score"
)

// robot feeds a body and reads its events, as robotd does.
type robot struct {
	*body
	t      *testing.T
	spoil  atomic.Pointer[func(what string, payload []byte) []byte] // of the adapter base
	state  map[string]driver.State
	fault  map[string]string
	failed map[uint64]driver.Event
	key    uint64
	angles []driver.Event
}

func newRobot(t *testing.T) *robot {
	r := &robot{t: t, state: map[string]driver.State{}, fault: map[string]string{}, failed: map[uint64]driver.Event{}}
	r.body = newBodySpoilt(t, sim.Config{At: "entrance"}, two, func(adapter, what string, payload []byte) []byte {
		if f := r.spoil.Load(); f != nil && adapter == "base" {
			return (*f)(what, payload)
		}
		return payload
	})
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.read()
	return r
}

func (r *robot) read() {
	for {
		synctest.Wait()
		select {
		case e := <-r.Events():
			switch e.Kind {
			case driver.Unit:
				r.state[e.Unit], r.fault[e.Unit] = e.State, e.Detail
			case driver.Failed:
				r.failed[e.Key] = e
			case driver.Angles:
				r.angles = append(r.angles, e)
			}
		default:
			return
		}
	}
}

func (r *robot) pass(d time.Duration) {
	for ; d > 0; d -= driver.Tick {
		r.Feed()
		time.Sleep(driver.Tick)
		r.read()
	}
}

func (r *robot) order(o driver.Order) {
	r.Order(o)
	r.read()
}

func (r *robot) start(unit string, do score.Action) uint64 {
	r.key++
	r.Start(driver.Command{Key: r.key, Unit: unit, Do: &do, Text: "hello", Holds: true})
	r.read()
	return r.key
}

func (r *robot) spoilWith(f func(what string, payload []byte) []byte) { r.spoil.Store(&f) }

// from returns a spoiler that replaces text in the adapter's states.
func from(old, by string) func(string, []byte) []byte {
	return func(what string, payload []byte) []byte {
		if what == contract.OutState {
			return []byte(strings.Replace(string(payload), old, by, 1))
		}
		return payload
	}
}

// Both adapters have these faults: they are of one process, or the other one describes itself
// differently.
const killed, describedTwice = "it is killed", "another adapter of the body has its drive"

// adapterFaults are the ways in which an adapter fails while its drive moves.
var adapterFaults = []struct {
	what  string
	begin func(r *robot)
	end   func(r *robot)
	says  string
}{
	{killed,
		func(r *robot) { _ = r.adapters.Kill() },
		func(r *robot) { r.serveAgain(r.t) }, "start the adapter"},
	{"it hangs",
		func(r *robot) { r.spoilWith(func(string, []byte) []byte { return nil }) },
		func(r *robot) { r.spoil.Store(nil) }, "no state for 200 ms"},
	{"it floods the bus",
		func(r *robot) {
			for range 1000 {
				_ = r.adapters.Publish("base", contract.OutEvent, []byte(`{"v":1,"session":"s1","kind":"sensed","signal":"dark","on":true}`))
			}
		},
		func(*robot) {}, "over 500 messages per second"},
	{"its JSON is wrong",
		func(r *robot) { r.spoilWith(from(`{`, `{{`)) },
		func(r *robot) { r.spoil.Store(nil) }, "driver check"},
	{"it misspells a field",
		func(r *robot) { r.spoilWith(from(`vx_mps`, `vx_mms`)) },
		func(r *robot) { r.spoil.Store(nil) }, "vx_mms"},
	{"its battery is in percent",
		func(r *robot) { r.spoilWith(from(`"level":1`, `"level":100`)) },
		func(r *robot) { r.spoil.Store(nil) }, "not percent"},
	{"its time goes back",
		func(r *robot) { r.spoilWith(from(`"t_ms":`, `"t_ms":-`)) },
		func(r *robot) { r.spoil.Store(nil) }, "time went back"},
	{"a second process uses its name",
		func(r *robot) {
			_ = r.adapters.Publish("base", contract.OutState, []byte(`{"v":1,"session":"s2","seq":1,"t_ms":1,"units":{}}`))
		},
		func(*robot) {}, "end one of the two"},
	{describedTwice,
		func(r *robot) { r.describe("show", `"units":[`, `"units":[{"id":"drive","kind":"drive"},`) },
		func(r *robot) { r.describe("show", "", "") }, "adapter show has the unit drive too"},
	{"it describes other units",
		func(r *robot) { r.describe("base", `"id":"drive"`, `"id":"wheels"`) },
		func(r *robot) { r.describe("base", "", "") }, "restart robotd"},
}

func TestFaultsOfAnAdapterStopItsUnitsAndHealOnlyWithAReset(t *testing.T) {
	for _, c := range adapterFaults {
		t.Run(c.what, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				r := newRobot(t)
				defer r.Close()
				limit := int64(60_000)
				x := 3.0
				far := score.Action{TimeoutMS: &limit, Do: score.Goto{XM: &x, YM: &x}}
				r.order(driver.ToRun)
				key := r.start("drive", far)
				speech := r.start("speaker", score.Action{TimeoutMS: &limit, Do: score.Say{Text: score.Text{"en": "hello"}}})
				r.pass(2 * time.Second)
				if v := r.sim.Snapshot().V; v == 0 {
					t.Fatal("the drive does not move")
				}

				c.begin(r)
				r.pass(contract.Watchdog + 2*driver.Tick)
				if r.state["drive"] != driver.Error || r.state["head"] != driver.Error || r.state["battery"] != driver.Error ||
					!strings.Contains(r.fault["drive"], c.says) {
					t.Errorf("the drive is in %s: %s", r.state["drive"], r.fault["drive"])
				}
				if e := r.failed[key]; e.Reason != schema.ReasonUnitError || e.Detail == "" {
					t.Errorf("its command failed with %+v", e)
				}
				if e, failed := r.failed[speech]; c.what != killed && c.what != describedTwice && (failed || r.state["speaker"] != driver.Idle) {
					t.Errorf("the other adapter is %s, its command %+v", r.state["speaker"], e)
				}
				if again := r.start("drive", far); r.failed[again].Reason != schema.ReasonUnitError {
					t.Errorf("a command was answered with %+v", r.failed[again])
				}
				r.pass(time.Second)
				if v := r.sim.Snapshot().V; v != 0 {
					t.Errorf("the drive still moves at %v m/s", v)
				}

				c.end(r)
				r.pass(3 * time.Second)
				if r.state["drive"] != driver.Error || r.fault["drive"] != "" || r.state["battery"] != driver.Idle {
					t.Errorf("it behaves again: drive %s %q, battery %s %q", r.state["drive"], r.fault["drive"], r.state["battery"], r.fault["battery"])
				}
				for _, o := range []driver.Order{driver.ToRun, driver.ToIdle, driver.ToRun} {
					r.order(o)
					if r.pass(200 * time.Millisecond); r.state["drive"] != driver.Error || r.sim.Snapshot().V != 0 {
						t.Fatalf("ordered to %s without a reset the drive is in %s", o, r.state["drive"])
					}
				}
				r.order(driver.ToReset)
				r.pass(time.Second)
				r.order(driver.ToRun)
				r.start("drive", far)
				r.pass(2 * time.Second)
				if v := r.sim.Snapshot().V; r.state["drive"] != driver.Run || v == 0 {
					t.Errorf("after a reset the drive is in %s and moves at %v m/s", r.state["drive"], v)
				}
			})
		})
	}
}

// TestAdapterThatHungHasTimeToObey: its first states are those of before it read the order.
func TestAdapterThatHungHasTimeToObey(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := newRobot(t)
		defer r.Close()
		r.order(driver.ToRun)
		r.pass(time.Second)
		r.spoilWith(func(string, []byte) []byte { return nil })
		r.pass(time.Second)
		r.spoilWith(from(`"state":"error"`, `"state":"run"`))
		r.pass(100 * time.Millisecond)
		if !strings.Contains(r.fault["drive"], "no state") {
			t.Errorf("100 ms after it hung, the drive's fault is %q", r.fault["drive"])
		}
		r.pass(time.Second)
		if !strings.Contains(r.fault["drive"], "does not obey") {
			t.Errorf("a second later the drive runs although it was ordered to error, and its fault is %q", r.fault["drive"])
		}
	})
}

// TestAdapterReceivesItsHealth: for its log, and for robotd doctor.
func TestAdapterReceivesItsHealth(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := newRobot(t)
		defer r.Close()
		newest := r.healthOf("base")
		says := func(when, health, way string) {
			t.Helper()
			if h := newest.Load(); h == nil || h.Health != health || !strings.Contains(h.WayOut, way) || (h.Why == "") != (health == "good") {
				t.Errorf("%s robotd says %+v", when, h)
			}
		}
		r.pass(1100 * time.Millisecond)
		says("after the start", "good", "")
		r.describe("base", `"id":"drive"`, `"id":"wheels"`)
		r.pass(100 * time.Millisecond)
		says("after another description", "changed", "restart robotd")
		r.describe("base", "", "")
		r.pass(1100 * time.Millisecond)
		says("after the first description", "good", "")
	})
}

// healthOf follows what robotd says of an adapter.
func (r *robot) healthOf(adapter string) *atomic.Pointer[contract.Health] {
	newest := &atomic.Pointer[contract.Health]{}
	l, err := link.Open(r.t.Context(), link.Config{
		Dial: r.broker.Dial, Subscribe: []link.Subscription{{Filter: contract.In(adapter, contract.InHealth)}},
		OnMessage: func(m link.Message) {
			h, problems := schema.DecodeStrict[contract.Health](m.Payload)
			if len(problems) > 0 {
				r.t.Error(problems)
			}
			newest.Store(&h)
		},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = l.Close(context.Background()) })
	return newest
}

// TestUnusedAdapterIsToldThatItIsUnused also if it has a unit of the body, which goes on.
func TestUnusedAdapterIsToldThatItIsUnused(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := newRobot(t)
		defer r.Close()
		newest := r.healthOf("rogue")
		r.order(driver.ToRun)
		r.publishAs("rogue", `{"v":1,"present":true,"session":"z","describe":{"model":"m","state_ms":20,"units":[{"id":"drive","kind":"drive"}]}}`)
		r.pass(1500 * time.Millisecond)
		if h := newest.Load(); h == nil || h.Health != "unused" || !strings.Contains(h.Why, "base") ||
			!strings.Contains(h.WayOut, "--bus-adapters") || !strings.Contains(h.WayOut, ",rogue") {
			t.Errorf("it is sent %+v", h)
		}
		if r.state["drive"] != driver.Run || r.fault["drive"] != "" {
			t.Errorf("the drive of the body is in %s: %s", r.state["drive"], r.fault["drive"])
		}
		newest.Store(nil)
		r.publishAs("rogue", `{"v":1,"present":false,"session":"z"}`)
		if r.pass(1500 * time.Millisecond); newest.Load() != nil {
			t.Error("it is gone, and robotd sends to it still")
		}
	})
}

func TestAnglesOfAHeadAreReportedWhileTheyChange(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := newRobot(t)
		defer r.Close()
		r.order(driver.ToRun)
		r.pass(200 * time.Millisecond)
		yaw, limit := 0.5, int64(5000)
		r.angles = nil
		r.start("head", score.Action{TimeoutMS: &limit, Do: score.Head{Axes: score.Axes{YawRad: &yaw}}})
		r.pass(3 * time.Second)
		n := len(r.angles)
		if n < 2 || n > 31 || r.angles[n-1].Yaw != yaw || r.angles[n-1].Unit != "head" {
			t.Errorf("%d times: %+v", n, r.angles)
		}
	})
}

func TestFaultOfAnAdapterIsLoggedOnceWithItsUnits(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := newRobot(t)
		r.spoilWith(func(string, []byte) []byte { return nil })
		r.pass(2 * time.Second)
		r.spoil.Store(nil)
		r.pass(2 * time.Second)
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{"adapter misbehaves or is gone; its units are in error", "adapter works again"} {
			n, named := 0, ""
			for l := range strings.Lines(r.log.String()) {
				if strings.Contains(l, line) {
					n, named = n+1, l
				}
			}
			if n != 1 || !strings.Contains(named, "adapter=base") || !strings.Contains(named, "units=head,drive,battery") {
				t.Errorf("%d lines, the last one is %q", n, named)
			}
		}
	})
}

func TestTopicThatIsNoneOfTheBusIsLoggedOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := newRobot(t)
		defer r.Close()
		for range 3 {
			_ = r.adapters.Publish("base", "telemetry", []byte(`{}`))
			r.pass(100 * time.Millisecond)
		}
		if n := strings.Count(r.log.String(), "topic=bus/base/out/telemetry"); n != 1 || r.fault["drive"] != "" {
			t.Errorf("%d lines name it, and the fault of the drive is %q", n, r.fault["drive"])
		}
	})
}

// describe lets an adapter describe itself with a change.
func (r *robot) describe(adapter, old, by string) {
	r.publishAs(adapter, strings.Replace(string(r.adapters.Presence(adapter)), old, by, 1))
}

func (r *robot) publishAs(adapter, payload string) {
	l, err := link.Open(context.Background(), link.Config{Dial: r.broker.Dial})
	if err != nil {
		r.t.Fatal(err)
	}
	if err = l.WaitUp(r.t.Context()); err == nil {
		err = l.PublishWait(r.t.Context(), link.Message{Topic: contract.Out(adapter, contract.OutPresence), Payload: []byte(payload), QoS: 1,
			Retain: true})
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if err := l.Close(context.Background()); err != nil {
		r.t.Fatal(err)
	}
}
