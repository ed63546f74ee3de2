package robot

import (
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/mode"
	"troupe/schema"
	"troupe/schema/bubble"
)

// faulty is a mode with a fault in the call that is chosen by the name of a method.
type faulty struct {
	in    string
	fault func()
}

func (f faulty) at(method string) {
	if f.in == method {
		f.fault()
	}
}

func (f faulty) Start(h *mode.Host) {
	f.at("Start")
	h.Do(mode.Drive{WZ: 1})
	h.Started()
}
func (f faulty) Stop(h *mode.Host)                    { f.at("Stop"); h.Stopped() }
func (f faulty) Kill(*mode.Host)                      { f.at("Kill") }
func (f faulty) MayPause(*mode.Host) (r mode.Refusal) { f.at("MayPause"); return r }
func (f faulty) SetPaused(*mode.Host, bool)           { f.at("SetPaused") }
func (f faulty) Step(*mode.Host, mode.Notice)         { f.at("Step") }

func (f faulty) row() mode.Installed {
	return mode.Installed{
		Settings: mode.Settings{ID: "faulty", LinkLoss: schema.LinkLossContinue}, Name: "faulty",
		New:   func() mode.Mode { f.at("New"); return f },
		Ready: func(*mode.Host) (r mode.Refusal) { f.at("Ready"); return r },
	}
}

// TestEachCallOfAModeMayFail lets each function of a mode panic, and take too long.
func TestEachCallOfAModeMayFail(t *testing.T) {
	for fault, c := range map[string]struct {
		does func()
		says string
	}{
		"panics": {func() { panic("a fault of ours") }, "panicked: a fault of ours"},
		"sleeps": {func() { time.Sleep(300 * time.Millisecond) }, "took 300 ms; 250 ms were left"},
	} {
		for method, want := range map[string]mode.Kind{
			"New": mode.StartFailed, "Start": mode.StartFailed, "Stop": mode.Died, "SetPaused": mode.Died,
			"MayPause": mode.Died, "Step": mode.Died, "Kill": "", "Ready": "",
		} {
			t.Run(method+" "+fault, func(t *testing.T) {
				bubble.Test(t, func(t *testing.T) {
					l := lives(faulty{method, c.does}.row(), method == "Kill")
					failed := func(r schema.Reason, detail string) bool {
						return r == schema.ReasonModeFailed && strings.Contains(detail, c.says)
					}
					var got mode.Input
					if i := slices.IndexFunc(l.reports, func(in mode.Input) bool { return in.Reason != "" }); i >= 0 {
						if got = l.reports[i]; !failed(got.Reason, got.Detail) || i != len(l.reports)-1 {
							t.Errorf("it reports %+v", l.reports)
						}
					}
					if got.Kind != want {
						t.Errorf("it reports %q, want %q", got.Kind, want)
					}
					if no := l.notReady; method == "Ready" != (len(no) == 1 && failed(no[0].Reason, no[0].Detail)) {
						t.Errorf("not ready: %+v", no)
					}
					if no := l.noPause; method == "MayPause" != failed(no.Reason, no.Detail) {
						t.Errorf("the pause is refused with %+v", no)
					}
					if l.drives {
						t.Error("what it had begun goes on")
					}
				})
			})
		}
	}
}

// life is what became of a mode.
type life struct {
	notReady []mode.NotReady
	noPause  mode.Refusal
	reports  []mode.Input
	drives   bool // at the end
}

// lives takes a mode through a whole life under the guard of robotd.
func lives(row mode.Installed, killed bool) (l life) {
	r := mode.NewRunner([]mode.Installed{row}, newGuard(slog.New(slog.DiscardHandler)).run)
	l.notReady = slices.Clone(r.NotReady())
	r.Execute(mode.Call{Do: mode.DoStart, Mode: row.ID})
	l.noPause = r.MayPause()
	r.Execute(mode.Call{Do: mode.DoPause, Mode: row.ID})
	r.Execute(mode.Call{Do: mode.DoResume, Mode: row.ID})
	r.Notify(mode.TimePassed{})
	end := mode.DoStop
	if killed {
		end = mode.DoKill
	}
	r.Execute(mode.Call{Do: end, Mode: row.ID})
	for _, e := range r.Effects() {
		switch e := e.(type) {
		case mode.Input:
			l.reports = append(l.reports, e)
		case mode.Drive:
			l.drives = e != mode.Drive{}
		}
	}
	return l
}

// told is a body that notes what it was ordered.
type told struct {
	driver.Driver
	mu     sync.Mutex
	orders []driver.Order
}

func (b *told) Order(o driver.Order) {
	b.mu.Lock()
	b.orders = append(b.orders, o)
	b.mu.Unlock()
	b.Driver.Order(o)
}

func (b *told) all() []driver.Order {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.orders)
}

func TestAModeThatTakesTooLongIsReplaced(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		slow := faulty{"Step", func() { time.Sleep(300 * time.Millisecond) }}
		s.boot(func(c *Config) { c.Modes = []mode.Installed{slow.row()} })
		s.mode(schema.ModeMnl)
		s.must("mode/set", `{"mode":"faulty"}`)
		d := s.state("the fallback", func(d schema.State) bool { return d.Mode.FallbackFrom == "faulty" })
		if d.Mode.Active != schema.ModeMnl || d.Mode.Phase != schema.PhaseRunning {
			t.Errorf("the robot is in %+v", d.Mode)
		}
		s.shutDown()
	})
}

// TestAModeThatHangsEndsRobotd lets a mode block for ever, and starts the robot again.
func TestAModeThatHangsEndsRobotd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		letGo, began := make(chan struct{}), make(chan time.Time, 1)
		hangs := faulty{"Step", func() {
			began <- time.Now()
			<-letGo
		}}
		var body *told
		install := func(c *Config) {
			body = &told{Driver: c.Driver}
			c.Driver, c.Modes = body, []mode.Installed{hangs.row()}
		}
		s.boot(install)
		s.mode(schema.ModeMnl)
		s.must("safety/enable", "")
		s.op.Publish("troupe/v1/robots/r1/cmd/op1/mode/set", `{"id":"hang","args":{"mode":"faulty"}}`)
		err := <-s.done
		if err == nil || !strings.Contains(err.Error(), "step of faulty did not return") {
			t.Errorf("robotd ended with %v", err)
		}
		if took := time.Since(<-began); took < modeHung || took > modeHung+4*time.Second {
			t.Errorf("robotd ended %v after the mode hung", took)
		}
		if orders := body.all(); orders[len(orders)-1] != driver.ToError {
			t.Errorf("the last order to the body is %s, want %s", orders[len(orders)-1], driver.ToError)
		}
		close(letGo) // the goroutine of the loop ends, and does nothing more

		s.boot(install, func(c *Config) { c.BootMode = "faulty" })
		d := s.state("a failed mode", func(d schema.State) bool {
			return d.Mode.Phase == schema.PhaseRunning && d.Mode.Calibrated && d.Mode.FallbackFrom == "faulty"
		})
		if d.Mode.Active != schema.ModeMnl || len(d.Alerts) != 1 || d.Alerts[0].Type != "mode_hung" {
			t.Errorf("the robot is in %+v, with the alerts %+v", d.Mode, d.Alerts)
		}
		s.shutDown()
	})
}

// TestCallsForOneEventShareTheirTime calls a mode several times for one event.
func TestCallsForOneEventShareTheirTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		row := faulty{"Step", func() { time.Sleep(100 * time.Millisecond) }}.row()
		g := newGuard(slog.New(slog.DiscardHandler))
		r := mode.NewRunner([]mode.Installed{row}, g.run)
		r.Execute(mode.Call{Do: mode.DoStart, Mode: row.ID})
		died := func() bool {
			return slices.ContainsFunc(r.Effects(), func(e mode.Effect) bool {
				report, ok := e.(mode.Input)
				return ok && report.Kind == mode.Died
			})
		}
		for range 3 {
			g.begin()
			r.Notify(mode.TimePassed{})
			r.Notify(mode.TimePassed{})
			if died() {
				t.Fatal("200 ms for one event ended the mode")
			}
		}
		r.Notify(mode.TimePassed{})
		if !died() {
			t.Error("300 ms for one event did not end the mode")
		}
	})
}
