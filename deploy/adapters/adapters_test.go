// Package adapters tests the adapters that are shipped as examples, as processes with a
// robotd that is the test.
package adapters

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"troupe/broker/link"
	"troupe/deploy/mosquittotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const limit = 30 * time.Second // for what takes well under a second on an idle machine

// TestPythonLibrary runs the library's own tests.
func TestPythonLibrary(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(mosquittotest.PythonWithPaho(t), "-B", "-m", "unittest", "-q")
	cmd.Dir = "python"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAdaptersAreSmall keeps the examples short enough to be read before one writes one's own.
func TestAdaptersAreSmall(t *testing.T) {
	for _, path := range []string{"python/talker.py", "python/base.py"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n >= 200 {
			t.Errorf("%s has %d lines", path, n)
		}
	}
}

// TestMovingBaseStopsWithoutRobotd has the base of the example drive, and then hears no tick any more.
func TestMovingBaseStopsWithoutRobotd(t *testing.T) {
	t.Parallel()
	r := newRobotd(t)
	p := r.adapter("python/base.py")
	r.await("the base's presence", func(s seen) bool { return s.presence.Present })
	r.feed("run")
	r.await("permission to move", func(s seen) bool { return s.units["drive"].State == "run" })
	r.publish("bus/base/in/start", `{"v":1,"key":1,"unit":"drive","holds":true,"do":{"type":"drive","start_ms":0,"end_ms":60000,"vx_mps":0.4}}`)
	r.await("the speed", func(s seen) bool { return s.units["drive"].SetVX == 0.4 })
	r.feed("")
	silent := time.Now()
	r.await("standstill and an error", func(s seen) bool {
		u := s.units["drive"]
		return u.State == "error" && u.SetVX == 0 && u.VX == 0 && strings.Contains(u.Fault, "robotd")
	})
	t.Logf("the base stood %v after the last tick", time.Since(silent).Round(time.Millisecond))
	r.feed("reset")
	r.await("the end of the error", func(s seen) bool { return s.units["drive"].State == "idle" })
	p.end()
	r.await("its goodbye", func(s seen) bool { return !s.presence.Present })
}

// TestTalkerAnswersWhatItPlays has the talker say a sentence and show a face.
func TestTalkerAnswersWhatItPlays(t *testing.T) {
	t.Parallel()
	r := newRobotd(t)
	p := r.adapter("python/talker.py")
	r.await("the talker's presence", func(s seen) bool { return s.presence.Present })
	r.publish("bus/talker/in/start", `{"v":1,"key":1,"unit":"speaker","holds":true,"text":"Hi!","do":{"type":"say","start_ms":0,"timeout_ms":4000,"text":{"en":"Hi!"}}}`)
	r.publish("bus/talker/in/start", `{"v":1,"key":2,"unit":"face","do":{"type":"face","start_ms":0,"face":"smile"}}`)
	r.publish("bus/talker/in/start", `{"v":1,"key":3,"unit":"face","do":{"type":"face","start_ms":0,"face":"evil"}}`)
	r.await("an answer to each", func(s seen) bool { return len(s.events) == 3 })
	for _, line := range []string{"says Hi!", "shows smile"} {
		p.await(line)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.seen.events {
		if want := map[int]string{1: "done", 2: "done", 3: "failed"}[e.Key]; e.Kind != want {
			t.Errorf("command %d was answered with %+v, want %s", e.Key, e, want)
		}
	}
}

// seen is what arrived from an adapter.
type seen struct {
	presence struct{ Present bool }
	units    map[string]unit
	events   []event
}

type unit struct {
	State, Fault string
	VX           float64 `json:"vx_mps"`
	SetVX        float64 `json:"set_vx_mps"`
}

type event struct {
	Kind, Reason, Detail string
	Key                  int
}

// robotd plays robotd on a bus of its own.
type robotd struct {
	t    *testing.T
	url  string
	bus  *link.Link
	mu   sync.Mutex
	seen seen
	news chan struct{} // a token after each message

	feeding context.CancelFunc
	fed     sync.WaitGroup
}

func newRobotd(t *testing.T) *robotd {
	t.Helper()
	r := &robotd{t: t, url: mosquittotest.Start(t, mosquittotest.Options{}), news: make(chan struct{}, 1), feeding: func() {}}
	var err error
	r.bus, err = link.Open(t.Context(), link.Config{
		URL: r.url, ClientID: "robotd",
		Will: func(string) link.Message {
			return link.Message{Topic: "bus/robotd/presence", Payload: []byte(`{"v":1,"present":false,"session":"test"}`), QoS: 1, Retain: true}
		},
		Presence: func(string) link.Message {
			return link.Message{Topic: "bus/robotd/presence", Payload: []byte(`{"v":1,"present":true,"session":"test","robot":"r1","language":"en"}`), QoS: 1, Retain: true}
		},
		Subscribe: []link.Subscription{{Filter: "bus/+/out/#", QoS: 1}},
		OnMessage: r.receive,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.feed("")
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		_ = r.bus.Close(ctx)
	})
	if err := r.bus.WaitUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *robotd) receive(m link.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.Topic == "bus/robotd/presence" {
		return
	}
	var err error
	switch what := m.Topic[strings.LastIndex(m.Topic, "/")+1:]; what {
	case "presence":
		err = json.Unmarshal(m.Payload, &r.seen.presence)
	case "state":
		var s struct{ Units map[string]unit }
		err = json.Unmarshal(m.Payload, &s)
		r.seen.units = s.Units
	case "event":
		var e event
		err = json.Unmarshal(m.Payload, &e)
		r.seen.events = append(r.seen.events, e)
	}
	if err != nil {
		r.t.Errorf("%s %s: %v", m.Topic, m.Payload, err)
	}
	select {
	case r.news <- struct{}{}:
	default:
	}
}

func (r *robotd) await(what string, holds func(seen) bool) {
	r.t.Helper()
	late := time.After(limit)
	for {
		r.mu.Lock()
		ok := holds(r.seen)
		now := fmt.Sprintf("%+v", r.seen)
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-r.news:
		case <-late:
			r.t.Fatalf("waited %v for %s; seen is %s", limit, what, now)
		}
	}
}

func (r *robotd) publish(topic, payload string) {
	r.t.Helper()
	if err := r.bus.Publish(context.Background(), link.Message{Topic: topic, Payload: []byte(payload), QoS: 1}); err != nil {
		r.t.Errorf("publish %s: %v", topic, err)
	}
}

// feed repeats an order every 20 ms from now on; an empty one ends the feeding.
func (r *robotd) feed(order string) {
	r.feeding()
	r.fed.Wait()
	if order == "" {
		return
	}
	var ctx context.Context
	ctx, r.feeding = context.WithCancel(context.Background())
	r.fed.Go(func() {
		ticks := time.NewTicker(20 * time.Millisecond)
		defer ticks.Stop()
		for seq := 1; ; seq++ {
			r.publish("bus/base/in/tick", fmt.Sprintf(`{"v":1,"seq":%d,"order":%q}`, seq, order))
			select {
			case <-ticks.C:
			case <-ctx.Done():
				return
			}
		}
	})
}

// A process is an adapter that runs.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
}

func (r *robotd) adapter(path string, more ...string) *process {
	r.t.Helper()
	p := &process{t: r.t, lines: make(chan string, 1000)}
	p.cmd = exec.Command(mosquittotest.PythonWithPaho(r.t), append([]string{"-B", filepath.Base(path), "--bus", r.url}, more...)...)
	p.cmd.Dir = filepath.Dir(path)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	p.cmd.Stderr = os.Stderr
	if err := p.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	r.t.Cleanup(p.end)
	return p
}

// await waits for a line that the adapter prints.
func (p *process) await(want string) {
	p.t.Helper()
	late := time.After(limit)
	for {
		select {
		case line, more := <-p.lines:
			if line == want {
				return
			}
			if !more {
				p.t.Fatalf("the adapter ended without printing %q", want)
			}
		case <-late:
			p.t.Fatalf("waited %v for %q", limit, want)
		}
	}
}

// end ends the adapter as a person does.
func (p *process) end() {
	p.t.Helper()
	if p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	for range p.lines {
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the adapter ended with %v", err)
	}
}
