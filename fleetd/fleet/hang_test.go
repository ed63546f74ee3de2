package fleet_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/fleet"
	"troupe/fleetd/store/pgtest"
	"troupe/schema/testlog"
)

// answerBound is how long a request may take while the database hangs: somebody
// stands there.
const answerBound = 4 * time.Second

// answered makes a request over the network and says how long its answer took.
func (w *world) answered(method, target, body string) (p *api.Problem, took time.Duration) {
	w.Helper()
	began := time.Now()
	_, p, _ = w.send(method, api.Prefix+target, body)
	return p, time.Since(began)
}

// hanging runs a test in fake time, with a fleetd instance that has an address and whose
// PostgreSQL can hang.
func hanging(t *testing.T, test func(w *world, h *pgtest.Cable), options ...func(*fleet.Config)) {
	t.Helper()
	onPostgres(t, func(w *world, h *pgtest.Cable) {
		w.startFleetd()
		test(w, h)
	}, append(options, withAddress)...)
}

func TestHangingPostgresIsAnsweredWithin3Seconds(t *testing.T) {
	hanging(t, func(w *world, h *pgtest.Cable) {
		r := w.robot("r1")
		w.publish()
		h.Hold()
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
					w.Errorf("%s %s with a hanging database: %+v", c.method, c.target, p)
				} else if p.Detail == "" || p.Hint == "" {
					w.Errorf("%s %s: %+v has no hint", c.method, c.target, p)
				}
				if took > answerBound {
					w.Errorf("%s %s took %v", c.method, c.target, took)
				}
			})
		}
		asked.Wait()
		began := time.Now()
		if status, p, _ := w.send("GET", "/healthz", ""); status != 503 || !p.Of(api.KindDatabase) || time.Since(began) > answerBound {
			w.Errorf("with a hanging database fleetd answers %d %v after %v", status, p, time.Since(began))
		}
		before := count(r.Received(), "safety/stop")
		if p, took := w.answered("POST", "/stops", `{`+all+`}`); p != nil || took > answerBound || count(r.Received(), "safety/stop") != before+1 {
			w.Errorf("a stop with a hanging database: %v after %v", p, took)
		}
		w.until("fleetd says that its database does not answer", func() bool { return !w.Status().Database.OK })
		h.Release()
		w.until("the database is back", func() bool { return w.Status().Database.OK })
		w.must("PUT", "/robots/r1/labels", map[string]any{"labels": map[string]string{"hall": "2"}}, nil)
	})
}

func TestLostCommitIsReportedAsUnknown(t *testing.T) {
	hanging(t, func(w *world, h *pgtest.Cable) {
		w.robot("r1")
		text := "hall-of-mirrors"
		h.HoldCommit(text)
		p, took := w.answered("PUT", "/robots/r1/labels", `{"labels":{"hall":"`+text+`"}}`)
		if p == nil || !p.Of(api.KindOutcome) || p.Status != 503 || p.Hint == "" {
			w.Errorf("a change whose commit was not answered: %+v", p)
		}
		if took > answerBound {
			w.Errorf("it took %v", took)
		}
		h.Release()
		w.until("what was committed is seen", func() bool { d, _ := w.Robot("r1"); return d.Labels["hall"] == text })
	})
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
	hanging(t, func(w *world, h *pgtest.Cable) {
		w.robot("r1")
		w.until("the database works again", func() bool { return w.Status().Database.OK })
		for _, c := range []struct{ method, target, body string }{
			{"GET", "/audit", ""},
			{"GET", "/events", ""},
			{"PUT", "/robots/r1/labels", `{"labels":{"hall":"1"}}`},
		} {
			before := len(log.String())
			h.Hold()
			ctx, leave := context.WithCancel(context.Background()) // as the server does it when the client hangs up
			time.AfterFunc(200*time.Millisecond, leave)
			r := httptest.NewRequestWithContext(ctx, c.method, api.Prefix+c.target, strings.NewReader(c.body))
			r.Host = "localhost"
			r.Header.Set("Content-Type", "application/json")
			answer := httptest.NewRecorder()
			w.Handler().ServeHTTP(answer, r)
			database := w.Status().Database
			h.Release()
			var p api.Problem
			if err := json.Unmarshal(answer.Body.Bytes(), &p); err != nil || !p.Of(api.KindEnding) {
				w.Errorf("%s %s of a client that left is answered %d %+v", c.method, c.target, answer.Code, p)
			}
			if !database.OK {
				w.Errorf("%s %s of a client that left: fleetd says of its database %+v", c.method, c.target, database)
			}
			if said := log.String()[before:]; strings.Contains(said, "level=ERROR") {
				w.Errorf("%s %s of a client that left is logged as a fault: %s", c.method, c.target, said)
			}
			w.must("GET", "/audit", nil, nil)
		}
	}, func(c *fleet.Config) {
		c.Logger = slog.New(slog.NewTextHandler(io.MultiWriter(testlog.Writer(t, "fleetd"), &log), nil))
	})
}

func TestRequestInProgressAtShutdownIsAnswered503(t *testing.T) {
	hanging(t, func(w *world, h *pgtest.Cable) {
		w.robot("r1")
		query := "FROM audit"
		h.HoldAt(query)
		url := w.URL()
		var asked sync.WaitGroup
		asked.Go(func() {
			defer h.Release() // fleetd writes before it ends
			answer, err := w.client().Get(url + api.Prefix + "/audit")
			if err != nil {
				w.Errorf("a request at shutdown: %v", err)
				return
			}
			defer answer.Body.Close()
			var p api.Problem
			if err := json.NewDecoder(answer.Body).Decode(&p); err != nil || answer.StatusCode != 503 || !p.Of(api.KindEnding) || p.Hint == "" {
				w.Errorf("a request at shutdown is answered %s %+v %v", answer.Status, p, err)
			}
		})
		w.until("the request waits for the database", h.Held)
		w.stopFleetd()
		asked.Wait()
	})
}
