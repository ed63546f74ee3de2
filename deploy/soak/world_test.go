package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/fleetd/api"
	"troupe/fleetd/fleet"
	"troupe/robotd/driver/sim"
	"troupe/robotd/robot"
	"troupe/schema"
)

const ns = schema.DefaultNamespace

// world is one robot, one fleetd and their broker.
type world struct {
	*testing.T
	folder string

	mu     sync.Mutex
	broker *server.Server // nil while it is stopped
	links  map[string]*faultyLink
	op     *brokertest.Client

	fleetd   *fleet.Fleet
	body     *sim.Sim
	robotEnd func()
	robotRun chan error

	random  map[string]func() float64 // by link name
	log     *packetLog
	history *history
}

func newWorld(t *testing.T, seed uint64, database string) *world {
	w := &world{T: t, folder: filepath.Dir(database), links: map[string]*faultyLink{}, random: map[string]func() float64{},
		log: newPacketLog(), history: newHistory()}
	for _, name := range []string{"r1", "fleetd"} {
		// From the time, not from a sequence: the scheduler decides which of the
		// connections asks first.
		w.random[name] = func() float64 {
			return rand.New(rand.NewPCG(seed^hash(name), uint64(time.Since(w.log.began)))).Float64()
		}
		w.links[name] = &faultyLink{name: name, dial: w.dial, faults: &faults{seed: seed, counts: map[string]uint64{}}, log: w.log,
			conns: map[net.Conn]bool{}, opened: map[string]int{}}
	}
	w.links["r1"].observer = w.history
	w.startBroker()
	w.startFleetd()
	w.startRobot()
	return w
}

func (w *world) dial(ctx context.Context) (net.Conn, error) {
	w.mu.Lock()
	b := w.broker
	w.mu.Unlock()
	if b == nil {
		return nil, errCut
	}
	return b.Dial(ctx)
}

func (w *world) startBroker() {
	b, err := server.New(server.Config{Dev: true, Logger: logger(w.T, "broker")})
	if err != nil {
		w.Fatal(err)
	}
	w.mu.Lock()
	w.broker = b
	w.mu.Unlock()
	w.op = brokertest.Connect(w.T, b.Dial, brokertest.ConnectPacket{Name: "op1", ClientID: "op1"})
}

// stopBroker ends the broker with all its retained messages.
func (w *world) stopBroker() {
	w.op.Close()
	w.mu.Lock()
	b := w.broker
	w.broker = nil
	w.mu.Unlock()
	if err := b.Close(); err != nil {
		w.Errorf("close broker: %v", err)
	}
}

func (w *world) startFleetd() {
	f, err := fleet.Start(context.Background(), fleet.Config{
		Dial: w.links["fleetd"].open, Random: w.random["fleetd"], Database: "sqlite:" + filepath.Join(w.folder, "fleet.db"), Dev: true,
		Logger: logger(w.T, "fleetd"),
		// So that no two of its tickers, which have periods of whole seconds, ever fire at the
		// same instant.
		BeforePart: func(part string) { w.takeTime("start of " + part) },
	})
	if err != nil {
		w.Fatal(err)
	}
	w.fleetd = f
}

func (w *world) stopFleetd() {
	if err := w.fleetd.Close(); err != nil {
		w.Errorf("close fleetd: %v", err)
	}
	w.fleetd = nil
}

func (w *world) startRobot() {
	ctx, end := context.WithCancel(context.Background())
	ready := make(chan struct{})
	w.robotEnd, w.robotRun = end, make(chan error, 1)
	w.body = sim.New(sim.Config{})
	run, body := w.robotRun, w.body
	go func() {
		run <- robot.Run(ctx, robot.Config{
			ID: "r1", Dial: w.links["r1"].open, Random: w.random["r1"], Data: filepath.Join(w.folder, "r1"), Driver: body,
			Tick: 100 * time.Millisecond, BeforeWrite: w.takeTime, Logger: logger(w.T, "robot"), Ready: func() { close(ready) },
		})
	}()
	<-ready
}

// takeTime lets about a millisecond pass. Like a packet, what takes time ends at an instant of
// its own, so the scheduler does not decide what happens before it.
func (w *world) takeTime(what string) {
	r := rand.New(rand.NewPCG(hash(what), uint64(time.Since(w.log.began))))
	time.Sleep(time.Duration(500_000 + r.IntN(1_000_000)))
}

// stopRobot ends the robot as a power cut does: it sends nothing any more.
func (w *world) stopRobot() {
	w.links["r1"].cut(true)
	synctest.Wait() // it has noticed the broken connection
	w.robotEnd()
	if err := <-w.robotRun; err != nil {
		w.Errorf("the robot ended with %v", err)
	}
}

func (w *world) apply(d incident) {
	switch d.what {
	case "command":
		group, verb := splitVerb(d.verb)
		if w.brokerRunning() {
			w.op.Publish(ns.Topic(schema.TopicCmd, "r1", d.who, group, verb), d.payload)
		}
	case "fleet command":
		w.request("POST", "/commands", fmt.Sprintf(`{"verb":%q,"args":%s,"selector":{"ids":["r1"]},"by":"ann"}`, d.verb, d.payload))
	case "stop":
		w.request("POST", "/commands", fmt.Sprintf(`{"verb":%q,"selector":{"ids":["r1"]},"by":"ann"}`, d.verb))
	case "fleet stop":
		w.request("POST", "/stops", fmt.Sprintf(`{"selector":%s,"by":"ann"}`, d.payload))
	case "release":
		if w.fleetd == nil {
			return
		}
		// The oldest, not the first by id: the end of an id is random.
		if stops := w.fleetd.Latched(); len(stops) > 0 {
			w.request("POST", "/stops/release", fmt.Sprintf(`{"ids":[%q],"by":"ann","why":"clear"}`, stops[len(stops)-1].ID))
		}
	case "desired":
		w.request("POST", "/desired", fmt.Sprintf(`{"selector":{"ids":["r1"]},%s}`, d.payload))
	case "assign":
		w.request("POST", "/assignments", fmt.Sprintf(`{"story":%q,"selector":{"ids":["r1"]},"apply":"next_act"}`, d.story))
	case "body":
		name, fields, _ := strings.Cut(d.payload, " ")
		in, problems := schema.DecodeSimInput(name, []byte(fields))
		if len(problems) > 0 {
			w.Fatalf("%s: %v", d.payload, problems)
		}
		w.body.Inject(in)
	case "cut":
		w.links[d.who].cut(false)
	case "outage":
		w.links[d.who].cut(true)
		time.AfterFunc(d.duration, func() { w.links[d.who].restore(false) })
	case "robot":
		w.stopRobot()
		time.Sleep(d.duration)
		w.links["r1"].restore(false)
		w.startRobot()
	case "fleetd":
		w.stopFleetd()
		time.Sleep(d.duration)
		w.startFleetd()
	case "broker":
		w.stopBroker()
		time.Sleep(d.duration)
		w.startBroker()
	case "takeover":
		if conn, err := w.dial(context.Background()); err == nil {
			other, code := brokertest.TryConnect(w.T, func(context.Context) (net.Conn, error) { return conn, nil },
				brokertest.ConnectPacket{Name: d.who, ClientID: d.who})
			if code == 0 {
				time.Sleep(200 * time.Millisecond)
				other.Cut()
			}
		}
	}
}

// fleetLatches returns the ids of the stops that fleetd holds.
func (w *world) fleetLatches() []string {
	ids := []string{}
	for _, h := range w.fleetd.Latched() {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	return ids
}

func (w *world) brokerRunning() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broker != nil
}

// request sends a request to fleetd. The history decides whether the result is
// right, so only internal errors fail the test.
func (w *world) request(method, path, body string) (int, []byte) {
	if w.fleetd == nil {
		return 0, nil
	}
	r := httptest.NewRequest(method, api.Prefix+path, bytes.NewReader([]byte(body)))
	r.Host = "127.0.0.1:8080"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer := httptest.NewRecorder()
	w.fleetd.Handler().ServeHTTP(answer, r)
	if answer.Code >= 500 && answer.Code != 503 && answer.Code != 504 {
		w.Errorf("%s %s: %d %s", method, path, answer.Code, answer.Body)
	}
	return answer.Code, answer.Body.Bytes()
}

func (w *world) get(path string, into any) {
	code, body := w.request("GET", path, "")
	for try := 0; code == http.StatusServiceUnavailable && try < 5; try++ { // a fleetd that just started reads its robots
		time.Sleep(time.Second)
		code, body = w.request("GET", path, "")
	}
	if code != 200 {
		w.Fatalf("GET %s: %d %s", path, code, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		w.Fatal(err)
	}
}

// until waits for a condition that must hold some time after every fault has
// ended.
func (w *world) until(what string, holds func() (bool, string)) {
	w.Helper()
	for began := time.Now(); ; time.Sleep(250 * time.Millisecond) {
		synctest.Wait()
		ok, now := holds()
		if ok {
			return
		}
		if time.Since(began) > 5*time.Minute {
			w.Errorf("%s: not within 5 minutes after the last fault: %s", what, now)
			return
		}
	}
}

func (w *world) stopAll() {
	w.stopFleetd()
	w.robotEnd()
	if err := <-w.robotRun; err != nil {
		w.Errorf("the robot ended with %v", err)
	}
	w.stopBroker()
	for _, each := range w.links {
		each.deliverers.Wait()
	}
}
