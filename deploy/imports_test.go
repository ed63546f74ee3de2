// Package deploy holds what sets up and tests the whole system: set-up scripts,
// the stage that runs every program in one process, and the end-to-end tests.
// The package itself has the import test: which folder may import which, and
// which may read the clock. The rules are the table of deploy/layers and those
// below; one test checks every Go file of the module against them.
package deploy

import (
	"os"
	"testing"

	"troupe/deploy/layers"
)

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
	"schema/testlog":               true,
	"deploy/shard":                 false, // deploy/proof imports it, too
	"deploy/times":                 false, // as above
	"schema/fsm/fsmtest":           true,
	"broker/brokertest":            true,
	"robotd/disk/disktest":         true,
	"robotd/driver/drivertest":     true,
	"robotd/driver/bus/bustest":    true,
	"robotd/mode/modetest":         true,
	"fleetd/store/storetest":       true,
	"fleetd/store/pgtest":          false, // deploy/bench imports it, too
	"fleetd/fleet/fleettest":       true,
	"fleetd/provider/providertest": true,
	"fleetd/trace/tracetest":       true,
	"deploy/mosquittotest":         true,
	"deploy/natstest":              true,
	"deploy/stage":                 false, // deploy/demo imports it, too
}

// Exceptions: imports that layers or programImports forbid, each with its reason.
var allowedImports = map[importEdge]string{
	{"robotd", "broker/server"}:   "a robot with adapters needs no second program: robotd serves their bus itself, on the loopback only",
	{"schema/gen", "broker/link"}: "docs/cluster.md lists what differs between engines; the client has that table beside what it does itself",
}

// Imports that the layers would allow and that are refused, each with its reason.
var refusedImports = map[importEdge]string{
	{"fleetd/api", "fleetd/store"}: "handlers see neither rows nor transactions; fleetd/change makes the changes",
}

// Exceptions: files or folders of layers without clock that read the clock, each
// with its reason.
var allowedClocks = map[string]string{
	"broker/link": "the loop around one connection: its deadlines and pauses are in the network's time; no decision of a robot " +
		"depends on them",
}

// Libraries that only one folder may import, or one of each program.
var onlyImporter = map[string]string{
	"github.com/eclipse/paho.mqtt.golang": "broker/link",
	"github.com/mochi-mqtt/server/v2":     "broker/server deploy/bench/mochi", // the floor of the broker
	"github.com/alexedwards/scs/v2":       "fleetd/accounts",
	"golang.org/x/oauth2":                 "fleetd/provider",
	// it needs gRPC, which robotd and the broker shall not contain
	"go.opentelemetry.io":              "fleetd/trace fleetd/trace/tracetest",
	"github.com/foxglove/mcap/go/mcap": "robotd/recorder fleetd/records",
	"github.com/google/renameio/v2":    "robotd robotd/page robotd/identity", // fleetd has atomicfile, which also builds on Windows
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
		layers: layers.Table, programImports: programImports, testSupport: testSupport,
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
