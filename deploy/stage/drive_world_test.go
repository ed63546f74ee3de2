package stage

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/fleetd/accounts"
	"troupe/fleetd/api"
	"troupe/fleetd/fleet"
	"troupe/fleetd/selector"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/view"
	"troupe/robotd/driver"
	"troupe/robotd/driver/sim"
	"troupe/robotd/robot"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/testlog"
)

// driveTest is fleetd, a broker and one robot in fake time, and a person who drives the robot
// through fleetd's WebSocket. Everything that a test measures is exact, whatever the load of
// the machine.
type driveTest struct {
	*testFleet
	web     *memoryListener
	fleetds *brokertest.Cable // fleetd's connections to the broker
	body    *speedometer

	closeFleetd func()
	password    string // of the user admin
	cookie      string // of the session of who is signed in; empty = nobody is
}

// speedometer notes each speed that the body reports.
type speedometer struct {
	driver.Driver
	events chan driver.Event

	mu    sync.Mutex
	notes []noted
}

type noted struct {
	at     time.Time
	vx, wz float64
}

func newSpeedometer() *speedometer {
	s := &speedometer{Driver: sim.New(sim.Config{}), events: make(chan driver.Event)}
	go func() {
		defer close(s.events)
		for e := range s.Driver.Events() {
			if e.Kind == driver.Speed {
				s.mu.Lock()
				s.notes = append(s.notes, noted{time.Now(), e.VX, e.WZ})
				s.mu.Unlock()
			}
			s.events <- e
		}
	}()
	return s
}

func (s *speedometer) Events() <-chan driver.Event { return s.events }

// speed is the newest that the body reported.
func (s *speedometer) speed() noted {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notes) == 0 {
		return noted{}
	}
	return s.notes[len(s.notes)-1]
}

// lastMoved is when the body last reported that it moves.
func (s *speedometer) lastMoved() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range slices.Backward(s.notes) {
		if n.vx != 0 || n.wz != 0 {
			return n.at
		}
	}
	return time.Time{}
}

func inDriveTest(t *testing.T, test func(p *driveTest)) {
	t.Helper()
	folder, database := t.TempDir(), storetest.SQLite(t)
	bubble.Test(t, func(t *testing.T) {
		p := &driveTest{testFleet: &testFleet{T: t, broker: brokertest.Start(t, brokertest.InProcess), done: make(chan error, 1)},
			web: newMemoryListener(), body: newSpeedometer()}
		p.cable, p.fleetds = &brokertest.Cable{To: p.broker.Dial}, &brokertest.Cable{To: p.broker.Dial}
		log := slog.New(slog.NewTextHandler(testlog.Writer(t, "stage"), nil))
		var err error
		p.fleetd, err = fleet.Start(context.Background(), fleet.Config{
			Dial: p.fleetds.Dial, Database: database, Dev: true, Logger: log, HTTP: "localhost:80",
			ResetAdmin: true, FirstAdmin: func(_, password, _ string) { p.password = password },
			Listen: func(context.Context, string, string) (net.Listener, error) { return p.web, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		var closed sync.Once
		p.closeFleetd = func() {
			closed.Do(func() {
				if err := p.fleetd.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		t.Cleanup(p.closeFleetd)
		ctx, end := context.WithCancel(context.Background())
		t.Cleanup(func() {
			end()
			if err := <-p.done; err != nil {
				t.Error(err)
			}
		})
		go func() {
			p.done <- robot.Run(ctx, robot.Config{ID: "r1", Dial: p.cable.Dial, Data: filepath.Join(folder, "r1"), Driver: p.body, Logger: log})
			close(p.done)
		}()
		p.awaitRobot("in mnl", func(d view.Detail) bool {
			return d.Mode == schema.ModeMnl && d.Calibrated && d.Adopted && d.Caps != nil
		})
		p.mustOrder("ann", "safety/enable", nil)
		test(p)
	})
}

// order sends a command and returns the robot's answer.
func (p *driveTest) order(by, verb string, args map[string]any) *schema.Ack {
	p.Helper()
	raw, err := json.Marshal(args)
	if args == nil {
		raw = nil
	}
	if err != nil {
		p.Fatal(err)
	}
	body, err := json.Marshal(api.CommandRequest{Verb: verb, Args: raw, By: by, Why: "test", Selector: selector.Selector{IDs: []string{"r1"}}})
	if err != nil {
		p.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, "http://localhost"+api.Prefix+"/commands", bytes.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	r.Header.Set("Prefer", "wait=5")
	answer := p.do(r)
	defer answer.Body.Close()
	var batch api.Batch
	if err := json.NewDecoder(answer.Body).Decode(&batch); err != nil || len(batch.Commands) != 1 || batch.Commands[0].Answer == nil {
		p.Fatalf("%s of %s: %s %+v %v", verb, by, answer.Status, batch, err)
	}
	return batch.Commands[0].Answer
}

// do sends a request, with the cookie of who is signed in.
func (p *driveTest) do(r *http.Request) *http.Response {
	p.Helper()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Cookie", p.cookie)
	client := http.Client{Transport: &http.Transport{DialContext: p.web.dial, DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		p.Fatal(err)
	}
	return answer
}

// mustChange sends a request that changes something.
func (p *driveTest) mustChange(method, path, body string) {
	p.Helper()
	r, err := http.NewRequest(method, "http://localhost"+api.Prefix+path, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	answer := p.do(r)
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		p.Fatalf("%s %s: %s", method, path, answer.Status)
	}
}

// signIn signs the user admin in, and signOut out again.
func (p *driveTest) signIn() { p.Helper(); p.signInAs("admin", p.password) }

func (p *driveTest) signInAs(user, password string) {
	p.Helper()
	body, err := json.Marshal(api.Credentials{User: user, Password: password})
	if err != nil {
		p.Fatal(err)
	}
	p.session(http.MethodPost, body)
	if p.cookie == "" {
		p.Fatal(user + " is not signed in")
	}
}

func (p *driveTest) signOut() { p.session(http.MethodDelete, nil) }

func (p *driveTest) session(method string, body []byte) {
	p.Helper()
	r, err := http.NewRequest(method, "http://localhost"+api.Prefix+"/session", bytes.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	answer := p.do(r)
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		p.Fatalf("%s session: %s", method, answer.Status)
	}
	p.cookie = ""
	for _, c := range answer.Cookies() {
		if accounts.IsSessionCookie(c.Name) && c.Value != "" {
			p.cookie = c.Name + "=" + c.Value
		}
	}
}

func (p *driveTest) mustOrder(by, verb string, args map[string]any) *schema.Ack {
	p.Helper()
	a := p.order(by, verb, args)
	if a.Status != schema.StatusSucceeded {
		p.Fatalf("%s of %s was answered %+v", verb, by, a)
	}
	return a
}

// robotHolder is who has control, as the robot reports it.
func (p *driveTest) robotHolder() string {
	if c := p.robot().Control; c != nil {
		return c.By
	}
	return ""
}
