package fleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/fleet"
)

// answerBound is how long a request may take while the database hangs: somebody
// stands there.
const answerBound = 4 * time.Second

// hanging is a PostgreSQL whose answers can be held back: it takes what it is sent,
// and nobody hears of it.
type hanging struct {
	*gate
	answers sync.RWMutex // locked: none gets through
	held    atomic.Bool
	// commit, if it is set, is a text; a connection that has carried it gets no answer
	// to its next commit, and nobody gets one after that.
	commit atomic.Pointer[string]
	// at, if it is set, is a text that gets no answer, nor does anything after it.
	at atomic.Pointer[string]
}

func newHanging(t *testing.T) *hanging {
	h := &hanging{gate: newGate(t)}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.dsn = strings.Replace(h.dsn, h.address, front.Addr().String(), 1)
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	all.Go(func() {
		for {
			c, err := front.Accept()
			if err != nil {
				return
			}
			db, err := net.Dial("tcp", h.address)
			if err != nil {
				c.Close()
				continue
			}
			mu.Lock()
			open = append(open, c, db)
			mu.Unlock()
			all.Go(func() { h.carry(db, c, h.look()) })
			all.Go(func() {
				h.carry(c, db, func([]byte) {
					h.answers.RLock()
					defer h.answers.RUnlock()
				})
			})
		}
	})
	t.Cleanup(func() {
		h.release()
		front.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return h
}

// look reads what a fleetd instance sends over one connection.
func (h *hanging) look() func([]byte) {
	marked := false
	return func(b []byte) {
		if text := h.at.Load(); text != nil && bytes.Contains(b, []byte(*text)) {
			h.hold()
		}
		text := h.commit.Load()
		if text == nil {
			return
		}
		marked = marked || bytes.Contains(b, []byte(*text))
		if marked && bytes.Contains(b, []byte("commit")) {
			h.hold()
		}
	}
}

// carry copies until one side closes.
func (h *hanging) carry(to, from net.Conn, before func([]byte)) {
	defer to.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if n > 0 {
			before(b[:n])
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (h *hanging) hold() {
	if h.held.CompareAndSwap(false, true) {
		h.answers.Lock()
	}
}

func (h *hanging) release() {
	h.commit.Store(nil)
	h.at.Store(nil)
	if h.held.CompareAndSwap(true, false) {
		h.answers.Unlock()
	}
}

// answered makes a request over the network and says how long its answer took.
func (w *world) answered(method, target, body string) (p *api.Problem, took time.Duration) {
	w.Helper()
	began := time.Now()
	_, p, _ = w.send(method, api.Prefix+target, body)
	return p, time.Since(began)
}

func hangingWorld(t *testing.T, options ...func(*fleet.Config)) (*world, *hanging) {
	h := newHanging(t)
	w := realWorld(t, h.dsn, append(options, func(c *fleet.Config) { c.HTTP = "127.0.0.1:0" })...)
	w.startFleetd()
	w.Cleanup(h.release) // before fleetd ends
	return w, h
}

func TestHangingPostgresIsAnsweredWithin3Seconds(t *testing.T) {
	w, h := hangingWorld(t)
	r := w.robot("r1")
	w.publish()
	h.hold()
	var asked sync.WaitGroup
	all := `"selector":{"all":true}`
	for _, c := range []struct{ method, target, body string }{
		{"PUT", "/robots/r1/labels", `{"labels":{"hall":"1"}}`},
		{"POST", "/commands", `{"verb":"mode/set","args":{"mode":"ato"},` + all + `}`},
		{"POST", "/assignments", `{"story":"museum",` + all + `}`},
		{"POST", "/desired", `{"mode":{"mode":"ato"},` + all + `}`},
		{"POST", "/stops/release", `{"ids":["stop-1"],"why":"x"}`},
		{"POST", "/robots/r1/revoke", `{"why":"x"}`},
		{"DELETE", "/stories/museum?expected_stories=1", ""},
		{"GET", "/commands", ""},
		{"GET", "/audit", ""},
		{"GET", "/stories", ""},
	} {
		asked.Go(func() {
			p, took := w.answered(c.method, c.target, c.body)
			if p == nil || p.Status != 503 || !p.Of(api.KindDatabase) && !p.Of(api.KindBusy) {
				t.Errorf("%s %s with a hanging database: %+v", c.method, c.target, p)
			} else if p.Detail == "" || p.Hint == "" {
				t.Errorf("%s %s: %+v names no way out", c.method, c.target, p)
			}
			if took > answerBound {
				t.Errorf("%s %s took %v", c.method, c.target, took)
			}
		})
	}
	asked.Wait()
	began := time.Now()
	if status, p, _ := w.send("GET", "/healthz", ""); status != 503 || !p.Of(api.KindDatabase) || time.Since(began) > answerBound {
		t.Errorf("with a hanging database fleetd answers %d %v after %v", status, p, time.Since(began))
	}
	before := count(r.Received(), "safety/stop")
	if p, took := w.answered("POST", "/stops", `{`+all+`}`); p != nil || took > answerBound || count(r.Received(), "safety/stop") != before+1 {
		t.Errorf("a stop with a hanging database: %v after %v", p, took)
	}
	w.until("fleetd says that its database does not answer", func() bool { return !w.Status().Database.OK })
	h.release()
	w.until("the database is back", func() bool { return w.Status().Database.OK })
	w.must("PUT", "/robots/r1/labels", map[string]any{"labels": map[string]string{"hall": "2"}}, nil)
}

func TestLostCommitIsReportedAsUnknown(t *testing.T) {
	w, h := hangingWorld(t)
	w.robot("r1")
	text := "hall-of-mirrors"
	h.commit.Store(&text)
	p, took := w.answered("PUT", "/robots/r1/labels", `{"labels":{"hall":"`+text+`"}}`)
	if p == nil || !p.Of(api.KindOutcome) || p.Status != 503 || p.Hint == "" {
		t.Errorf("a change whose commit was not answered: %+v", p)
	}
	if took > answerBound {
		t.Errorf("it took %v", took)
	}
	h.release()
	w.until("what was committed is seen", func() bool { d, _ := w.Robot("r1"); return d.Labels["hall"] == text })
}

// written is a log that can be read while others write it.
type written struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *written) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *written) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestDisconnectedClientIsNoDatabaseFailure(t *testing.T) {
	var log written
	w, h := hangingWorld(t, func(c *fleet.Config) {
		c.Logger = slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &log), nil))
	})
	w.robot("r1")
	w.until("fleetd is well", func() bool { return w.Status().Database.OK })
	for _, c := range []struct{ method, target, body string }{
		{"GET", "/audit", ""},
		{"GET", "/events", ""},
		{"PUT", "/robots/r1/labels", `{"labels":{"hall":"1"}}`},
	} {
		before := len(log.String())
		h.hold()
		ctx, leave := context.WithCancel(context.Background()) // as the server does it when the client hangs up
		time.AfterFunc(200*time.Millisecond, leave)
		r := httptest.NewRequestWithContext(ctx, c.method, api.Prefix+c.target, strings.NewReader(c.body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		w.Handler().ServeHTTP(answer, r)
		database := w.Status().Database
		h.release()
		var p api.Problem
		if err := json.Unmarshal(answer.Body.Bytes(), &p); err != nil || !p.Of(api.KindEnding) {
			t.Errorf("%s %s of a client that left is answered %d %+v", c.method, c.target, answer.Code, p)
		}
		if !database.OK {
			t.Errorf("%s %s of a client that left: fleetd says of its database %+v", c.method, c.target, database)
		}
		if said := log.String()[before:]; strings.Contains(said, "level=ERROR") {
			t.Errorf("%s %s of a client that left is logged as a fault: %s", c.method, c.target, said)
		}
		w.must("GET", "/audit", nil, nil)
	}
}

func TestRequestInProgressAtShutdownIsAnswered503(t *testing.T) {
	w, h := hangingWorld(t)
	w.robot("r1")
	query := "FROM audit"
	h.at.Store(&query)
	url := w.URL()
	var asked sync.WaitGroup
	asked.Go(func() {
		defer h.release() // fleetd writes before it ends
		answer, err := http.Get(url + api.Prefix + "/audit")
		if err != nil {
			t.Errorf("a request at shutdown: %v", err)
			return
		}
		defer answer.Body.Close()
		var p api.Problem
		if err := json.NewDecoder(answer.Body).Decode(&p); err != nil || answer.StatusCode != 503 || !p.Of(api.KindEnding) || p.Hint == "" {
			t.Errorf("a request at shutdown is answered %s %+v %v", answer.Status, p, err)
		}
	})
	w.until("the request waits for the database", h.held.Load)
	w.stopFleetd()
	asked.Wait()
}
