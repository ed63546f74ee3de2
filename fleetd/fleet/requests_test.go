package fleet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"troupe/fleetd/fleet"
	"troupe/schema/logs"
)

// logged is a log in JSON.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// line returns the attributes of the first line with a message that has this attribute.
func (l *logged) line(message, name, value string) map[string]any {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, text := range strings.Split(l.text.String(), "\n") {
		var line map[string]any
		if json.Unmarshal([]byte(text), &line) == nil && line["msg"] == message && line[name] == value {
			return line
		}
	}
	return nil
}

func inJSON(t *testing.T, to *logged) func(*fleet.Config) {
	log, err := logs.New(to, "json", "debug")
	if err != nil {
		t.Fatal(err)
	}
	return func(c *fleet.Config) { c.Logger = log }
}

func TestLinesOfARequestAndACommandHaveTheirIDs(t *testing.T) {
	log := &logged{}
	inWorld(t, func(w *world) {
		w.robot("r1")
		w.must("POST", "/stops", map[string]any{"selector": map[string]any{"ids": []string{"r1"}}, "by": "anna", "why": "test"}, nil,
			"X-Request-Id", "proxy-7")
		if line := log.line("stop issued", "request", "proxy-7"); line == nil {
			t.Error("the line of a stop does not name the request")
		}
		if line := log.line("request served", "request", "proxy-7"); line == nil || line["status"] != 202. || line["method"] != "POST" {
			t.Errorf("the request is logged as %v", line)
		}
		id := w.command(order("sys/ping", "r1"))
		w.until("the command is logged", func() bool {
			line := log.line("command settled", "command", id)
			return line != nil && line["robot"] == "r1" && line["state"] == "SUCCEEDED"
		})
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080/healthz", nil)
		r.Header.Set("X-Request-Id", "two lines\nlevel=ERROR")
		answer := httptest.NewRecorder()
		w.Handler().ServeHTTP(answer, r)
		if id := answer.Header().Get("X-Request-Id"); len(id) != 36 {
			t.Errorf("a bad id was replaced by %q", id)
		}
	}, inJSON(t, log))
}

func TestFaultOfTheDatabaseIsLoggedWithItsRequest(t *testing.T) {
	log := &logged{}
	inWorld(t, func(w *world) {
		if p := w.ask("GET", "/audit", nil, nil, "X-Request-Id", "q-1"); p == nil || p.Status != http.StatusServiceUnavailable {
			t.Fatalf("without a database: %v", p)
		}
		if line := log.line("request failed", "request", "q-1"); line == nil || !strings.Contains(line["error"].(string), "no route to host") {
			t.Errorf("the fault is logged as %v", line)
		}
	}, inJSON(t, log), func(c *fleet.Config) {
		c.Database, c.Spool = "postgres://nobody@127.0.0.1/none", strings.TrimPrefix(c.Database, "sqlite:")+".stops"
		c.DialDatabase = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route to host") }
	})
}
