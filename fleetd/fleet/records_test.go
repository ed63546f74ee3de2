package fleet_test

import (
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/records"
	"troupe/schema"
	"troupe/schema/verb"
)

// An operator asks for a record, gets at once why there is none, or later what the robot says;
// the audit has both. A viewer may not even look.
func TestOperatorAsksForAFlightRecord(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		w.must("POST", "/robots/r1/adopt", audit.Attribution{}, nil)
		const path = "/robots/r1/records"
		ask := api.RecordRequest{LastMS: 60_000, Attribution: audit.Attribution{Why: "it fell"}}
		refused := func(what, method, path string, kind api.Kind, says string, headers ...string) {
			t.Helper()
			if p := w.ask(method, path, ask, nil, headers...); p == nil || !p.Of(kind) || !strings.Contains(p.Detail, says) || p.Hint == "" {
				t.Errorf("%s: %+v", what, p)
			}
		}
		refused("a viewer", "POST", path, api.KindNotAllowed, "records", "As", "viewer")
		refused("an author", "POST", path, api.KindNotAllowed, "records", "As", "author")
		refused("an unknown robot", "POST", "/robots/r9/records", api.KindNotFound, "r9", "As", "operator")

		r.Answer(func(string, verb.Request) []schema.Ack { return []schema.Ack{{Status: schema.StatusAccepted}} })
		var got records.Record
		w.must("POST", path, ask, &got, "As", "operator")
		if got.State != records.Asked || got.LastMS != 60_000 || got.By != "anna" || got.Command == "" {
			t.Errorf("%+v", got)
		}
		refused("a second one", "POST", path, api.KindBusy, "on its way already, for anna", "As", "operator")
		refused("a file that has not come", "GET", path+"/"+got.ID+"/file", api.KindConflict, "it is asked", "As", "operator")
		refused("an unknown record", "GET", path+"/none", api.KindNotFound, "none", "As", "operator")
		refused("a person with a key", "PUT", "/records/5f3c0e9a", api.KindCertificate, "only a robot", "As", "admin")
		w.sleep(3 * time.Minute)
		w.must("GET", path+"/"+got.ID, nil, &got, "As", "operator")
		if got.State != records.Failed || !strings.Contains(got.Why, "sent nothing") {
			t.Errorf("a robot that sends nothing: %+v", got)
		}

		r.Answer(func(string, verb.Request) []schema.Ack {
			return []schema.Ack{{Status: schema.StatusFailed, Reason: schema.ReasonUnavailable, Detail: "its recorder is off"}}
		})
		w.must("POST", path, ask, &got, "As", "operator")
		w.until("what the robot says", func() bool {
			w.must("GET", path+"/"+got.ID, nil, &got, "As", "operator")
			return got.State == records.Failed && strings.Contains(got.Why, "its recorder is off")
		})
		w.until("the audit", func() bool {
			for _, e := range w.audited("") {
				if e.What == "flight record" && e.Outcome == audit.Failed && e.Who == "anna" && e.Target == "robot r1" &&
					strings.Contains(e.Why, "its recorder is off") && strings.Contains(e.Detail, "the last 1m0s") {
					return true
				}
			}
			return false
		})
		// The key under which the robot sends the file is in no entry and in no answer.
		shown := 0
		for _, e := range w.audited("") {
			if strings.Contains(string(e.What), "record") {
				shown++
				if strings.Contains(e.After, `"to"`) || strings.Contains(e.Target, "5f3c0e9a") {
					t.Errorf("the audit shows the key of an upload: %s, %s: %s", e.What, e.Target, e.After)
				}
			}
		}
		if shown < 3 {
			t.Errorf("%d entries of flight records", shown)
		}
		r.Close()
		w.awaitPresence("r1", "offline")
		refused("a robot that is offline", "POST", path, api.KindNoAnswer, "offline", "As", "operator")
	}, roles().option)
}
