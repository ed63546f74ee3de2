// Package deploy holds how Troupe stands: set-up, the stage that runs all of it
// in one process, and end-to-end tests. Here it holds the walls of the code:
// who may import whom, and who may look at a clock. They are data below, read
// from the source files themselves, and one test keeps them.
package deploy

import (
	"os"
	"testing"
)

// A rung is a row of folders that do not know each other. A folder imports
// only from rungs below its own.
type rung struct {
	what    string
	folders []string
	// pure folders decide and do nothing: no network, files, database, log or
	// clock. Their tests may read golden files.
	pure bool
	// clock folders may ask what time it is. Everybody below is told.
	clock bool
}

// The ladder, lowest first.
var ladder = []rung{
	{what: "golden files, for every test",
		folders: []string{"schema/golden"}},
	{what: "which build a program is", pure: true,
		folders: []string{"schema/build"}},
	{what: "state machines as tables", pure: true,
		folders: []string{"schema/fsm"}},
	{what: "the words: messages, topics, verbs, reasons", pure: true,
		folders: []string{"schema"}},
	{what: "what acts and stories mean, and what is signed of a desired state", pure: true,
		folders: []string{"schema/score", "schema/sign"}},
	{what: "what a robot can be asked for", pure: true,
		folders: []string{"schema/verb"}},
	{what: "rooms that decide one thing each", pure: true,
		folders: []string{
			"broker/access",
			"robotd/safety", "robotd/latch", "robotd/mode", "robotd/auto", "robotd/interrupt", "robotd/act",
			"robotd/delivery", "robotd/desiredmode", "robotd/request", "robotd/link", "robotd/renew", "robotd/driver", "robotd/control", "robotd/teleop", "robotd/clock",
			"fleetd/presence", "fleetd/selector", "fleetd/library", "fleetd/command", "fleetd/stop", "fleetd/desired", "fleetd/ca", "fleetd/enrol", "fleetd/decommission", "fleetd/leader",
		}},
	{what: "the robot's configuration", pure: true,
		folders: []string{"robotd/config"}},
	{what: "what can happen to a robot, and what it can want done", pure: true,
		folders: []string{"robotd/event", "robotd/effect"}},
	{what: "parts of the robot", pure: true,
		folders: []string{"robotd/body", "robotd/stops", "robotd/report", "robotd/manual", "robotd/perform", "robotd/desired"}},
	{what: "the robot's one step", pure: true,
		folders: []string{"robotd/brain"}},
	{what: "how the post is carried",
		folders: []string{"broker/websocket"}},
	{what: "hands: the post, the disk, the body, the database, the keys",
		folders: []string{"broker/link", "robotd/disk", "robotd/identity", "robotd/download", "robotd/driver/sim", "fleetd/store", "fleetd/spool", "fleetd/vault", "deploy/library"}},
	{what: "faces of fleetd",
		folders: []string{"fleetd/api", "fleetd/console"}},
	{what: "what fleetd knows of robots and of other instances",
		folders: []string{"fleetd/view", "fleetd/replica"}},
	{what: "parts of fleetd",
		folders: []string{"fleetd/trust", "fleetd/retained", "fleetd/publish", "fleetd/dispatch", "fleetd/latch"}},
	{what: "assemblies: configuration, wiring, loops", clock: true,
		folders: []string{"broker/server", "robotd/robot", "fleetd/fleet"}},
	{what: "what tests stand on", clock: true,
		folders: []string{
			"schema/fsm/fsmtest", "broker/brokertest", "robotd/disk/disktest", "robotd/driver/drivertest",
			"fleetd/store/storetest", "fleetd/store/pgtest", "fleetd/fleet/fleettest", "deploy/mosquittotest",
		}},
	{what: "fleetd's commands", clock: true,
		folders: []string{"fleetd/cli"}},
	{what: "mains", clock: true,
		folders: []string{"broker", "robotd", "fleetd", "schema/gen"}},
	{what: "everything in one process", clock: true,
		folders: []string{"deploy/stage"}},
	{what: "the demo, and tests of the whole", clock: true,
		folders: []string{"deploy/demo", "deploy/e2e", "deploy/mosquitto", "deploy/soak", "deploy"}},
}

// The houses, and what each may import of the others. The programs share only
// words and the way to the post.
var houses = map[string][]string{
	"schema": {},
	"broker": {"schema"},
	"robotd": {"schema", "broker/link"},
	"fleetd": {"schema", "broker/link"},
	"deploy": {"schema", "broker", "robotd", "fleetd"},
}

// Folders that any test may import, wherever it stands. The value tells whether
// they are for tests alone.
var testSupport = map[string]bool{
	"schema/golden":            true,
	"schema/fsm/fsmtest":       true,
	"broker/brokertest":        true,
	"robotd/disk/disktest":     true,
	"robotd/driver/drivertest": true,
	"fleetd/store/storetest":   true,
	"fleetd/store/pgtest":      true,
	"fleetd/fleet/fleettest":   true,
	"deploy/mosquittotest":     true,
	"deploy/stage":             false, // the demo's too
}

// Imports that the ladder or a house forbids and that stand nevertheless.
var allowedImports = map[imported]string{}

// Files or folders below the clock rungs that ask for the time nevertheless.
var allowedClocks = map[string]string{
	"broker/link": "it is the loop around one connection: its deadlines, pauses and echoes are the network's, not the robot's",
}

// The one folder each for what no other may touch.
var onlyIn = map[string]string{
	"github.com/eclipse/paho.mqtt.golang": "broker/link",
	"github.com/mochi-mqtt/server/v2":     "broker/server",
}

// The types that put a program together, by their folder. No struct has one as a
// field: each part gets what it needs through its constructor, so that a reader sees
// what it needs, and a test can give it that.
var assemblies = map[string]string{
	"fleetd/fleet": "Fleet",
}

// Folders whose tests run real processes against real time, and may sleep.
var sleepers = []string{"deploy/e2e"}

func TestImportsFollowTheLadder(t *testing.T) {
	w := wall{
		ladder: ladder, houses: houses, testSupport: testSupport,
		allowedImports: allowedImports, allowedClocks: allowedClocks,
		onlyIn: onlyIn, assemblies: assemblies, sleepers: sleepers,
	}
	found, files, err := w.check(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatal("no Go file was read: the test looks in the wrong place")
	}
	for _, breach := range found {
		t.Error(breach)
	}
}
