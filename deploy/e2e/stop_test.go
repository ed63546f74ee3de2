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

// holds waits until a robot shows exactly these stops, and stands.
func (w *world) holds(rid string, ids ...string) schema.State {
	w.t.Helper()
	slices.Sort(ids)
	return w.state(rid, "held by "+strings.Join(ids, " "), func(s schema.State) bool {
		var held []string
		for _, l := range s.Safety.Latches {
			held = append(held, l.ID)
		}
		slices.Sort(held)
		return slices.Equal(held, ids) && s.Safety.State == schema.SafetyDisabled
	})
}

// enabled enables robots and waits until they are.
func (w *world) enabled(ids ...string) {
	w.t.Helper()
	for _, rid := range ids {
		w.told("op1", rid, "safety/enable", "")
		w.state(rid, "ENABLED", func(s schema.State) bool { return s.Safety.State == schema.SafetyEnabled })
	}
}

// refusesEnable holds that a robot is not enabled, and says who holds it.
func (w *world) refusesEnable(rid string, says ...string) {
	w.t.Helper()
	ack := w.ask("op1", rid, "safety/enable", "")
	if ack.Status != schema.StatusRejected || ack.Reason != schema.ReasonLatched {
		w.t.Errorf("%s while a stop is held: %s", rid, text(ack))
	}
	for _, word := range says {
		if !strings.Contains(ack.Detail, word) {
			w.t.Errorf("the refusal of %s does not say %q: %s", rid, word, text(ack))
		}
	}
}

// stops stops robots from fleetd's command line and returns the stop's id.
func (w *world) stops(args ...string) string {
	w.t.Helper()
	b := asked[api.Batch](w, append([]string{"stop", "--by", "anna", "--why", "children on the stage"}, args...)...)
	if b.Latch == "" {
		w.t.Fatalf("the stop has no id: %s", text(b))
	}
	return b.Latch
}

// persisted waits until fleetd holds exactly these stops in its database.
func (w *world) persisted(ids ...string) {
	w.t.Helper()
	slices.Sort(ids)
	w.until("these stops persisted: "+strings.Join(ids, " "), func() bool {
		var held []string
		for _, h := range w.heldStops() {
			if !h.Persisted {
				return false
			}
			held = append(held, h.ID)
		}
		slices.Sort(held)
		return slices.Equal(held, ids)
	})
}

func TestLatchedStopSurvivesRestartsInAnyOrder(t *testing.T) {
	in(t, []kind{ours}, func(w *world) {
		w.startFleetd()
		w.robotsIn(schema.ModeMnl, "", "r1")
		w.known("r1")
		w.enabled("r1")
		id := w.stops("r1")
		w.holds("r1", id)
		w.persisted(id)

		restart := map[byte]func(){
			'R': func() { w.robots["r1"].kill(); w.robot("r1", "") },
			'B': func() { w.loseBroker(); w.startBroker() },
			'D': func() { w.fleetd.kill(); w.startFleetd() },
		}
		for _, order := range []string{"RBD", "RDB", "BRD", "BDR", "DRB", "DBR"} {
			mark := w.eye.mark()
			for i := range order {
				restart[order[i]]()
			}
			becomes(w, mark, on("r1", "state"), "r1 to be calibrated again after "+order, func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl && s.Mode.Calibrated })
			w.holds("r1", id)
			w.known("r1")
			w.refusesEnable("r1", id, "anna", "children on the stage")
		}

		w.heldStops()
		if said := w.do("stop", "list"); !strings.Contains(said, id) || !strings.Contains(said, "anna") {
			w.t.Errorf("stop list says\n%s", said)
		}
		said := w.do("stop", "release", id, "--why", "the stage is clear")
		if !strings.Contains(said, "DISABLED") {
			w.t.Errorf("stop release says\n%s", said)
		}
		w.holds("r1") // nothing moves by itself
		w.enabled("r1")
	})
}

func TestLiveStopWithAnyPayloadLatchesEveryRobot(t *testing.T) {
	in(t, []kind{ours, mosquitto}, func(w *world) {
		press := schema.DefaultNamespace.Topic(schema.TopicFleetStopCmd, "stop1")
		w.recorder.Allow(press)
		w.startFleetd()
		w.robotsIn(schema.ModeMnl, "", "r1", "r2")
		w.known("r1", "r2")
		for _, payload := range []string{"", "{{{"} {
			w.enabled("r1", "r2")
			mark := w.eye.mark()
			w.send("stop1", press, payload)
			for _, rid := range []string{"r1", "r2"} {
				w.holds(rid, "stop1")
				becomes(w, mark, on(rid, "ack/stop1"), rid+" to answer", func(a schema.Ack) bool { return a.Verb == "fleet/stop" && a.Status == schema.StatusSucceeded })
			}
			becomes(w, mark, schema.DefaultNamespace.Topic(schema.TopicFleetAck, "stop1"), "fleetd to have it persisted", func(a schema.Ack) bool {
				return a.Verb == "fleet/stop" && a.Status == schema.StatusSucceeded
			})
			w.refusesEnable("r1", "stop1")
			w.persisted("stop1")
			w.do("stop", "release", "stop1", "--why", "seen to")
			w.holds("r1")
			w.holds("r2")
		}

		// While fleetd is away, robots hold it alone; fleetd learns it from them.
		w.enabled("r1", "r2")
		w.fleetd.kill()
		w.send("stop1", press, `{"id":"gate-7","robots":["r2"],"level":"soft_stop","why":"gate 7 is open"}`)
		w.holds("r2", "gate-7")
		w.state("r1", "still ENABLED", func(s schema.State) bool { return s.Safety.State == schema.SafetyEnabled && len(s.Safety.Latches) == 0 })
		w.startFleetd()
		w.persisted("gate-7")
		w.do("stop", "release", "gate-7", "--why", "gate 7 is shut")
		w.holds("r2")
		w.do("mode", "set", "mnl", "r2", "--wait") // without a fleetd instance for 5 s it is in safe
		w.enabled("r2")
	})
}

func TestUnreadableStopDocumentLatchesUntilFleetdReleasesIt(t *testing.T) {
	in(t, []kind{ours}, func(w *world) {
		topic := on("r1", "desired/stop")
		w.recorder.Allow(topic)
		w.startFleetd()
		w.robotsIn(schema.ModeMnl, "", "r1")
		w.known("r1")
		w.enabled("r1")
		w.send("admin", topic, "{{{", "-r")
		w.holds("r1", "unreadable-robot-stop")
		w.refusesEnable("r1", "unreadable-robot-stop")
		w.send("admin", topic, "", "-r") // emptied: that releases nothing
		w.persisted("unreadable-robot-stop")
		w.robots["r1"].kill()
		w.robotsIn(schema.ModeMnl, "", "r1")
		w.holds("r1", "unreadable-robot-stop")
		w.do("stop", "release", "unreadable-robot-stop", "--why", "somebody wrote there by mistake")
		w.holds("r1")
		w.enabled("r1")
	})
}

func TestStopWorksWithoutDatabase(t *testing.T) {
	in(t, []kind{postgres}, func(w *world) {
		u, err := url.Parse(w.store)
		if err != nil {
			t.Fatal(err)
		}
		socket := filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")
		database := newWire(t, socket)
		u.Host, u.RawQuery = strings.TrimPrefix(database.url(), "mqtt://"), "sslmode=disable"
		w.store = u.String()

		w.startFleetd()
		w.robotsIn(schema.ModeMnl, "", "r1", "r2")
		w.known("r1", "r2")
		w.enabled("r1", "r2")

		// One that hangs keeps nobody waiting who wants a robot to do something, and
		// nobody who stops.
		answers := database.hangs()
		defer answers()
		if s := w.cli("mode", "set", "ato", "r1"); s.code == 0 || !strings.Contains(s.err, "database does not answer") {
			w.t.Errorf("with a database that hangs: status %d\n%s%s", s.code, s.out, s.err)
		}
		hung := w.stops("r2")
		w.holds("r2", hung)
		answers()
		w.persisted(hung)
		w.do("stop", "release", hung, "--why", "clear")
		w.holds("r2")
		w.enabled("r2")

		database.lead("")
		first := w.stops("r1")
		w.holds("r1", first)
		if s := w.cli("stop", "release", first, "--why", "clear"); s.code == 0 || !strings.Contains(s.err, "database") {
			w.t.Errorf("released without a database: status %d\n%s%s", s.code, s.out, s.err)
		}

		// A fleetd instance that begins without its database stops robots too, and knows what waits.
		w.fleetd.kill()
		w.startFleetd()
		second := w.stops("--all")
		w.holds("r1", first, second)
		w.holds("r2", second)
		if s := w.cli("stop", "list"); s.code != 3 || !strings.Contains(s.out, first) || !strings.Contains(s.out, "not persisted yet") || !strings.Contains(s.err, "may hold more stops") {
			w.t.Errorf("stop list: status %d\n%s%s", s.code, s.out, s.err)
		}

		database.lead(socket)
		w.persisted(first, second)
		w.do("stop", "release", second, "--why", "the drill is over")
		w.holds("r1", first)
		w.holds("r2")
		w.enabled("r2")
		w.refusesEnable("r1", first)
	})
}

func TestRetainedStopIsObeyedAndRaisesAnAlert(t *testing.T) {
	in(t, []kind{mosquitto}, func(w *world) {
		press := schema.DefaultNamespace.Topic(schema.TopicFleetStopCmd, "stop1")
		w.recorder.Allow(press)
		w.send("stop1", press, "now", "-r") // an empty one would be kept by no broker
		w.robotsIn(schema.ModeMnl, "", "r1")
		s := w.holds("r1", "stop1")
		if !slices.ContainsFunc(s.Alerts, func(a schema.Alert) bool { return a.Type == string(schema.ReasonRetainedCommand) }) {
			w.state("r1", "alarmed", func(s schema.State) bool {
				return slices.ContainsFunc(s.Alerts, func(a schema.Alert) bool { return a.Type == string(schema.ReasonRetainedCommand) })
			})
		}
		w.refusesEnable("r1", "stop1")
	})
}
