// Package adapters tests the adapters that are shipped as examples, as processes with a
// robotd that is the test.
package adapters

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"troupe/deploy/mosquittotest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const limit = 30 * time.Second // for what takes well under a second on an idle machine

// TestPython runs the tests of the library, of the adapter for ROS 2, and of the example of a responder.
func TestPython(t *testing.T) {
	t.Parallel()
	python := mosquittotest.PythonWithPaho(t)
	for _, folder := range []string{"python", "ros2", "../examples/responder"} {
		cmd := exec.Command(python, "-B", "-m", "unittest", "-q")
		cmd.Dir = folder
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", folder, err, out)
		}
	}
}

// TestAdaptersAreSmall keeps the examples, and the library that one copies, short enough to be
// read before one writes one's own.
func TestAdaptersAreSmall(t *testing.T) {
	for path, most := range map[string]int{
		"python/talker.py": 200, "python/base.py": 200, "shell/led.sh": 200, "laptop/laptop.py": 200, "ros2/troupe_ros.py": 200,
		"python/troupe_unit.py": 200, "python/troupe_kinds.py": 200, "python/troupe_motion.py": 220, "python/troupe_head.py": 200,
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		if n := len(lines) - 1; n >= most {
			t.Errorf("%s has %d lines", path, n)
		}
		for i, line := range lines {
			if path == "python/troupe_unit.py" && len(line) > 100 {
				t.Errorf("%s:%d is longer than 100 characters", path, i+1)
			}
		}
	}
}

// TestMovingBaseStopsWithoutRobotd has the base of the example drive, and then hears no tick any more.
func TestMovingBaseStopsWithoutRobotd(t *testing.T) {
	t.Parallel()
	r := newRobotd(t)
	p := r.adapter("python/base.py")
	r.await("the base's presence", func(s seen) bool { return s.presence.Present })
	// On a busy machine the ticks of this test may be late, and then the base stops before its time.
	for key, moves := 1, false; !moves; key++ {
		r.feed("reset")
		r.await("rest", func(s seen) bool { return s.units["drive"].State == "idle" })
		r.feed("run")
		r.await("permission to move", func(s seen) bool { return s.units["drive"].State == "run" })
		r.forgetFaults() // those of late ticks before; one from now on may be the one that is waited for
		r.publish("bus/base/in/start", fmt.Sprintf(`{"v":1,"key":%d,"unit":"drive","holds":true,"do":{"type":"drive","start_ms":0,"end_ms":60000,"vx_mps":0.4}}`, key))
		r.await("the speed, or a stop because a tick was late", func(s seen) bool {
			u := s.units["drive"]
			moves = u.SetVX == 0.4
			return moves || u.State == "error"
		})
	}
	r.feed("")
	silent := time.Now()
	r.await("standstill and an error", func(s seen) bool {
		u := s.units["drive"]
		return u.State == "error" && u.SetVX == 0 && u.VX == 0 && strings.Contains(s.faults["drive"], "robotd")
	})
	t.Logf("the base stood %v after the last tick", time.Since(silent).Round(time.Millisecond))
	r.feed("reset")
	r.await("the end of the error", func(s seen) bool { return s.units["drive"].State == "idle" })
	p.end()
	r.await("its goodbye", func(s seen) bool { return !s.presence.Present })
}

// TestAdapterSaysWhetherItReachesTheBus has one with a wrong address, and one with the right one.
func TestAdapterSaysWhetherItReachesTheBus(t *testing.T) {
	t.Parallel()
	r := newRobotd(t)
	p := r.adapter("python/talker.py")
	p.await("connected to " + r.url)
	wrong := &robotd{t: t, url: "mqtt://127.0.0.1:1"} // nothing listens there
	p = wrong.adapter("python/talker.py")
	p.await("no bus at mqtt://127.0.0.1:1: start robotd or `robotd driver check`, or correct --bus")
	p.end()
	for _, line := range p.other {
		if strings.HasPrefix(line, "ready") && strings.Contains(line, "mqtt:") {
			t.Errorf("it claims a bus: %s", line)
		}
	}
}

// TestAdapterLogsTheMethodThatHangs: it stands still, and nothing else watches it.
func TestAdapterLogsTheMethodThatHangs(t *testing.T) {
	t.Parallel()
	r := newRobotd(t)
	python, err := filepath.Abs("python")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "hang.py")
	text := "import sys, time\nsys.path.append('" + python + "')\n" + `from troupe_unit import Adapter, Unit, serve
class Voice(Unit):
    kind, types = "speaker", ["say"]
    def start(self, c):
        time.sleep(5)
serve(Adapter("hang", "test", [Voice()]))
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := r.adapter(path)
	r.await("the presence", func(s seen) bool { return s.presence.Present })
	r.publish("bus/hang/in/start", `{"v":1,"key":1,"unit":"speaker","holds":true,"text":"Hi!","do":{"type":"say","start_ms":0,"timeout_ms":4000,"text":{"en":"Hi!"}}}`)
	p.await("Timeout (0:00:01)!")
	p.await(`hang.py", line 7 in start`)
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
	r.wantAnswers("done", "done", "failed")
}

// TestShellLEDLightsAndSaysThatItIsGone has the led of the shell example shine, and kills it.
func TestShellLEDLightsAndSaysThatItIsGone(t *testing.T) {
	t.Parallel()
	r := newRobotd(t)
	host, port, _ := strings.Cut(strings.TrimPrefix(r.url, "mqtt://"), ":")
	p := r.start(exec.Command("shell/led.sh", host, port))
	p.await("ready")
	r.await("its state", func(s seen) bool { return s.presence.Present && s.units["led"].State == "idle" })
	r.publish("bus/led/in/start", `{"v":1,"key":1,"unit":"led","do":{"type":"led","start_ms":0,"colour":"#20c0ff"}}`)
	p.await("led #20c0ff")
	r.publish("bus/led/in/start", `{"v":1,"key":2,"unit":"led","holds":true,"do":{"type":"led","start_ms":0,"end_ms":9000,"colour":"#ff0000"}}`)
	p.await("led #ff0000")
	r.publish("bus/led/in/stop", `{"v":1,"key":2}`)
	p.await("led #20c0ff")
	r.publish("bus/led/in/start", `{"v":1,"key":3,"unit":"led","do":{"type":"say","start_ms":0}}`)
	r.await("an answer to each but the stopped one", func(s seen) bool { return len(s.events) == 2 })
	r.wantAnswers("done", "", "failed")
	p.kill()
	r.await("its end", func(s seen) bool { return !s.presence.Present })
}
