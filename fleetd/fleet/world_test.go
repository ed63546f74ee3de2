package fleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/fleet"
	"troupe/fleetd/fleet/fleettest"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/view"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/verb"
)

func TestMain(m *testing.M) {
	// Under the race detector the timers of a synctest bubble share one context, and
	// two threads that fire some of them at once break the detector's own memory
	// (golang/go issue 78156). One thread at a time is enough to find races.
	runtime.GOMAXPROCS(1)
	goleak.VerifyTestMain(m)
}

// world is a broker and a fleetd instance, in one process and in fake time.
type world struct {
	*testing.T
	*fleet.Fleet
	broker   atomic.Pointer[brokertest.Broker]
	database string
	config   fleet.Config
	address  atomic.Pointer[address] // nil: on the network, if anywhere
	real     bool                    // in real time
}

// inWorld runs a test in fake time with a broker and a fleetd instance that takes every
// robot for its own.
func inWorld(t *testing.T, test func(w *world), options ...func(*fleet.Config)) {
	t.Helper()
	database := storetest.SQLite(t)
	bubble.Test(t, func(t *testing.T) {
		w := &world{T: t, database: database}
		w.newBroker()
		w.config = fleet.Config{Dial: w.dial, Database: database, Listen: w.listen, Dev: true, Logger: logger(t)}
		for _, o := range options {
			o(&w.config)
		}
		w.startFleetd()
		test(w)
	})
}

// strict adopts no robot by itself; everybody still has every right.
func strict(c *fleet.Config) { c.Dev, c.Authenticator = false, auth.Everybody{Principal: auth.Dev()} }

// newBroker starts a broker that knows nothing. Fleetd ends before it.
func (w *world) newBroker() {
	w.broker.Store(brokertest.Start(w.T, brokertest.InProcess))
	w.Cleanup(func() {
		if w.Fleet != nil {
			w.stopFleetd()
		}
	})
}

func (w *world) dial(ctx context.Context) (net.Conn, error) { return w.broker.Load().Dial(ctx) }

func (w *world) startFleetd() {
	w.Helper()
	f, err := fleet.Start(context.Background(), w.config)
	if err != nil {
		w.Fatal(err)
	}
	w.Fleet = f
	w.until("fleetd is connected", func() bool { return f.Status().Broker.OK })
}

func (w *world) stopFleetd() {
	w.Helper()
	if err := w.Fleet.Close(); err != nil {
		w.Errorf("close fleetd: %v", err)
	}
	w.Fleet = nil
}

// robot starts a robot and waits until fleetd sees it online and knows it.
func (w *world) robot(id string) *fleettest.Robot {
	w.Helper()
	r := fleettest.Start(w.T, id, w.dial)
	w.until(id+" is online", func() bool {
		d, ok := w.Robot(id)
		return ok && d.Presence.Status == "online" && d.State != nil && d.Caps != nil && (d.Adopted || !w.config.Dev)
	})
	return r
}

// startUnknownRobot starts a robot and waits until fleetd has seen it.
func startUnknownRobot(w *world, id string) *fleettest.Robot {
	r := fleettest.Start(w.T, id, w.dial)
	w.awaitPresence(id, "online")
	return r
}

// until waits for something to hold.
func (w *world) until(what string, holds func() bool) {
	w.Helper()
	w.within(2*time.Minute, what, holds)
}

// within is until for what may take longer.
func (w *world) within(limit time.Duration, what string, holds func() bool) {
	w.Helper()
	pause := 20 * time.Millisecond
	for began := time.Now(); ; time.Sleep(pause) {
		if !w.real {
			synctest.Wait()
			pause = max(pause, time.Since(began)/20) // what takes long in fake time is not asked for every 20 ms of it
		}
		if holds() {
			return
		}
		if time.Since(began) > limit {
			w.Fatalf("still not: %s", what)
		}
	}
}

// sleep lets time pass.
func (w *world) sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// awaitPresence waits until a robot has a presence.
func (w *world) awaitPresence(id, want string) view.Presence {
	w.Helper()
	var p view.Presence
	w.until(id+" is "+want, func() bool {
		d, _ := w.Robot(id)
		p = d.Presence
		return p.Status == want
	})
	return p
}

// ask makes a request of the API and decodes the answer; a problem is returned.
func (w *world) ask(method, path string, body, into any, headers ...string) *api.Problem {
	w.Helper()
	status, answer := request(w.T, w.Handler(), method, path, body, headers...)
	if status >= 400 {
		var p api.Problem
		if err := json.Unmarshal(answer, &p); err != nil || p.Type == "" {
			w.Fatalf("%s %s: %d without a problem: %s", method, path, status, answer)
		}
		return &p
	}
	if into != nil {
		if err := json.Unmarshal(answer, into); err != nil {
			w.Fatalf("%s %s: %v: %s", method, path, err, answer)
		}
	}
	return nil
}

// must is ask for what has to work.
func (w *world) must(method, path string, body, into any, headers ...string) {
	w.Helper()
	if p := w.ask(method, path, body, into, headers...); p != nil {
		w.Fatalf("%s %s: %s: %v", method, path, p.Type, p)
	}
}

// validate returns the results of a validation.
func (w *world) validate(texts ...api.SourceText) []api.Validity {
	w.Helper()
	var v api.Validities
	w.must("POST", "/library/validate", api.Validation{Texts: texts}, &v)
	if len(v.Results) != len(texts) {
		w.Fatalf("%d results for %d texts", len(v.Results), len(texts))
	}
	return v.Results
}

func request(t *testing.T, h http.Handler, method, path string, body any, headers ...string) (int, []byte) {
	t.Helper()
	var text []byte
	kind := "application/json"
	switch b := body.(type) {
	case nil:
	case string:
		text = []byte(b)
		if !strings.HasPrefix(b, "{") {
			kind = "application/yaml"
		}
	default:
		var err error
		if text, err = json.Marshal(b); err != nil {
			t.Fatal(err)
		}
	}
	if path != "/healthz" {
		path = api.Prefix + path
	}
	r := httptest.NewRequest(method, path, bytes.NewReader(text))
	r.Host = "127.0.0.1:8080"
	if body != nil {
		r.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer.Code, answer.Body.Bytes()
}

// order makes an order by its verb and robots.
func order(verb string, robots ...string) map[string]any {
	return map[string]any{"verb": verb, "selector": map[string]any{"ids": robots}, "by": "ann"}
}

// command issues an order to one robot and returns the command's id.
func (w *world) command(o map[string]any) string {
	w.Helper()
	var b api.Batch
	w.must("POST", "/commands", o, &b)
	if len(b.Commands) != 1 {
		w.Fatalf("%v became %d commands", o, len(b.Commands))
	}
	return b.Commands[0].ID
}

// state waits until a command is in this state, as the database has it.
func (w *world) state(id, state string) api.Command {
	w.Helper()
	var c api.Command
	w.until("command is "+state, func() bool {
		w.must("GET", "/commands/"+id, nil, &c)
		return string(c.State) == state
	})
	return c
}

func count(all []fleettest.Received, verb string) (n int) {
	for _, r := range all {
		if r.Verb == verb {
			n++
		}
	}
	return n
}

const (
	welcome = "act: welcome\nactions:\n- {type: face, start_ms: 0, end_ms: 1000, face: smile}\n"
	bow     = "act: bow\nactions:\n- {type: face, start_ms: 0, end_ms: 1000, face: calm}\n"
	museum  = "story: museum\nname: {en: Museum}\nrepeat: loop\nacts:\n- {act: welcome}\n- {act: bow}\n"
)

// publish saves and publishes two acts and a story of them.
func (w *world) publish() {
	w.Helper()
	for path, text := range map[string]string{"/acts/welcome": welcome, "/acts/bow": bow} {
		w.must("PUT", path, text, nil, "If-Match", "*")
		w.must("POST", path+"/publish", audit.Attribution{Who: "ann"}, nil)
	}
	w.must("PUT", "/stories/museum", museum, nil, "If-Match", "*")
	w.must("POST", "/stories/museum/publish", audit.Attribution{Who: "ann"}, nil)
}

// assign desired documents that robots perform a story.
func (w *world) assign(story string, robots ...string) (a api.Assigned) {
	w.Helper()
	w.must("POST", "/assignments", map[string]any{"story": story, "selector": map[string]any{"ids": robots}}, &a)
	return a
}

// converged waits until a robot has what it should have.
func (w *world) converged(id string) view.DesiredStory {
	w.Helper()
	var desired view.DesiredStory
	w.until(id+" has what it should have", func() bool {
		d, _ := w.Robot(id)
		desired = d.Desired
		return desired.Converged
	})
	return desired
}

func ack(status schema.Status) func(string, verb.Request) []schema.Ack {
	return func(string, verb.Request) []schema.Ack { return []schema.Ack{{Status: status}} }
}
