package modetest

import (
	"flag"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/mode"
	"troupe/schema"
)

// scripted is a mode whose methods a test replaces.
type scripted struct {
	mode.Plain
	start, stop func(*mode.Host)
	step        func(*mode.Host, mode.Notice)
}

func (s scripted) Start(h *mode.Host) {
	if s.start == nil {
		s.Plain.Start(h)
		return
	}
	s.start(h)
}

func (s scripted) Stop(h *mode.Host) {
	if s.stop == nil {
		s.Plain.Stop(h)
		return
	}
	s.stop(h)
}

func (s scripted) Step(h *mode.Host, n mode.Notice) {
	if s.step != nil {
		s.step(h, n)
	}
}

// failing is a testing.TB that records failures.
type failing struct {
	testing.TB
	said strings.Builder
}

func (f *failing) Helper()                   {}
func (f *failing) Logf(string, ...any)       {}
func (f *failing) Errorf(s string, a ...any) { fmt.Fprintf(&f.said, s+"\n", a...) }
func (f *failing) FailNow()                  { runtime.Goexit() }
func (f *failing) Fatalf(s string, a ...any) { f.Errorf(s, a...); f.FailNow() }

func number(why, def string) mode.Parameter {
	return mode.Parameter{ConfigKey: schema.ConfigKey{Name: "x", Type: schema.ConfigNumber, Max: 2, Purpose: why},
		Default: jsontext.Value(def)}
}

func TestEveryViolationIsFound(t *testing.T) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil { // its failures are wanted
		t.Fatal(err)
	}
	onTick := func(do func(*mode.Host)) func(*mode.Host, mode.Notice) {
		return func(h *mode.Host, n mode.Notice) {
			if n == (mode.TimePassed{}) {
				do(h)
			}
		}
	}
	for _, c := range []struct {
		name  string
		mode  scripted
		ready func(*mode.Host) mode.Refusal
		param mode.Parameter
		want  string
	}{
		{name: "none", want: ""},
		{name: "never starts", mode: scripted{start: func(*mode.Host) {}}, want: "it is starting after"},
		{name: "starts twice", mode: scripted{start: func(h *mode.Host) { h.Started(); h.Started() }}, want: "reports started and is running"},
		{name: "fails without a reason", mode: scripted{start: func(h *mode.Host) { h.StartFailed(mode.Refusal{}) }}, want: `start-failed with the reason ""`},
		{name: "never stops", mode: scripted{stop: func(*mode.Host) {}}, want: "it is stopping after"},
		{name: "drives after its end", mode: scripted{stop: func(h *mode.Host) { h.Stopped(); h.Do(mode.Drive{VX: 1}) }},
			want: "begins mode.Drive, and has ended"},
		{name: "reports after its end", mode: scripted{stop: func(h *mode.Host) { h.Stopped(); h.Died(fails) }},
			want: "reports died, and has ended"},
		{name: "stops by itself", mode: scripted{step: onTick(func(h *mode.Host) { h.Stopped() })}, want: "reports stopped and is running"},
		{name: "drives whether it may or not", mode: scripted{step: onTick(func(h *mode.Host) { h.Do(mode.Drive{VX: 1}) })},
			want: "the units may move: false"},
		{name: "calibrates by itself", mode: scripted{step: onTick(func(h *mode.Host) { h.Do(mode.Calibrate{}) })}, want: "nobody asked for it"},
		{name: "asks for a stop without a reason", mode: scripted{step: onTick(func(h *mode.Host) { h.Do(mode.Stop{Verb: "stop"}) })},
			want: "without a verb or a reason"},
		{name: "is never ready", ready: func(*mode.Host) mode.Refusal { return fails }, want: "not ready on a robot that has everything"},
		{name: "a question with an effect", ready: func(h *mode.Host) (r mode.Refusal) { h.Do(mode.Drive{}); return r },
			want: "a question has the effects"},
		{name: "a parameter without a purpose", param: number("", "1"), want: "is incomplete"},
		{name: "a parameter whose default is not allowed", param: number("as the test says", "5"), want: "does not allow its default"},
	} {
		t.Run(c.name, func(t *testing.T) {
			row := mode.Installed{Settings: mode.Settings{ID: "bad"}, Name: "bad", Ready: c.ready, New: func() mode.Mode { return c.mode }}
			if c.param.Name != "" {
				row.Params = []mode.Parameter{c.param}
			}
			f := &failing{TB: t}
			for _, check := range checks {
				done := make(chan struct{})
				go func() {
					defer close(done)
					check.holds(f, row)
				}()
				<-done
			}
			if got := f.said.String(); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("the suite says %q, want %q", got, c.want)
			}
		})
	}
}
