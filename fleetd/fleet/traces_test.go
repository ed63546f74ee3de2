package fleet_test

import (
	"strings"
	"testing"

	"troupe/fleetd/fleet"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/trace/tracetest"
)

const (
	callerTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callerSpan  = "00f067aa0ba902b7"
)

// child returns the only span with this name below a parent.
func child(t *testing.T, c *tracetest.Collector, parent, name string) tracetest.Span {
	t.Helper()
	var found []tracetest.Span
	for _, s := range c.Named(name) {
		if s.Parent == parent {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans %q below %s; received %+v", len(found), name, parent, c.Spans())
	}
	if found[0].Trace != callerTrace {
		t.Errorf("%q is in the trace %s", name, found[0].Trace)
	}
	return found[0]
}

func wantAttrs(t *testing.T, s tracetest.Span, want ...string) {
	t.Helper()
	for i := 0; i < len(want); i += 2 {
		if s.Attrs[want[i]] != want[i+1] {
			t.Errorf("%q has %s=%q, want %q", s.Name, want[i], s.Attrs[want[i]], want[i+1])
		}
	}
}

func TestTraceReachesFromTheRequestToTheAnswer(t *testing.T) {
	c, log := tracetest.Start(t), &logged{}
	w := realWorld(t, storetest.SQLite(t), inJSON(t, log), func(c *fleet.Config) { c.Traces = true })
	w.startFleetd()
	w.robot("r1")
	o := order("sys/ping", "r1")
	o["why"], o["by"] = "a text that people wrote", "a-person-of-the-museum"
	const token = "troupe_a-secret-of-forty-three-characters-or-more"
	var sent struct {
		Commands []struct{ ID string }
	}
	w.must("POST", "/commands", o, &sent, "Prefer", "wait=10", "Traceparent", "00-"+callerTrace+"-"+callerSpan+"-01",
		"X-Request-Id", "proxy-7")
	if p := w.ask("GET", "/robots/r1", nil, nil, "Authorization", "Bearer "+token); p == nil {
		t.Error("a wrong token was accepted")
	}
	stop := map[string]any{"selector": map[string]any{"ids": []string{"r1"}}}
	w.must("POST", "/stops", stop, nil, "Traceparent", "00-"+callerTrace+"-"+callerSpan+"-01")
	w.stopFleetd()

	stopped := child(t, c, child(t, c, callerSpan, "POST /api/v1/stops").ID, "command safety/stop")
	child(t, c, stopped.ID, "send safety/stop")

	request := child(t, c, callerSpan, "POST /api/v1/commands")
	wantAttrs(t, request, "http.route", "/api/v1/commands", "http.response.status_code", "202", "troupe.request", "proxy-7",
		"troupe.signed_in_by", "dev", "service.name", "fleetd")
	if !strings.Contains(request.Attrs["troupe.roles"], "operator") {
		t.Errorf("roles: %q", request.Attrs["troupe.roles"])
	}
	child(t, c, request.ID, "transaction")
	command := child(t, c, request.ID, "command sys/ping")
	wantAttrs(t, command, "troupe.robot", "r1", "troupe.verb", "sys/ping", "troupe.command", sent.Commands[0].ID, "troupe.outcome",
		"SUCCEEDED")
	child(t, c, command.ID, "send sys/ping")
	wantAttrs(t, child(t, c, command.ID, "answer sys/ping"), "troupe.outcome", "SUCCEEDED")
	for _, line := range []map[string]any{log.line("request served", "request", "proxy-7"), log.line("command settled", "command",
		sent.Commands[0].ID)} {
		if line["trace_id"] != callerTrace {
			t.Errorf("logged %v", line)
		}
	}
	for _, private := range []string{"text that people wrote", "a-person-of", token, "127.0.0.1:8080"} {
		if strings.Contains(c.Bodies(), private) {
			t.Errorf("the traces contain %q", private)
		}
	}
}

func TestWithoutTheFlagNoTraceIsSent(t *testing.T) {
	c := tracetest.Start(t)
	w := realWorld(t, storetest.SQLite(t))
	w.startFleetd()
	w.must("GET", "/robots", nil, nil, "Traceparent", "00-"+callerTrace+"-"+callerSpan+"-01")
	w.stopFleetd()
	if c.Header() != nil {
		t.Errorf("received %+v", c.Spans())
	}
}
