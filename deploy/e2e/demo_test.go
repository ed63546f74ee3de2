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

// startDemo starts the demo with these arguments, on free ports.
func startDemo(t *testing.T, args ...string) *process {
	t.Helper()
	return launch(t, "demo", pathOf(t, demoLikeTest), append([]string{"--mqtt", "127.0.0.1:0", "--http", "127.0.0.1:0"}, args...), nil)
}

// worldAroundDemo returns a world around a demo that is ready.
func worldAroundDemo(t *testing.T, p *process) *world {
	t.Helper()
	at := p.ready()
	w := worldAround(t, at["mqtt"])
	w.http = at["http"]
	return w
}

// worldAround returns a world around a running broker without passwords.
func worldAround(t *testing.T, address string) *world {
	t.Helper()
	w := &world{t: t, folder: t.TempDir(), address: address, toolsProxy: newProxy(t, address)}
	w.recorderScope = &scope{TB: t}
	t.Cleanup(w.recorderScope.end)
	w.recorder = brokertest.Record(w.recorderScope, brokertest.TCP(w.address))
	w.observer = startObserver(t, w.toolsProxy.url())
	return w
}

// awaitPerforming waits until the robot performs its story.
func (w *world) awaitPerforming(rid string) schema.State {
	w.t.Helper()
	return w.awaitState(rid, "performing", isPerforming)
}

func isPerforming(s schema.State) bool {
	return s.Mode.Active == schema.ModeAto && s.Auto.Status == schema.AutoPerforming && s.Auto.Story != nil && s.Auto.Act != ""
}

// interruptDemo ends a demo as Ctrl-C does and waits for the robots' last
// presence.
func (w *world) interruptDemo(p *process, robots ...string) {
	w.t.Helper()
	mark := w.observer.mark()
	w.recorderScope.end()
	began := time.Now()
	p.signal(syscall.SIGINT)
	for _, rid := range robots {
		awaitDocumentAfter(w, mark, robotTopic(rid, "presence"), rid+" to be offline", func(d schema.Presence) bool {
			return d.State == schema.PresenceOffline
		})
	}
	awaitDocumentAfter(w, mark, schema.DefaultNamespace.Topic(schema.TopicFleetPresence), "fleetd to be offline",
		func(d schema.Presence) bool {
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

			p := startDemo(t, args...)
			w := worldAroundDemo(t, p)
			first := w.awaitPerforming("r1")
			w.awaitPerforming("r2")
			if !p.log.contains("NOT PROTECTED") {
				t.Error("the demo does not print that it is unprotected")
			}
			w.expectPage()
			w.expectGreeting("r1")
			w.runPrintedLine(p, "-m mnl")
			w.awaitState("r1", "in mnl", func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl })
			w.runPrintedLine(p, "-m ato")
			w.awaitPerforming("r1")
			w.interruptDemo(p, "r1", "r2")

			restarted := startDemo(t, args...)
			w = worldAroundDemo(t, restarted)
			second := w.awaitPerforming("r1")
			w.awaitPerforming("r2")
			if *second.Auto.Story != *first.Auto.Story {
				t.Errorf("r1 performs %v, and performed %v before", second.Auto.Story, first.Auto.Story)
			}
			w.interruptDemo(restarted, "r1", "r2")
		})
	}
}

// runPrintedLine runs the line that the demo printed with that text in it, as a
// person would paste it into a terminal.
func (w *world) runPrintedLine(p *process, with string) {
	w.t.Helper()
	line := p.log.await(w.t, "demo", "a line with "+with, func(line string) bool { return strings.Contains(line, with) })
	out, err := exec.Command("/bin/sh", "-c", line).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"status":"SUCCEEDED"`) {
		w.t.Errorf("%s: %v\n%s", line, err, out)
	}
}

// expectGreeting plays people in and waits until the robot greets them.
func (w *world) expectGreeting(rid string) {
	w.t.Helper()
	w.recorder.Allow(robotTopic(rid, "sim/#"))
	w.simInput(rid, "people", `{"count":2}`)
	w.awaitState(rid, "greeting people", func(s schema.State) bool { return s.Life != nil && s.Life.Focused == "greet-visitor" })
	w.simInput(rid, "people", `{"count":0}`)
}

func (w *world) expectPage() {
	w.t.Helper()
	client := http.Client{Timeout: waitLimit}
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
		"mqtt taken":       {"--mqtt", func(t *testing.T) string { return takenAddress(t) }, "another program listens there"},
		"http taken":       {"--http", func(t *testing.T) string { return takenAddress(t) }, "another program listens there"},
		"not only ours":    {"--http", func(*testing.T) string { return "0.0.0.0:0" }, "only this machine is served"},
		"not an address":   {"--mqtt", func(*testing.T) string { return "1883" }, "write it as 127.0.0.1:PORT"},
		"no such port":     {"--mqtt", func(*testing.T) string { return "127.0.0.1:99999" }, "invalid port"},
		"not this machine": {"--mqtt", func(*testing.T) string { return "example.org:1883" }, "only this machine is served"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, address := t.TempDir(), c.address(t)
			p := startDemo(t, c.flag, address, "--data", data)
			p.ignoreExit = true
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
	p := startDemo(t, "--robots", "1", "--data", data)
	p.ready()
	second := startDemo(t, "--robots", "1", "--data", data)
	second.ignoreExit = true
	if code := second.wait(); code != 1 {
		t.Errorf("the second ended with status %d", code)
	}
	if !second.log.contains("--data " + data + ": another demo uses it") {
		t.Error("the second does not say so")
	}
	if _, err := os.Stat(filepath.Join(data, "r1")); err != nil || !p.running() {
		t.Errorf("the first demo was disturbed: %v", err)
	}
}
