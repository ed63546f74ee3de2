package e2e

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"troupe/deploy/mosquittotest"
	"troupe/schema"
)

const adapters = "../adapters"

// TestAdaptersPerformWelcome gives a robot a body of two adapters, one in Python and one in shell:
// it performs a story, tells when an adapter was killed, and performs again when it is back.
func TestAdaptersPerformWelcome(t *testing.T) {
	python := mosquittotest.PythonWithPaho(t)
	runIn(t, []variant{ownBroker}, func(w *world) {
		port := strconv.Itoa(mosquittotest.FreePort(w.t))
		bus := "mqtt://127.0.0.1:" + port
		talk := func() *process {
			return launch(w.t, "talker", python, []string{"-B", filepath.Join(adapters, "python", "talker.py"), "--bus", bus}, nil)
		}
		talker := talk()
		led := launch(w.t, "led", filepath.Join(adapters, "shell", "led.sh"), []string{"127.0.0.1", port}, nil, inOwnProcessGroup)
		w.runRobot("r1", "", "--body", "bus", "--bus", bus, "--bus-listen", "127.0.0.1:"+port, "--bus-adapters", "talker,led")
		w.awaitState("r1", "calibrated", func(s schema.State) bool { return s.Mode.Calibrated })
		caps := awaitDocument(w, robotTopic("r1", "caps"), "the units", func(schema.Caps) bool { return true })
		var units []string
		for _, u := range caps.Units {
			units = append(units, fmt.Sprint(u.ID, "=", u.Kind))
		}
		if got := strings.Join(units, " "); got != "speaker=speaker face=face led=led" || caps.Robot.Driver != "bus" {
			w.t.Errorf("the driver is %q, the units are %s", caps.Robot.Driver, got)
		}

		w.performStory("r1", "welcome", "greet")
		performs := func(p *process, line string) {
			w.t.Helper()
			p.log.await(w.t, p.name, line, func(l string) bool { return strings.HasPrefix(l, line) })
		}
		performs(talker, "shows smile")
		performs(talker, "says Good morning.")
		performs(led, "led #ffb060")

		mark := w.observer.mark()
		talker.kill()
		w.awaitEvent(mark, "r1", "the loss of the talker", func(e schema.Event) bool {
			return strings.Contains(string(e.Data), "talker: the adapter is ")
		})
		performs(talk(), "says Good morning.")
	})
}
