package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"troupe/broker/access"
	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/deploy/mosquittotest"
	"troupe/deploy/shard"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

// A world is a broker with the fleetd, robots and observers of one test.
type world struct {
	t       testing.TB
	folder  string
	variant variant

	broker        *process   // nil with a stock Mosquitto
	nodes         []*process // of a cluster
	address       string     // of the broker itself
	toolsProxy    *proxy     // for clients other than robots and fleetd
	fleetdProxy   *proxy
	robotProxies  map[string]*proxy // by robot id
	observer      *observer
	recorder      *brokertest.Recorder
	recorderScope *scope // ends when the broker is killed

	robots map[string]*process
	fleetd *process
	store  string // fleetd's database
	http   string // URL of fleetd
	ca     string // file with fleetd's CA certificate; empty for plain HTTP
	token  string // for commands of fleetd; empty in development mode
}

// variant says which broker and which database a world has.
type variant struct {
	mosquitto bool // the broker is a stock Mosquitto, with the shipped limits and generated access rules
	nats      bool // the broker is one node of NATS, with generated access rules
	cluster   bool // of NATS: three nodes
	postgres  bool // fleetd's database is Postgres, otherwise SQLite
}

func (k variant) String() string {
	broker, store := "broker", "sqlite"
	if k.engine() != link.Troupe {
		broker = string(k.engine())
	}
	if k.postgres {
		store = "postgres"
	}
	return broker + " and " + store
}

var (
	ownBroker = variant{}
	postgres  = variant{postgres: true}
	mosquitto = variant{mosquitto: true}
	nats      = variant{nats: true}
)

// runIn runs a scenario in worlds of those variants that the shard of this run has, in parallel.
func runIn(t *testing.T, variants []variant, scenario func(w *world)) {
	t.Parallel()
	mine, err := shard.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range mine.Variants(t.Name(), len(variants)) {
		t.Run(variants[n].String(), func(t *testing.T) {
			t.Parallel()
			scenario(newWorld(t, variants[n]))
		})
	}
}

func newWorld(t testing.TB, k variant) *world {
	t.Helper()
	w := &world{
		t: t, variant: k, folder: t.TempDir(),
		toolsProxy: newProxy(t, ""), fleetdProxy: newProxy(t, ""), robotProxies: map[string]*proxy{}, robots: map[string]*process{},
	}
	if k.postgres {
		w.store = storetest.Postgres(t)
	} else {
		w.store = storetest.SQLiteAt(t, filepath.Join(w.folder, "fleet.db"))
	}
	w.startBroker()
	w.observer = startObserver(t, w.toolsProxy.url())
	return w
}

// startBroker starts a broker without retained messages and connects every proxy
// to it.
func (w *world) startBroker() {
	w.t.Helper()
	switch {
	case w.variant.nats:
		w.startNATS()
	case w.variant.mosquitto:
		w.address = strings.TrimPrefix(mosquittotest.Start(w.t, mosquittotest.Options{
			Lines: append(mosquittotest.Limits(w.t), "acl_file "+w.writeMosquittoRules()),
		}), "mqtt://")
	default:
		w.broker = launch(w.t, "broker", program(w.t, "broker"), []string{"--dev", "--mqtt", "127.0.0.1:0", "--http", ""}, nil)
		w.address = w.broker.ready()["mqtt"]
	}
	w.recorderScope = &scope{TB: w.t}
	w.t.Cleanup(w.recorderScope.end)
	w.recorder = brokertest.Record(w.recorderScope, brokertest.TCP(w.address))
	if w.variant.nats {
		w.recorder.AllowLiveAtQoS0()
	}
	for _, each := range w.allProxies() {
		each.connectTo(w.address)
	}
}

// writeMosquittoRules writes the access rules of Mosquitto.
func (w *world) writeMosquittoRules() string {
	w.t.Helper()
	out := filepath.Join(w.folder, "rules.acl")
	if err := os.WriteFile(out, []byte(w.rulesFor("mosquitto", w.usersFile())), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// usersFile lists the users that --dev knows and the robots of these tests.
func (w *world) usersFile() string {
	w.t.Helper()
	var users strings.Builder
	for _, u := range access.Dev().All() {
		if u.Name != "" {
			fmt.Fprintln(&users, u.Name, u.Role)
		}
	}
	for n := range maxRobots {
		fmt.Fprintf(&users, "r%d %s\n", n+1, schema.RoleRobot)
	}
	return users.String()
}

// rulesFor returns the access rules that our broker generates for another, for the users of a file with that text.
func (w *world) rulesFor(engine, users string, flags ...string) string {
	w.t.Helper()
	in := filepath.Join(w.folder, "users")
	if err := os.WriteFile(in, []byte(users), 0o600); err != nil {
		w.t.Fatal(err)
	}
	text, err := exec.Command(program(w.t, "broker"), append([]string{"acl", "--for", engine, "--users", in}, flags...)...).Output()
	if err != nil {
		w.t.Fatalf("write rules for %s: %v", engine, err)
	}
	return string(text)
}

// engine is that of the broker.
func (k variant) engine() link.Engine {
	switch {
	case k.nats:
		return link.NATS
	case k.mosquitto:
		return link.Mosquitto
	}
	return link.Troupe
}

// engineFlag says to fleetd and robots which engine the broker is.
func (w *world) engineFlag() []string { return []string{"--engine", string(w.variant.engine())} }

// killBroker ends the broker as a power cut does: retained messages are lost.
func (w *world) killBroker() {
	w.t.Helper()
	w.recorderScope.end()
	for _, each := range w.allProxies() {
		each.connectTo("")
	}
	if w.broker != nil {
		w.broker.kill()
	}
}

func (w *world) allProxies() []*proxy {
	all := []*proxy{w.toolsProxy, w.fleetdProxy}
	for _, each := range w.robotProxies {
		all = append(all, each)
	}
	return all
}

// A scope is a testing.TB whose cleanups run when it ends, before the test does.
type scope struct {
	testing.TB
	cleanups []func()
}

func (p *scope) Cleanup(f func()) { p.cleanups = append(p.cleanups, f) }

func (p *scope) end() {
	for len(p.cleanups) > 0 {
		last := p.cleanups[len(p.cleanups)-1]
		p.cleanups = p.cleanups[:len(p.cleanups)-1]
		last()
	}
}

// runRobot starts a robot, or starts it again with the data on its disk. The
// configuration is a file of testdata/scenarios, or empty.
func (w *world) runRobot(id, configuration string, more ...string) *process {
	w.t.Helper()
	if w.robotProxies[id] == nil {
		w.robotProxies[id] = newProxy(w.t, w.address)
	}
	args := append([]string{"--id", id, "--broker", w.robotProxies[id].url(), "--data", filepath.Join(w.folder, id)}, w.engineFlag()...)
	if configuration != "" {
		args = append(args, "--config", scenarioFile(configuration))
	}
	w.robots[id] = launch(w.t, id, program(w.t, "robotd"), append(args, more...), nil)
	return w.robots[id]
}

// runRobotsIn starts robots and waits until each is calibrated and in the mode.
func (w *world) runRobotsIn(mode schema.ModeID, configuration string, ids ...string) {
	w.t.Helper()
	mark := w.observer.mark()
	for _, id := range ids {
		w.runRobot(id, configuration)
	}
	for _, id := range ids {
		awaitDocumentAfter(w, mark, robotTopic(id, "state"), id+" to be in "+string(mode), func(s schema.State) bool {
			return s.Mode.Active == mode && s.Mode.Phase == schema.PhaseRunning && s.Mode.Calibrated
		})
	}
}

// startFleetd starts fleetd, or starts it again with its database.
func (w *world) startFleetd(more ...string) {
	w.t.Helper()
	w.fleetd = launch(w.t, "fleetd", program(w.t, "fleetd"), append([]string{
		"serve", "--dev", "--http", "127.0.0.1:0", "--broker", w.fleetdProxy.url(), "--database", w.store, "--spool",
		filepath.Join(w.folder, "fleetd.stops"),
	}, append(w.engineFlag(), more...)...), nil)
	w.http = "http://" + strings.TrimPrefix(w.fleetd.ready()["http"], "http://")
}

// startFleet starts fleetd and robots in manual mode, and waits until fleetd shows them online.
func (w *world) startFleet(configuration string, ids ...string) {
	w.t.Helper()
	w.startFleetd()
	w.runRobotsIn(schema.ModeMnl, configuration, ids...)
	w.awaitAdopted(ids...)
}

// robotTopic returns a topic below robots/rid.
func robotTopic(rid, rest string) string {
	return schema.DefaultNamespace.Root() + "robots/" + rid + "/" + rest
}

// awaitState waits until the condition holds for the robot's state.
func (w *world) awaitState(rid, what string, holds func(schema.State) bool) schema.State {
	w.t.Helper()
	return awaitDocument(w, robotTopic(rid, "state"), "the state of "+rid+" to be "+what, holds)
}

// awaitReportedStory waits until the condition holds for the robot's report on its
// story.
func (w *world) awaitReportedStory(rid, what string, holds func(schema.ReportedStory) bool) schema.ReportedStory {
	w.t.Helper()
	return awaitDocument(w, robotTopic(rid, "reported/story"), "the report of "+rid+" to be "+what, holds)
}

// awaitPresence waits until the robot's presence has that state.
func (w *world) awaitPresence(rid string, state schema.PresenceState) {
	w.t.Helper()
	awaitDocument(w, robotTopic(rid, "presence"), fmt.Sprintf("%s to be %s", rid, state),
		func(p schema.Presence) bool { return p.State == state })
}

// scenarioFile returns the path of a file that the end-to-end tests share.
func scenarioFile(name string) string {
	return filepath.Join("..", "..", "testdata", "scenarios", name)
}

// readScenario returns a file of testdata/scenarios.
func readScenario(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(scenarioFile(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// takenAddress returns an address that is listened on until the test ends.
func takenAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}
