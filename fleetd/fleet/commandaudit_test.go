package fleet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/store"
)

// audited are the entries of the audit of things done through that; empty = all.
func (w *world) audited(via audit.Via) (found []audit.Entry) {
	w.Helper()
	var got api.Audit
	w.must("GET", "/audit?limit=1000", nil, &got)
	for _, n := range got.Entries {
		if via == "" || n.Via == via {
			found = append(found, n)
		}
	}
	return found
}

func TestCommandOfAnotherClientIsAudited(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		op := w.broker.Load().Client(w.T, "op1")
		op.Publish("troupe/v1/robots/r1/cmd/op1/mode/set", "ato")
		op.Publish("troupe/v1/robots/r1/cmd/op1/safety/stop", "")
		op.Publish("troupe/v1/robots/r1/cmd/op1/safety/enable", `{"id":"k1","by":"ben"}`)
		op.Publish("troupe/v1/robots/r1/cmd/op1/manual/velocity", `{"seq":1}`)
		w.until("they are noted", func() bool { return len(w.audited(audit.ViaMQTT)) >= 3 })
		w.sleep(5 * time.Second)
		var lines []string
		for _, n := range w.audited(audit.ViaMQTT) {
			lines = append(lines, n.Principal+"|"+n.Who+"|"+string(n.What)+"|"+n.Target+"|"+n.Detail)
		}
		want := []string{`op1|ben|command safety/enable|robot r1|{"id":"k1","by":"ben"}`, "op1||command safety/stop|robot r1|", "op1||command mode/set|robot r1|ato"}
		if fmt.Sprint(lines) != fmt.Sprint(want) {
			w.Errorf("noted\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
		}

		// The robot's answers say how they ended.
		ends := map[string]audit.Outcome{}
		for _, n := range w.audited(audit.ViaRobot) {
			ends[n.Of] = n.Outcome
		}
		for _, n := range w.audited(audit.ViaMQTT) {
			if ends[n.ID] != audit.Done {
				w.Errorf("%s ended with %q", n.What, ends[n.ID])
			}
		}

		// What fleetd itself sends is audited where it was requested.
		w.state(w.command(order("safety/stop", "r1")), "SUCCEEDED")
		w.sleep(5 * time.Second)
		if n := len(w.audited(audit.ViaMQTT)); n != len(want) {
			w.Errorf("%d lines, want %d", n, len(want))
		}
	})
}

func TestAuditCarriesThePrincipal(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		w.must("PUT", "/robots/r1/labels", map[string]any{"labels": map[string]string{"hall": "a"}, "by": "anna"}, nil)
		var held api.Batch
		w.must("POST", "/stops", map[string]any{"selector": map[string]any{"ids": []string{"r1"}}, "by": "anna"}, &held)
		w.state(held.Commands[0].ID, "SUCCEEDED")
		w.must("POST", "/stops/release", map[string]any{"ids": []string{held.Latch}, "by": "ben", "why": "the stage is clear"}, nil)
		w.must("POST", "/robots/r9/adopt", audit.Attribution{Who: "carl", Why: "it is new"}, nil)
		waiting := w.command(setMode("ato", "r9"))
		w.state(waiting, "QUEUED")
		w.must("POST", "/commands/"+waiting+"/cancel", audit.Attribution{Who: "dora", Why: "not today"}, nil)
		w.state(w.command(order("safety/stop", "r1")), "SUCCEEDED")
		w.sleep(time.Second)
		db, err := w.Store()
		if err != nil {
			w.Fatal(err)
		}
		batches, err := db.Batches(context.Background(), store.BatchQuery{})
		if err != nil {
			w.Fatal(err)
		}
		for _, b := range batches {
			if b.Principal != "dev" {
				w.Errorf("batch %s of %s has principal %q", b.ID, b.Verb, b.Principal)
			}
		}
		if len(batches) != 4 {
			w.Errorf("%d batches, want the stop, the adoption and the two commands", len(batches))
		}
		var noted []string
		for _, n := range w.audited("") {
			if n.Of == "" && n.Via == audit.ViaAPI && (n.Address != "192.0.2.1" || n.Principal != "dev") {
				w.Errorf("%s of %s came from %+v", n.What, n.Target, n.Source)
			}
			noted = append(noted, strings.Join([]string{string(n.Via), n.Who, string(n.What), n.Target, n.Why, n.Detail, string(n.Outcome)}, "|"))
		}
		want := []string{
			"api|ann|command mode/set|robot r9|||accepted",
			"api|ann|command safety/stop|robot r1|||accepted",
			"api|anna|command safety/stop|robot r1|||accepted",
			"api|anna|label|robot r1||hall=a|done",
			"api|anna|stop|stop " + held.Latch + "||stop: r1|done",
			"api|ben|release|stop " + held.Latch + "|the stage is clear|on r1|done",
			"api|carl|adopt|robot r9|it is new||done",
			"api|carl|command sys/adopt|robot r9|it is new||accepted",
			"api|dora|cancel|command " + waiting + "|not today||done",
			"fleetd|fleetd|adopt|robot r1|--dev adopts every robot||done",
			"fleetd||command mode/set|robot r9||CANCELLED: cancelled before it was sent|failed",
			"fleetd||command safety/stop|robot r1||SUCCEEDED: the robot reports success|done",
			"fleetd||command safety/stop|robot r1||SUCCEEDED: the robot reports success|done",
		}
		slices.Sort(noted)
		slices.Sort(want)
		if !slices.Equal(noted, want) {
			w.Errorf("noted\n%s\nwant\n%s", strings.Join(noted, "\n"), strings.Join(want, "\n"))
		}
		var v audit.Verdict
		if w.must("GET", "/audit/verify", nil, &v); !v.Holds || v.Rows != int64(len(noted)) {
			w.Errorf("the chain: %+v", v)
		}
	})
}

func TestMessageSchemasAreServed(t *testing.T) {
	inWorld(t, func(w *world) {
		var list struct{ Schemas []string }
		w.must("GET", "/schemas", nil, &list)
		if len(list.Schemas) < 20 {
			w.Errorf("schemas: %v", list.Schemas)
		}
		for _, name := range list.Schemas {
			var s struct {
				Schema string `json:"$schema"`
			}
			status, body := request(w.T, w.Handler(), "GET", "/schemas/"+name, nil)
			if err := json.Unmarshal(body, &s); status != 200 || err != nil || !strings.Contains(s.Schema, "2020-12") {
				w.Errorf("%s: %d %v %.80s", name, status, err, body)
			}
		}
		if p := w.ask("GET", "/schemas/nothing", nil, nil); p == nil || !p.Of(api.KindNotFound) {
			w.Errorf("a schema that there is not: %v", p)
		}
	})
}
