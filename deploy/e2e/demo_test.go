package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/fleetd/store/pgtest"
	"troupe/schema"
)

// demo starts the demo with what it is told, on free ports.
func demo(t *testing.T, args ...string) *process {
	t.Helper()
	return launch(t, "demo", program(t, "demo"), append([]string{"--mqtt", "127.0.0.1:0", "--http", "127.0.0.1:0"}, args...), nil)
}

// inDemo is a world around a demo that is ready.
func inDemo(t *testing.T, p *process) *world {
	t.Helper()
	at := p.ready()
	w := around(t, at["mqtt"])
	w.http = at["http"]
	return w
}

// around is a world around a broker that stands and asks for no password.
func around(t *testing.T, address string) *world {
	t.Helper()
	w := &world{t: t, folder: t.TempDir(), address: address, tools: newWire(t, address)}
	w.recorded = &phase{TB: t}
	t.Cleanup(w.recorded.end)
	w.recorder = brokertest.Record(w.recorded, brokertest.TCP(w.address))
	w.eye = open(t, w.tools.url())
	return w
}

// performing waits until a robot is on the way through its story.
func (w *world) performing(rid string) schema.State {
	w.t.Helper()
	return w.state(rid, "performing", isPerforming)
}

func isPerforming(s schema.State) bool {
	return s.Mode.Active == schema.ModeAto && s.Auto.Status == schema.AutoIdle && s.Auto.Story != nil && s.Auto.Act != ""
}

// interrupt ends a demo as Ctrl-C does and waits for its robots' last words.
func (w *world) interrupt(p *process, robots ...string) {
	w.t.Helper()
	mark := w.eye.mark()
	w.recorded.end()
	began := time.Now()
	p.signal(syscall.SIGINT)
	for _, rid := range robots {
		becomes(w, mark, on(rid, "presence"), rid+" to be offline", func(d schema.Presence) bool {
			return d.State == schema.PresenceOffline
		})
	}
	becomes(w, mark, schema.DefaultNamespace.Topic(schema.TopicFleetPresence), "fleetd to be offline", func(d schema.Presence) bool {
		return d.State == schema.PresenceOffline
	})
	if code := p.wait(); code != 0 {
		w.t.Errorf("the demo ended with status %d", code)
	}
	if took := time.Since(began); took > 15*time.Second {
		w.t.Errorf("the demo took %v to end", took)
	}
}

func TestDemoPerformsAndContinuesAfterRestart(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(*testing.T) string{
		"sqlite":   func(*testing.T) string { return "sqlite" },
		"postgres": func(t *testing.T) string { return pgtest.Start(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			args := []string{"--robots", "2", "--data", data, "--database", database(t)}

			p := demo(t, args...)
			w := inDemo(t, p)
			first := w.performing("r1")
			w.performing("r2")
			if !p.log.holds("NOT PROTECTED") {
				t.Error("it does not say that it is unprotected")
			}
			w.pageIsThere()
			w.paste(p, "-m mnl")
			w.state("r1", "in mnl", func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl })
			w.paste(p, "-m ato")
			w.performing("r1")
			w.interrupt(p, "r1", "r2")

			again := demo(t, args...)
			w = inDemo(t, again)
			second := w.performing("r1")
			w.performing("r2")
			if *second.Auto.Story != *first.Auto.Story {
				t.Errorf("r1 performs %v, and performed %v before", second.Auto.Story, first.Auto.Story)
			}
			w.interrupt(again, "r1", "r2")
		})
	}
}

// paste runs the line that a demo printed with that text in it, as somebody who
// pastes it into a terminal.
func (w *world) paste(p *process, with string) {
	w.t.Helper()
	line := p.log.await(w.t, "demo", "a line with "+with, func(line string) bool { return strings.Contains(line, with) })
	out, err := exec.Command("/bin/sh", "-c", line).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"status":"SUCCEEDED"`) {
		w.t.Errorf("%s: %v\n%s", line, err, out)
	}
}

func (w *world) pageIsThere() {
	w.t.Helper()
	client := http.Client{Timeout: patience}
	defer client.CloseIdleConnections()
	answer, err := client.Get(w.http + "/")
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/html") {
		w.t.Errorf("GET %s/: %s, %s", w.http, answer.Status, kind)
	}
}

func TestDemoThatCannotStartSaysWhyAndChangesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flag    string
		address func(*testing.T) string
		says    string
	}{
		"mqtt taken":       {"--mqtt", func(t *testing.T) string { return taken(t) }, "another program listens there"},
		"http taken":       {"--http", func(t *testing.T) string { return taken(t) }, "another program listens there"},
		"not only ours":    {"--http", func(*testing.T) string { return "0.0.0.0:0" }, "only this machine is served"},
		"not an address":   {"--mqtt", func(*testing.T) string { return "1883" }, "write it as 127.0.0.1:PORT"},
		"no such port":     {"--mqtt", func(*testing.T) string { return "127.0.0.1:99999" }, "invalid port"},
		"not this machine": {"--mqtt", func(*testing.T) string { return "example.org:1883" }, "only this machine is served"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, address := t.TempDir(), c.address(t)
			p := demo(t, c.flag, address, "--data", data)
			p.meant = true
			if code := p.wait(); code != 1 {
				t.Errorf("ended with status %d", code)
			}
			p.log.await(t, "demo", "why "+c.flag+" cannot be", func(line string) bool {
				return strings.HasPrefix(line, "demo: "+c.flag+" "+address+": ") && strings.Contains(line, c.says)
			})
			if robots, _ := filepath.Glob(filepath.Join(data, "r*")); len(robots) > 0 {
				t.Errorf("it made %v", robots)
			}
		})
	}
}

func TestDataDirectoryBelongsToOneDemo(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	p := demo(t, "--robots", "1", "--data", data)
	p.ready()
	second := demo(t, "--robots", "1", "--data", data)
	second.meant = true
	if code := second.wait(); code != 1 {
		t.Errorf("the second ended with status %d", code)
	}
	if !second.log.holds("--data " + data + ": another demo uses it") {
		t.Errorf("it said %s", second.log)
	}
	if _, err := os.Stat(filepath.Join(data, "r1")); err != nil || !p.running() {
		t.Errorf("the first one was disturbed: %v", err)
	}
}
