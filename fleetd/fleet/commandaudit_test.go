package fleet_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
)

// audited are the lines of the audit that say that.
func (w *world) audited(what string) (found []api.AuditEntry) {
	w.Helper()
	var got struct{ Notes []api.AuditEntry }
	w.must("GET", "/audit?limit=1000", nil, &got)
	for _, n := range got.Notes {
		if strings.HasPrefix(n.What, what) {
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
		w.until("they are noted", func() bool { return len(w.audited("mqtt ")) >= 3 })
		w.sleep(5 * time.Second)
		var lines []string
		for _, n := range w.audited("mqtt ") {
			lines = append(lines, n.Who+"|"+n.What+"|"+n.Target+"|"+n.Detail)
		}
		want := []string{`ben at op1|mqtt safety/enable|r1|{"id":"k1","by":"ben"}`, "op1|mqtt safety/stop|r1|", "op1|mqtt mode/set|r1|ato"}
		if fmt.Sprint(lines) != fmt.Sprint(want) {
			w.Errorf("noted\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
		}

		// What fleetd itself asks is persisted elsewhere.
		w.state(w.command(order("safety/stop", "r1")), "SUCCEEDED")
		w.sleep(5 * time.Second)
		if n := len(w.audited("mqtt ")); n != len(want) {
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
		w.must("POST", "/stops/release", map[string]any{"ids": []string{held.Latch}, "by": "ben", "why": "the stage is clear"}, nil)
		w.must("POST", "/robots/r9/adopt", api.Signed{By: "carl", Why: "it is new"}, nil)
		waiting := w.command(setMode("ato", "r9"))
		w.state(waiting, "QUEUED")
		w.must("POST", "/commands/"+waiting+"/cancel", api.Signed{By: "dora", Why: "not today"}, nil)
		w.command(order("safety/stop", "r1"))
		noted := map[string]string{}
		for _, n := range w.audited("") {
			noted[n.What+" "+n.Target] = fmt.Sprintf("%q for %s: %s", n.Principal, n.Who, n.Detail)
		}
		db, err := w.Store()
		if err != nil {
			w.Fatal(err)
		}
		batches, err := db.Batches(context.Background(), 0)
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
		want := map[string]string{
			"label robot r1":             `"dev" for anna: hall=a`,
			"stop stop " + held.Latch:    `"dev" for anna: stop: r1`,
			"release stop " + held.Latch: `"dev" for ben: on 1 robot: the stage is clear`,
			"adopt robot r9":             `"dev" for carl: it is new`,
			"cancel command " + waiting:  `"dev" for dora: not today`,
			"adopt robot r1":             `"" for fleetd: --dev adopts every robot`,
		}
		if !maps.Equal(noted, want) {
			w.Errorf("noted %v, want %v", noted, want)
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
