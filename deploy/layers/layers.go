// Package layers is the table of the folders of this module: which may import which, which may read
// the clock, and how their tests run. The import test of deploy checks every Go file against it, and
// deploy/proof derives from it what a run of the tests executes.
package layers

import "slices"

// A Layer is a list of folders that do not import each other. A folder imports
// only folders of the layers below its own.
type Layer struct {
	What    string
	Folders []string
	// Pure folders have no side effects: no network, files, database, log or
	// clock. Neither they nor their tests start a goroutine, so the race detector
	// would find nothing in them. Their tests may read golden files.
	Pure bool
	// Clock folders may read the clock. All others take the time as an argument.
	Clock bool
	// Processes says that the tests of these folders start programs or read the tree: what runs at
	// once is outside the test, where the race detector does not see it.
	Processes bool
}

// Table is the layers, lowest first. A folder that is in none fails the import test.
var Table = []Layer{
	{What: "for every test: golden files, a clock of its own, logs that are shown if it fails, the shard and the times of a run",
		Folders: []string{"schema/golden", "schema/bubble", "schema/testlog", "deploy/shard", "deploy/times"}},
	{What: "this table", Pure: true,
		Folders: []string{"deploy/layers"}},
	{What: "which build a program is, and its commands and flags; password hashes; what a doctor found; files of environment variables",
		Pure:    true,
		Folders: []string{"schema/build", "schema/argon2id", "schema/program", "schema/finding", "schema/envfile"}},
	{What: "metrics as tables, of which Prometheus's collectors follow",
		Folders: []string{"schema/metric"}},
	{What: "profiles of the running program over HTTP",
		Folders: []string{"schema/profile"}},
	{What: "for tests of such tables",
		Folders: []string{"schema/metric/metrictest"}},
	{What: "loggers of the programs",
		Folders: []string{"schema/logs"}},
	{What: "what the computer says of itself",
		Folders: []string{"schema/host"}},
	{What: "state machines as tables, and enums as in their source", Pure: true,
		Folders: []string{"schema/fsm", "schema/enums"}},
	{What: "the wire contract: messages, topics, verbs, reasons", Pure: true,
		Folders: []string{"schema"}},
	{What: "files that are replaced as a whole; what a system user may do with a file",
		Folders: []string{"fleetd/atomicfile", "fleetd/fileaccess"}},
	{What: "what the audit keeps", Pure: true,
		Folders: []string{"fleetd/audit"}},
	{What: "conditions", Pure: true,
		Folders: []string{"schema/cond"}},
	{What: "acts and stories, and signatures of desired documents", Pure: true,
		Folders: []string{"schema/score", "schema/sign"}},
	{What: "the commands of a robot, and the settings of its interrupts", Pure: true,
		Folders: []string{"schema/verb", "schema/interrupts", "schema/intents"}},
	{What: "the contract between robotd and the adapters of its units", Pure: true,
		Folders: []string{"schema/bus"}},
	{What: "what every part of the robot knows of a command", Pure: true,
		Folders: []string{"robotd/command"}},
	{What: "packages that decide one thing each", Pure: true,
		Folders: []string{
			"broker/access",
			"robotd/auto", "robotd/interrupt", "robotd/act",
			"robotd/delivery", "robotd/renew", "robotd/driver", "robotd/control", "robotd/teleop", "robotd/taught", "robotd/clock",
			"fleetd/presence", "fleetd/selector", "fleetd/library", "fleetd/command", "fleetd/stop", "fleetd/desired", "fleetd/ca", "fleetd/enrol",
			"fleetd/decommission", "fleetd/leader", "fleetd/drive", "fleetd/measure", "fleetd/stopbutton",
		}},
	{What: "what robots can be given", Pure: true,
		Folders: []string{"fleetd/content"}},
	{What: "how and when it reaches them", Pure: true,
		Folders: []string{"fleetd/rollout", "fleetd/policy", "fleetd/site"}},
	{What: "times at which something happens", Pure: true,
		Folders: []string{"fleetd/schedule", "fleetd/notify"}},
	{What: "all of it as files", Pure: true,
		Folders: []string{"fleetd/folder"}},
	{What: "signals of the body", Pure: true,
		Folders: []string{"robotd/signal"}},
	{What: "events and effects of a robot", Pure: true,
		Folders: []string{"robotd/event", "robotd/effect"}},
	{What: "the safety core", Pure: true,
		Folders: []string{"robotd/safety"}},
	{What: "parts of the robot with settings of their own; its commands", Pure: true,
		Folders: []string{"robotd/request", "robotd/operatorlink", "robotd/mode", "robotd/diagnosis", "robotd/life", "robotd/intent"}},
	{What: "modes of operation", Pure: true,
		Folders: []string{"robotd/mode/str", "robotd/mode/mnl", "robotd/mode/ato", "robotd/mode/safe", "robotd/mode/follow"}},
	{What: "the robot's configuration", Pure: true,
		Folders: []string{"robotd/config"}},
	{What: "components of the robot", Pure: true,
		Folders: []string{"robotd/diskvalues", "robotd/body", "robotd/latch", "robotd/report", "robotd/manual", "robotd/perform",
			"robotd/desired"}},
	{What: "the robot's step function", Pure: true,
		Folders: []string{"robotd/brain"}},
	{What: "OpenTelemetry traces of fleetd",
		Folders: []string{"fleetd/trace"}},
	{What: "MQTT over WebSocket",
		Folders: []string{"broker/websocket"}},
	{What: "who makes a request, and what they may do",
		Folders: []string{"fleetd/auth"}},
	{What: "how a server is set up", Pure: true,
		Folders: []string{"fleetd/setup"}},
	{What: "operations as rows",
		Folders: []string{"fleetd/operation"}},
	{What: "side effects: MQTT client, disk, flight recorder, simulated body, the robot's own page, database, keys, OpenID Connect",
		Folders: []string{"broker/link", "robotd/disk", "robotd/identity", "robotd/download", "robotd/recorder", "robotd/driver/sim",
			"robotd/page", "fleetd/store", "fleetd/spool", "fleetd/vault", "fleetd/provider", "deploy/library"}},
	{What: "bodies over MQTT; the robot's side of the MQTT contract",
		Folders: []string{"robotd/driver/bus", "robotd/driver/bus/check", "robotd/wire"}},
	{What: "one file of all that a fleet needs to begin again",
		Folders: []string{"fleetd/backup"}},
	{What: "changes that people request of the database",
		Folders: []string{"fleetd/change"}},
	{What: "fleetd's view of robots and of other instances",
		Folders: []string{"fleetd/view", "fleetd/replica"}},
	{What: "the present alerts of the fleet",
		Folders: []string{"fleetd/alerts"}},
	{What: "components of fleetd",
		Folders: []string{"fleetd/certificate", "fleetd/revocation", "fleetd/decommissioner", "fleetd/retained", "fleetd/publish",
			"fleetd/dispatch", "fleetd/latch", "fleetd/teleop", "fleetd/auditqueue", "fleetd/records", "fleetd/rolloutrunner", "fleetd/measurer",
			"fleetd/notifier"}},
	{What: "what happens at its time, and sends commands",
		Folders: []string{"fleetd/scheduler"}},
	{What: "who is signed in",
		Folders: []string{"fleetd/accounts"}},
	{What: "fleetd's HTTP API and page",
		Folders: []string{"fleetd/api", "fleetd/console"}},
	{What: "metrics of fleetd, for Prometheus",
		Folders: []string{"fleetd/metrics"}},
	{What: "assemblies: configuration, wiring, loops", Clock: true,
		Folders: []string{"broker/server", "robotd/robot", "fleetd/fleet", "fleetd/setup/apply"}},
	{What: "many simulated robots in one process", Clock: true,
		Folders: []string{"robotd/crowd"}},
	{What: "what is around a fleetd that was set up", Clock: true,
		Folders: []string{"fleetd/doctor"}},
	{What: "a private PostgreSQL for tests", Clock: true,
		Folders: []string{"fleetd/store/pgtest"}},
	{What: "test support", Clock: true,
		Folders: []string{
			"schema/fsm/fsmtest", "broker/brokertest", "robotd/mode/modetest", "robotd/disk/disktest", "robotd/driver/drivertest",
			"robotd/driver/bus/bustest",
			"fleetd/store/storetest", "fleetd/fleet/fleettest", "fleetd/provider/providertest", "fleetd/trace/tracetest", "deploy/mosquittotest",
			"deploy/natstest",
		}},
	{What: "fleetd's commands", Clock: true,
		Folders: []string{"fleetd/cli"}},
	{What: "mains", Clock: true,
		Folders: []string{"broker", "robotd", "fleetd", "schema/gen", "deploy/contract", "deploy/package", "deploy/library/makesounds",
			"deploy/bench/mochi", "fleetd/console/licences"}},
	{What: "programs that are started for measurements and to try out", Clock: true,
		Folders: []string{"deploy/launch", "deploy/nats"}},
	{What: "everything in one process", Clock: true,
		Folders: []string{"deploy/stage"}},
	{What: "the demo, measurements, and tests of the whole", Clock: true,
		Folders: []string{"deploy/demo", "deploy/bench", "deploy/adapters", "deploy/mosquitto", "deploy/nats/render", "deploy/cluster",
			"deploy/soak"}},
	{What: "tests with programs and of the tree, and what runs the tests", Clock: true, Processes: true,
		Folders: []string{"deploy/e2e", "deploy/proof", "deploy/monitor", "deploy"}},
}

// Of returns the layer of a folder.
func Of(folder string) (Layer, bool) {
	for _, l := range Table {
		if slices.Contains(l.Folders, folder) {
			return l, true
		}
	}
	return Layer{}, false
}
