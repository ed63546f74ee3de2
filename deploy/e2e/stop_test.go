package e2e

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/schema"
)

// awaitLatches waits until a robot shows exactly these stops and is DISABLED.
func (w *world) awaitLatches(rid string, ids ...string) schema.State {
	w.t.Helper()
	slices.Sort(ids)
	return w.awaitState(rid, "stopped by "+strings.Join(ids, " "), func(s schema.State) bool {
		var latched []string
		for _, l := range s.Safety.Latches {
			latched = append(latched, l.ID)
		}
		slices.Sort(latched)
		return slices.Equal(latched, ids) && s.Safety.State == schema.SafetyDisabled
	})
}

// enable enables robots and waits until they are ENABLED.
func (w *world) enable(ids ...string) {
	w.t.Helper()
	for _, rid := range ids {
		w.mustRequest("op1", rid, "safety/enable", "")
		w.awaitState(rid, "ENABLED", func(s schema.State) bool { return s.Safety.State == schema.SafetyEnabled })
	}
}

// expectEnableRefused checks that enable is refused because of a latched stop,
// with these words in the detail.
func (w *world) expectEnableRefused(rid string, says ...string) {
	w.t.Helper()
	ack := w.request("op1", rid, "safety/enable", "")
	if ack.Status != schema.StatusRejected || ack.Reason != schema.ReasonLatched {
		w.t.Errorf("enable of %s while a stop is latched: %s", rid, jsonText(ack))
	}
	for _, word := range says {
		if !strings.Contains(ack.Detail, word) {
			w.t.Errorf("the refusal of %s does not say %q: %s", rid, word, jsonText(ack))
		}
	}
}

// stopRobots stops robots with fleetd's command line and returns the stop's id.
func (w *world) stopRobots(args ...string) string {
	w.t.Helper()
	b := mustRunJSON[api.Batch](w, append([]string{"stop", "--by", "anna", "--why", "children on the stage"}, args...)...)
	if b.Latch == "" {
		w.t.Fatalf("the stop has no id: %s", jsonText(b))
	}
	return b.Latch
}

// awaitPersistedStops waits until fleetd's database has exactly these stops.
func (w *world) awaitPersistedStops(ids ...string) {
	w.t.Helper()
	slices.Sort(ids)
	w.until("these stops persisted: "+strings.Join(ids, " "), func() bool {
		var latched []string
		for _, h := range w.latchedStops() {
			if !h.Persisted {
				return false
			}
			latched = append(latched, h.ID)
		}
		slices.Sort(latched)
		return slices.Equal(latched, ids)
	})
}

func TestLatchedStopSurvivesRestartsInAnyOrder(t *testing.T) {
	runIn(t, []variant{ownBroker}, func(w *world) {
		w.startFleet("", "r1")
		w.enable("r1")
		id := w.stopRobots("r1")
		w.awaitLatches("r1", id)
		w.awaitPersistedStops(id)

		restart := map[byte]func(){
			'R': func() { w.robots["r1"].kill(); w.runRobot("r1", "") },
			'B': func() { w.killBroker(); w.startBroker() },
			'D': func() { w.fleetd.kill(); w.startFleetd() },
		}
		for _, order := range []string{"RBD", "RDB", "BRD", "BDR", "DRB", "DBR"} {
			mark := w.observer.mark()
			for i := range order {
				restart[order[i]]()
			}
			awaitDocumentAfter(w, mark, robotTopic("r1", "state"), "r1 to be calibrated again after "+order,
				func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl && s.Mode.Calibrated })
			w.awaitLatches("r1", id)
			w.awaitAdopted("r1")
			w.expectEnableRefused("r1", id, "anna", "children on the stage")
		}

		w.latchedStops()
		if out := w.mustRunCLI("stop", "list"); !strings.Contains(out, id) || !strings.Contains(out, "anna") {
			w.t.Errorf("stop list prints\n%s", out)
		}
		out := w.mustRunCLI("stop", "release", id, "--why", "the stage is clear")
		if !strings.Contains(out, "DISABLED") {
			w.t.Errorf("stop release prints\n%s", out)
		}
		w.awaitLatches("r1") // still DISABLED: a release does not enable
		w.enable("r1")
	})
}

func TestLiveStopWithAnyPayloadLatchesEveryRobot(t *testing.T) {
	runIn(t, anyBroker, func(w *world) {
		stopTopic := schema.DefaultNamespace.Topic(schema.TopicFleetStopCmd, "stop1")
		w.recorder.Allow(stopTopic)
		w.startFleet("", "r1", "r2")
		for _, payload := range []string{"", "{{{"} {
			w.enable("r1", "r2")
			mark := w.observer.mark()
			w.publish("stop1", stopTopic, payload)
			for _, rid := range []string{"r1", "r2"} {
				w.awaitLatches(rid, "stop1")
				awaitDocumentAfter(w, mark, robotTopic(rid, "ack/stop1"), rid+" to answer",
					func(a schema.Ack) bool { return a.Verb == "fleet/stop" && a.Status == schema.StatusSucceeded })
			}
			awaitDocumentAfter(w, mark, schema.DefaultNamespace.Topic(schema.TopicFleetAck, "stop1"), "fleetd to have persisted it",
				func(a schema.Ack) bool {
					return a.Verb == "fleet/stop" && a.Status == schema.StatusSucceeded
				})
			w.expectEnableRefused("r1", "stop1")
			w.awaitPersistedStops("stop1")
			w.mustRunCLI("stop", "release", "stop1", "--why", "seen to")
			w.awaitLatches("r1")
			w.awaitLatches("r2")
		}

		// While fleetd is not running, only the robots know a stop; fleetd learns it from them.
		w.enable("r1", "r2")
		w.fleetd.kill()
		w.publish("stop1", stopTopic, `{"id":"gate-7","robots":["r2"],"level":"soft_stop","why":"gate 7 is open"}`)
		w.awaitLatches("r2", "gate-7")
		w.awaitState("r1", "still ENABLED",
			func(s schema.State) bool { return s.Safety.State == schema.SafetyEnabled && len(s.Safety.Latches) == 0 })
		w.startFleetd()
		w.awaitPersistedStops("gate-7")
		w.mustRunCLI("stop", "release", "gate-7", "--why", "gate 7 is shut")
		w.awaitLatches("r2")
		w.mustRunCLI("mode", "set", "mnl", "r2", "--wait") // without a fleetd instance for 5 s it is in safe
		w.enable("r2")
	})
}

// databaseProxy makes fleetd reach Postgres through a proxy, and returns it with the socket to
// which it connects.
func (w *world) databaseProxy() (p *proxy, socket string) {
	w.t.Helper()
	u, err := url.Parse(w.store)
	if err != nil {
		w.t.Fatal(err)
	}
	socket = filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")
	p = newProxy(w.t, socket)
	u.Host, u.RawQuery = strings.TrimPrefix(p.url(), "mqtt://"), "sslmode=disable"
	w.store = u.String()
	return p, socket
}

func TestStopWorksWithoutDatabase(t *testing.T) {
	runIn(t, []variant{postgres}, func(w *world) {
		database, socket := w.databaseProxy()
		w.startFleet("", "r1", "r2")
		w.enable("r1", "r2")

		// A database that hangs does not block commands, and does not delay stops.
		answers := database.hang()
		defer answers()
		if s := w.runCLI("mode", "set", "ato", "r1"); s.code == 0 || !strings.Contains(s.err, "database does not answer") {
			w.t.Errorf("with a database that hangs: status %d\n%s%s", s.code, s.out, s.err)
		}
		hung := w.stopRobots("r2")
		w.awaitLatches("r2", hung)
		answers()
		w.awaitPersistedStops(hung)
		w.mustRunCLI("stop", "release", hung, "--why", "clear")
		w.awaitLatches("r2")
		w.enable("r2")

		database.connectTo("")
		first := w.stopRobots("r1")
		w.awaitLatches("r1", first)
		if s := w.runCLI("stop", "release", first, "--why", "clear"); s.code == 0 || !strings.Contains(s.err, "database") {
			w.t.Errorf("released without a database: status %d\n%s%s", s.code, s.out, s.err)
		}

		// A fleetd that starts without its database stops robots too, and lists the stops
		// that are not persisted yet.
		w.fleetd.kill()
		w.startFleetd()
		second := w.stopRobots("--all")
		w.awaitLatches("r1", first, second)
		w.awaitLatches("r2", second)
		if s := w.runCLI("stop", "list"); s.code != 3 || !strings.Contains(s.out, first) || !strings.Contains(s.out, "not persisted yet") ||
			!strings.Contains(s.err, "may hold more stops") {
			w.t.Errorf("stop list: status %d\n%s%s", s.code, s.out, s.err)
		}

		database.connectTo(socket)
		w.awaitPersistedStops(first, second)
		w.mustRunCLI("stop", "release", second, "--why", "the drill is over")
		w.awaitLatches("r1", first)
		w.awaitLatches("r2")
		w.enable("r2")
		w.expectEnableRefused("r1", first)
	})
}
