// Package deploy holds what sets up and tests the whole system: set-up scripts,
// the stage that runs every program in one process, and the end-to-end tests.
// The package itself has the import test: which folder may import which, and
// which may read the clock. The rules are the tables below; one test checks
// every Go file of the module against them.
package deploy

import (
	"os"
	"testing"
)

// A layer is a list of folders that do not import each other. A folder imports
// only folders of the layers below its own.
type layer struct {
	what    string
	folders []string
	// pure folders have no side effects: no network, files, database, log or
	// clock. Their tests may read golden files.
	pure bool
	// clock folders may read the clock. All others take the time as an argument.
	clock bool
}

// The layers, lowest first.
var layers = []layer{
	{what: "golden files and a clock of its own, for every test",
		folders: []string{"schema/golden", "schema/bubble"}},
	{what: "which build a program is; password hashes", pure: true,
		folders: []string{"schema/build", "schema/argon2id"}},
	{what: "state machines as tables", pure: true,
		folders: []string{"schema/fsm"}},
	{what: "the wire contract: messages, topics, verbs, reasons", pure: true,
		folders: []string{"schema"}},
	{what: "what the audit keeps", pure: true,
		folders: []string{"fleetd/audit"}},
	{what: "conditions", pure: true,
		folders: []string{"schema/cond"}},
	{what: "acts and stories, and signatures of desired documents", pure: true,
		folders: []string{"schema/score", "schema/sign"}},
	{what: "the commands of a robot, and the settings of its interrupts", pure: true,
		folders: []string{"schema/verb", "schema/interrupts", "schema/intents"}},
	{what: "the contract between robotd and the adapters of its units", pure: true,
		folders: []string{"schema/bus"}},
	{what: "packages that decide one thing each", pure: true,
		folders: []string{
			"broker/access",
			"robotd/safety", "robotd/latch", "robotd/mode", "robotd/auto", "robotd/interrupt", "robotd/act",
			"robotd/delivery", "robotd/desiredmode", "robotd/request", "robotd/operatorlink", "robotd/renew", "robotd/driver", "robotd/control", "robotd/teleop", "robotd/taught", "robotd/clock",
			"fleetd/presence", "fleetd/selector", "fleetd/library", "fleetd/command", "fleetd/stop", "fleetd/desired", "fleetd/ca", "fleetd/enrol", "fleetd/decommission", "fleetd/leader", "fleetd/drive",
		}},
	{what: "modes of operation", pure: true,
		folders: []string{"robotd/mode/str", "robotd/mode/mnl", "robotd/mode/ato", "robotd/mode/safe", "robotd/mode/follow"}},
	{what: "signals of the body", pure: true,
		folders: []string{"robotd/signal"}},
	{what: "the robot's configuration", pure: true,
		folders: []string{"robotd/config"}},
	{what: "events and effects of a robot", pure: true,
		folders: []string{"robotd/event", "robotd/effect"}},
	{what: "components of the robot", pure: true,
		folders: []string{"robotd/permission", "robotd/answer", "robotd/heartbeat", "robotd/diskvalues", "robotd/supervisor", "robotd/body", "robotd/diagnosis", "robotd/stops", "robotd/report", "robotd/manual", "robotd/perform", "robotd/desired", "robotd/intent", "robotd/life"}},
	{what: "the robot's step function", pure: true,
		folders: []string{"robotd/brain"}},
	{what: "MQTT over WebSocket",
		folders: []string{"broker/websocket"}},
	{what: "who makes a request, and what they may do",
		folders: []string{"fleetd/auth"}},
	{what: "side effects: MQTT client, disk, flight recorder, simulated body, the robot's own page, database, keys, OpenID Connect",
		folders: []string{"broker/link", "robotd/disk", "robotd/identity", "robotd/download", "robotd/recorder", "robotd/driver/sim", "robotd/page", "fleetd/store", "fleetd/spool", "fleetd/vault", "fleetd/provider", "deploy/library"}},
	{what: "bodies over MQTT",
		folders: []string{"robotd/driver/bus", "robotd/driver/bus/check"}},
	{what: "changes that people request of the database",
		folders: []string{"fleetd/change"}},
	{what: "fleetd's view of robots and of other instances",
		folders: []string{"fleetd/view", "fleetd/replica"}},
	{what: "components of fleetd",
		folders: []string{"fleetd/certificate", "fleetd/revocation", "fleetd/decommissioner", "fleetd/retained", "fleetd/publish", "fleetd/dispatch", "fleetd/latch", "fleetd/teleop", "fleetd/auditqueue", "fleetd/records"}},
	{what: "who is signed in",
		folders: []string{"fleetd/accounts"}},
	{what: "fleetd's HTTP API and page",
		folders: []string{"fleetd/api", "fleetd/console"}},
	{what: "assemblies: configuration, wiring, loops", clock: true,
		folders: []string{"broker/server", "robotd/robot", "fleetd/fleet"}},
	{what: "a private PostgreSQL for tests", clock: true,
		folders: []string{"fleetd/store/pgtest"}},
	{what: "test support", clock: true,
		folders: []string{
			"schema/fsm/fsmtest", "broker/brokertest", "robotd/mode/modetest", "robotd/disk/disktest", "robotd/driver/drivertest", "robotd/driver/bus/bustest",
			"fleetd/store/storetest", "fleetd/fleet/fleettest", "fleetd/provider/providertest", "deploy/mosquittotest",
		}},
	{what: "fleetd's commands", clock: true,
		folders: []string{"fleetd/cli"}},
	{what: "mains", clock: true,
		folders: []string{"broker", "robotd", "fleetd", "schema/gen", "deploy/library/makesounds", "fleetd/console/licences"}},
	{what: "everything in one process", clock: true,
		folders: []string{"deploy/stage"}},
	{what: "the demo and the end-to-end tests", clock: true,
		folders: []string{"deploy/demo", "deploy/e2e", "deploy/adapters", "deploy/mosquitto", "deploy/soak", "deploy"}},
}

// The top-level folders, and what each may import of the others. robotd and
// fleetd share only the wire contract (schema) and the MQTT client (broker/link).
var programImports = map[string][]string{
	"schema": {},
	"broker": {"schema"},
	"robotd": {"schema", "broker/link"},
	"fleetd": {"schema", "broker/link"},
	"deploy": {"schema", "broker", "robotd", "fleetd"},
}

// Folders that tests of every layer may import. The value is true if only tests
// may import the folder.
var testSupport = map[string]bool{
	"schema/golden":                true,
	"schema/bubble":                true,
	"schema/fsm/fsmtest":           true,
	"broker/brokertest":            true,
	"robotd/disk/disktest":         true,
	"robotd/driver/drivertest":     true,
	"robotd/driver/bus/bustest":    true,
	"robotd/mode/modetest":         true,
	"fleetd/store/storetest":       true,
	"fleetd/store/pgtest":          true,
	"fleetd/fleet/fleettest":       true,
	"fleetd/provider/providertest": true,
	"deploy/mosquittotest":         true,
	"deploy/stage":                 false, // deploy/demo imports it, too
}

// Exceptions: imports that layers or programImports forbid, each with its reason.
var allowedImports = map[importEdge]string{
	{"robotd", "broker/server"}: "a robot with adapters needs no second program: robotd serves their bus itself, on the loopback only",
}

// Imports that the layers would allow and that are refused, each with its reason.
var refusedImports = map[importEdge]string{
	{"fleetd/api", "fleetd/store"}: "handlers see neither rows nor transactions; fleetd/change makes the changes",
}

// Exceptions: files or folders of layers without clock that read the clock, each
// with its reason.
var allowedClocks = map[string]string{
	"broker/link": "the loop around one connection: its deadlines and pauses are in the network's time; no decision of a robot depends on them",
}

// Libraries that only one folder may import, or one of each program.
var onlyImporter = map[string]string{
	"github.com/eclipse/paho.mqtt.golang": "broker/link",
	"github.com/mochi-mqtt/server/v2":     "broker/server",
	"github.com/alexedwards/scs/v2":       "fleetd/accounts",
	"golang.org/x/oauth2":                 "fleetd/provider",
	"github.com/foxglove/mcap/go/mcap":    "robotd/recorder fleetd/records",
}

// The types that assemble a program, by their folder. No struct has one as a
// field: each component gets its dependencies through its constructor, so that a
// reader sees them and a test can supply them.
var assemblies = map[string]string{
	"fleetd/fleet": "Fleet",
}

// The modes of operation, whose names are constants of schema, and the folder of the
// program that may name one. All else in that program treats modes alike, so that a new
// mode is a package and a line in the table of modes.
var modes = modeNames{
	program: "robotd", within: "robotd/mode",
	constants: []string{"ModeStr", "ModeMnl", "ModeAto", "ModeSafe"},
	values:    []string{"str", "mnl", "ato"}, // "safe" is a reaction to link loss too
}

// Folders whose tests run real processes against real time, and may sleep.
var maySleep = []string{"deploy/e2e"}

func TestImportsFollowTheLayers(t *testing.T) {
	rules := importRules{
		layers: layers, programImports: programImports, testSupport: testSupport,
		allowedImports: allowedImports, refusedImports: refusedImports, allowedClocks: allowedClocks,
		onlyImporter: onlyImporter, assemblies: assemblies, modes: modes, maySleep: maySleep,
	}
	found, files, err := rules.check(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatal("no Go file was found: the test reads the wrong folder")
	}
	for _, violation := range found {
		t.Error(violation)
	}
}
