package fleet_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/fleet"
	"troupe/fleetd/fleet/fleettest"
	"troupe/fleetd/store/pgtest"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
	"troupe/schema/golden"
	"troupe/schema/score"
)

// onBoth runs a test over SQLite and over PostgreSQL.
func onBoth(t *testing.T, test func(w *world), options ...func(*fleet.Config)) {
	t.Run("sqlite", func(t *testing.T) { inWorld(t, test, options...) })
	t.Run("postgres", func(t *testing.T) {
		onPostgres(t, func(w *world, _ *pgtest.Cable) {
			w.startFleetd()
			test(w)
		}, options...)
	})
}

// onBothInRealTime is onBoth for certificates, which are valid in real time.
func onBothInRealTime(t *testing.T, test func(w *world), options ...func(*fleet.Config)) {
	for name, database := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return storetest.SQLite(t) },
		"postgres": func(t *testing.T) string { return storetest.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			w := realWorld(t, database(t), options...)
			w.startFleetd()
			test(w)
		})
	}
}

// realWorld is a world in real time, whose fleetd is still to be started.
func realWorld(t *testing.T, database string, options ...func(*fleet.Config)) *world {
	w := &world{T: t, database: database, real: true}
	w.newBroker()
	w.config = fleet.Config{Dial: w.dial, Database: w.database, Spool: filepath.Join(t.TempDir(), "stops"), Dev: true, Logger: logger(t)}
	for _, o := range options {
		o(&w.config)
	}
	return w
}

// furnished has a robot with a story, and a draft with an error.
func furnished(w *world) *fleettest.Robot {
	r := w.robot("r1")
	w.publish()
	w.assign("museum", "r1")
	w.converged("r1")
	w.must("PUT", "/acts/broken", "act: broken\nactions:\n- {type: fly, start_ms: 0}\n", nil, "If-Match", "*")
	w.must("PUT", "/stories/draft", strings.Replace(museum, "museum", "draft", 1), nil, "If-Match", "*")
	// A revision that holds an act which was deleted since.
	w.must("PUT", "/acts/wave", strings.Replace(bow, "bow", "wave", 1), nil, "If-Match", "*")
	w.must("POST", "/acts/wave/publish", audit.Attribution{}, nil)
	w.must("PUT", "/stories/waving", strings.NewReplacer("museum", "waving", "act: bow", "act: wave").Replace(museum), nil, "If-Match", "*")
	w.must("POST", "/stories/waving/publish", audit.Attribution{}, nil)
	w.must("DELETE", "/acts/wave?expected_stories=1", nil, nil)
	w.ring("ringing", soundOf("gong", 100))
	return r
}

type refusal struct {
	name         string
	method, path string
	body         any
	headers      []string
	kind         api.Kind
	pointer      string // of the first error
	says         string // part of the detail or the hint
}

func with(o map[string]any, more ...any) map[string]any {
	for i := 0; i+1 < len(more); i += 2 {
		o[more[i].(string)] = more[i+1]
	}
	return o
}

var refusals = []refusal{
	{"a body that is no JSON", "POST", "/commands", "{", nil, api.KindMalformed, "", ""},
	{"no body", "POST", "/commands", nil, nil, api.KindMalformed, "", ""},
	{"a field that does not exist", "POST", "/commands", with(setMode("ato", "r1"), "wen", 1), nil, api.KindInvalid, "/wen", "unexpected"},
	{"a field of another type", "POST", "/commands", with(setMode("ato", "r1"), "ttl_ms", "long"), nil, api.KindInvalid, "/ttl_ms", "integer"},
	{"a verb that does not exist", "POST", "/commands", order("mode/fly", "r1"), nil, api.KindInvalid, "/verb", "mode/set"},
	{"a missing argument", "POST", "/commands", order("mode/set", "r1"), nil, api.KindInvalid, "/args/mode", "mode"},
	{"an argument that does not exist", "POST", "/commands", with(setMode("ato", "r1"), "args", map[string]any{"mode": "ato", "fast": true}),
		nil, api.KindInvalid, "/args/fast", "fast"},
	{"arguments that are no object", "POST", "/commands", with(setMode("ato", "r1"), "args", "ato"), nil, api.KindInvalid, "/args", ""},
	{"no robot selected", "POST", "/commands", with(setMode("ato"), "selector", map[string]any{}), nil, api.KindInvalid, "/selector",
		"no robot"},
	{"robots selected in two ways", "POST", "/commands", with(setMode("ato"), "selector", map[string]any{"all": true, "ids": []string{"r1"}}),
		nil, api.KindInvalid, "/selector", "more than one way"},
	{"a robot that is not there", "POST", "/commands", setMode("ato", "r1", "r9"), nil, api.KindInvalid, "/selector/ids/1", "r9"},
	{"a label that nobody has", "POST", "/commands", with(setMode("ato"), "selector",
		map[string]any{"labels": []any{map[string]string{"key": "a", "value": "b"}}}), nil, api.KindInvalid, "/selector",
		"no robot would get the command"},
	{"a time to live that is too long", "POST", "/commands", with(setMode("ato", "r1"), "ttl_ms", 3_600_001), nil, api.KindInvalid, "/ttl_ms",
		"3.6e+06"},
	{"a wait that is no number", "POST", "/commands", setMode("ato", "r1"), []string{"Prefer", "wait=long"}, api.KindInvalid, "", "wait=long"},
	{"another number than expected", "POST", "/commands", with(setMode("ato", "r1"), "expected_count", 2), nil, api.KindCount,
		"/expected_count", "1 robots"},
	{"a body of another type", "POST", "/commands", "act: x", nil, api.KindMedia, "", ""},
	{"a page of another site", "POST", "/commands", order("safety/stop", "r1"), []string{"Sec-Fetch-Site", "cross-site"}, api.KindNotAllowed,
		"", "another site"},
	{"a body that is too large", "POST", "/commands", with(setMode("ato", "r1"), "why", strings.Repeat("x", 1<<20)), nil,
		api.KindTooLarge, "", ""},

	{"a parameter that does not exist", "GET", "/robots?labels=a", nil, nil, api.KindInvalid, "/labels", "unknown"},
	{"a label that is none", "GET", "/robots?label=a", nil, nil, api.KindInvalid, "", "is not a label"},
	{"a list that is too long", "GET", "/commands?limit=5000", nil, nil, api.KindInvalid, "/limit", "1000"},
	{"a state that does not exist", "GET", "/commands?state=GONE", nil, nil, api.KindInvalid, "/state", ""},
	{"a robot nobody saw", "GET", "/robots/r9", nil, nil, api.KindNotFound, "", "r9"},
	{"a label for a robot nobody saw", "PUT", "/robots/r9/labels", map[string]any{"labels": map[string]string{}}, nil,
		api.KindNotFound, "", "r9"},
	{"a label that cannot be one", "PUT", "/robots/r1/labels", map[string]any{"labels": map[string]string{"A b": "c"}}, nil, api.KindInvalid,
		"/labels/A b/key", "key"},
	{"an intent without a name", "POST", "/robots/r1/intents", map[string]any{"text": "hello"}, nil, api.KindInvalid, "", "name"},
	{"an intent whose name is two words", "POST", "/robots/r1/intents", map[string]any{"name": "two words"}, nil, api.KindInvalid, "/name",
		"two words"},
	{"an intent beyond certainty", "POST", "/robots/r1/intents", map[string]any{"name": "greet", "confidence": 2}, nil, api.KindInvalid,
		"/confidence", "1"},
	{"an intent for a robot that is not there", "POST", "/robots/r9/intents", map[string]any{"name": "greet"}, nil, api.KindInvalid,
		"/selector/ids/0", "r9"},
	{"a name that cannot be a robot's", "POST", "/robots/R1/adopt", audit.Attribution{}, nil, api.KindInvalid, "", "R1"},
	{"a token without keys", "POST", "/robots/r7/tokens", api.TokenRequest{}, nil, api.KindNoKeys, "", "--ca"},
	{"the token of a request without one", "DELETE", "/tokens/self", nil, nil, api.KindNotFound, "", "without a token"},
	{"a certificate without keys", "POST", "/enrol", schema.EnrolRequest{Token: "x", CSR: "x"}, nil, api.KindNoKeys, "", "--ca"},
	{"a revocation of nobody", "POST", "/robots/r9/revoke", api.RevokeRequest{Attribution: audit.Attribution{Why: "stolen"}}, nil,
		api.KindNotFound, "", "r9"},
	{"a revocation without a reason", "POST", "/robots/r1/revoke", api.RevokeRequest{}, nil, api.KindInvalid, "/why", "needs a reason"},
	{"a revocation of a certificate without a reason", "POST", "/certificates/c0ffee/revoke", audit.Attribution{Who: "ann"}, nil,
		api.KindInvalid, "/why", "needs a reason"},
	{"a robot that is there leaves", "POST", "/robots/r1/decommission", api.DecommissionRequest{}, nil, api.KindOnline, "", "--yes"},
	{"a robot nobody knows leaves", "POST", "/robots/r9/decommission", api.DecommissionRequest{Yes: true}, nil, api.KindNotFound, "", "r9"},
	{"a decommission nobody began", "GET", "/robots/r1/decommission", nil, nil, api.KindNotFound, "", "r1"},
	{"documents of a robot that is known", "DELETE", "/orphans/r1", nil, nil, api.KindNotFound, "", "r1"},
	{"a command nobody gave", "GET", "/commands/x", nil, nil, api.KindNotFound, "", "x"},
	{"a batch nobody gave", "GET", "/batches/x", nil, nil, api.KindNotFound, "", "x"},
	{"an address that does not exist", "GET", "/rebots", nil, nil, api.KindNotFound, "", "/api/v1/rebots"},
	{"a method that does not exist", "DELETE", "/robots", nil, nil, api.KindNotFound, "", "DELETE"},

	{"an act nobody wrote", "GET", "/acts/nothing", nil, nil, api.KindNotFound, "", "nothing"},
	{"a revision that does not exist", "GET", "/stories/museum/revisions/9", nil, nil, api.KindNotFound, "", "revision 9"},
	{"the timeline of an act nobody wrote", "GET", "/acts/nothing/timeline", nil, nil, api.KindNotFound, "", "nothing"},
	{"the timeline of a revision that does not exist", "GET", "/stories/museum/timeline?rev=9", nil, nil, api.KindNotFound, "", "museum"},
	{"the timeline of a draft with errors", "GET", "/acts/broken/timeline", nil, nil, api.KindInvalid, "/actions/0/type", "fly"},
	{"a text that cannot be read", "PUT", "/acts/x", "act: [", []string{"If-Match", "*"}, api.KindInvalid, "", ""},
	{"a text of another name", "PUT", "/acts/x", welcome, []string{"If-Match", "*"}, api.KindInvalid, "/act", "welcome"},
	{"a draft over one that nobody names", "PUT", "/acts/welcome", welcome, nil, api.KindPreconditionRequired, "", "If-Match"},
	{"somebody else's change", "PUT", "/acts/welcome", strings.Replace(welcome, "smile", "calm", 1), []string{"If-Match", `"7"`}, api.KindPreconditionFailed, "", "revision 1"},
	{"a state that is none", "PUT", "/acts/welcome", welcome, []string{"If-Match", `"x"`}, api.KindPreconditionFailed, "", "ETag"},
	{"an error in the draft", "POST", "/acts/broken/publish", audit.Attribution{}, nil, api.KindInvalid, "/actions/0/type", "fly"},
	{"a draft nobody wrote", "POST", "/stories/nothing/publish", audit.Attribution{}, nil, api.KindNotFound, "", "nothing"},
	{"a story that is not published", "POST", "/assignments", map[string]any{"story": "draft", "selector": map[string]any{"all": true}}, nil,
		api.KindUnpublished, "/story", "publish"},
	{"a story nobody wrote", "POST", "/assignments", map[string]any{"story": "nothing", "selector": map[string]any{"all": true}}, nil,
		api.KindNotFound, "", "nothing"},
	{"a revision with a deleted act", "POST", "/assignments", map[string]any{"story": "waving", "rev": 1,
		"selector": map[string]any{"all": true}}, nil, api.KindConflict, "/rev", "wave"},
	{"a story for a robot that is not there", "POST", "/assignments", map[string]any{"story": "museum",
		"selector": map[string]any{"ids": []string{"r9"}}}, nil, api.KindInvalid, "/selector/ids/0", "r9"},
	{"a story for another number of robots", "POST", "/assignments", map[string]any{"story": "museum", "selector": map[string]any{"all": true},
		"expected_count": 9}, nil, api.KindCount, "/expected_count", "9 were expected"},
	{"a sound that is none", "PUT", "/assets/drum", "no sound", nil, api.KindInvalid, "", "send WAV"},
	{"an asset of a name that is none", "PUT", "/assets/My.Gong", soundOf("x", 20), nil, api.KindInvalid, "/name", "a to z"},
	{"an asset that is too large", "PUT", "/assets/drum", soundOf("x", 16<<20+1), nil, api.KindTooLarge, "", "16777217"},
	{"an asset nobody put", "GET", "/assets/nothing", nil, nil, api.KindNotFound, "", "nothing"},
	{"an asset that is used", "DELETE", "/assets/gong", nil, nil, api.KindInUse, "/name", "ringing revision 1"},
	{"bytes nobody put", "GET", "/assets/sha256/" + strings.Repeat("0", 64), nil, nil, api.KindNotFound, "", "000"},
	{"a digest that is none", "GET", "/assets/sha256/abc", nil, nil, api.KindInvalid, "/digest", ""},
	{"an act that stories use", "DELETE", "/acts/bow", nil, nil, api.KindCount, "/expected_stories", "2 stories"},
	{"a story that robots perform", "DELETE", "/stories/museum?expected_stories=1&expected_robots=1", nil, nil, api.KindConfirm,
		"/clear", "museum"},
}

func TestRefusalNamesPlaceAndRemedy(t *testing.T) {
	onBoth(t, func(w *world) {
		r := furnished(w)
		before := len(r.Received())
		for _, c := range refusals {
			p := w.ask(c.method, c.path, c.body, nil, c.headers...)
			switch {
			case p == nil:
				w.Errorf("%s: was taken", c.name)
				continue
			case !p.Of(c.kind) || p.Status != c.kind.Status || p.Title != c.kind.Title:
				w.Errorf("%s: is answered as %s %d %q: %v", c.name, p.Type, p.Status, p.Title, p)
				continue
			case c.pointer != "" && (len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer):
				w.Errorf("%s: the place is %+v, want %s", c.name, p.Errors, c.pointer)
			}
			if text := fmt.Sprint(p, p.Errors); !strings.Contains(text, c.says) {
				w.Errorf("%s: says %q, without %q", c.name, text, c.says)
			}
			if p.Error() == "" {
				w.Errorf("%s: is empty", c.name)
			}
		}
		if now := len(r.Received()); now != before {
			w.Errorf("%d commands reached the robot although all was refused", now-before)
		}
		if d, _ := w.Robot("r1"); d.Desired.Active == nil || d.Desired.Active.Rev != 1 {
			w.Errorf("refused requests left the robot with %+v", d.Desired)
		}
	})
}

// Kinds that no request to a fleetd instance without faults can meet, or only one with keys
// or one that asks for a sign-in; other tests meet them.
var elsewhere = []api.Kind{
	api.KindBusy, api.KindSlow, api.KindInternal, api.KindDatabase, api.KindLoading, api.KindOverload, api.KindDisk, api.KindOutcome,
	api.KindBroker, api.KindNoAnswer, api.KindEnding,
	api.KindToken, api.KindTokenUsed, api.KindTokenExpired, api.KindWrongBody, api.KindRequest, api.KindCertificate, api.KindTooOften,
	api.KindSignIn, api.KindState,
	api.KindSealKey,
}

func TestEveryKindOfProblemHasATest(t *testing.T) {
	met := map[string]bool{}
	for _, c := range refusals {
		met[c.kind.Name] = true
	}
	for _, k := range elsewhere {
		met[k.Name] = true
	}
	seen := map[string]bool{}
	for _, k := range api.Kinds() {
		if !met[k.Name] {
			t.Errorf("no test meets %s", k.Name)
		}
		if seen[k.Name] || k.Title == "" || k.Meaning == "" || k.Status < 400 {
			t.Errorf("%+v is not a kind of its own", k)
		}
		seen[k.Name] = true
	}
}

func TestProblemTypeLinksToItsDocumentation(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, k := range api.Kinds() {
			answer := httptest.NewRecorder()
			r := httptest.NewRequest("GET", k.Type(), nil)
			r.Host = "localhost"
			w.Handler().ServeHTTP(answer, r)
			if answer.Code != 200 || !strings.Contains(answer.Body.String(), k.Meaning) {
				w.Errorf("%s leads to %d %s", k.Type(), answer.Code, answer.Body)
			}
		}
	})
}

func TestLibraryOverTheAPI(t *testing.T) {
	onBoth(t, func(w *world) {
		furnished(w)
		var e api.Entry
		w.must("GET", "/stories/museum", nil, &e)
		if e.Draft != museum || e.Rev != 1 || e.Robots != 1 || len(e.Revisions) != 1 || e.Name != "Museum" {
			w.Errorf("the story is %+v", e)
		}
		_, body := request(w.T, w.Handler(), "GET", "/stories/museum/revisions/1", nil)
		if sum := e.Revisions[0].SHA256; digest(body) != sum {
			w.Errorf("the published bytes have another digest than %s", sum)
		}
		var s api.Saved
		w.must("PUT", "/stories/museum", museum, &s, "If-Match", fmt.Sprintf(`"%d"`, e.DraftRev))
		if !s.Unchanged {
			w.Errorf("the same text again: %+v", s)
		}
		var p api.Published
		w.must("POST", "/stories/museum/publish", audit.Attribution{}, &p)
		if !p.Unchanged || p.Revision.Rev != 1 {
			w.Errorf("the same draft again: %+v", p)
		}
		w.must("PUT", "/acts/bow", strings.Replace(bow, "calm", "shy", 1), nil, "If-Match", "*")
		for query, face := range map[string]string{"": "shy", "?rev=1": "calm"} {
			var t api.Timeline
			w.must("GET", "/acts/bow/timeline"+query, nil, &t)
			if i := slices.IndexFunc(t.Lanes, func(l score.Lane) bool { return l.Class == score.ClassFace }); i < 0 ||
				t.Lanes[i].Bars[0].Text != face {
				w.Errorf("timeline%s of bow: %+v", query, t)
			}
			w.must("GET", "/stories/museum/timeline"+query, nil, &t)
			if len(t.Acts) != 2 || t.Acts[1].Act != "bow" || t.LengthMS == 0 {
				w.Errorf("timeline%s of museum: %+v", query, t)
			}
		}
		w.must("POST", "/acts/bow/publish", audit.Attribution{}, &p)
		if len(p.Stale) != 1 || p.Stale[0] != "museum" {
			w.Errorf("a changed act leaves stale %v", p.Stale)
		}
		v := w.validate(api.SourceText{Kind: "act", Text: "act: x\nactions:\n- {type: wait, start_ms: 0, end_ms: 0}\n"})[0]
		if v.Valid || v.ID != "x" || len(v.Problems) == 0 || v.Problems[0].Pointer == "" || v.Problems[0].Hint == "" {
			w.Errorf("validity is %+v", v)
		}
		var d api.Deletion
		w.must("DELETE", "/acts/bow?dry_run=true", nil, &d)
		if !d.DryRun || len(d.Stories) != 2 || d.Robots != 1 || d.Stories[1].After != 1 {
			w.Errorf("a dry run of deleting says %+v", d)
		}
		w.must("DELETE", "/stories/museum?expected_stories=1&expected_robots=1&clear=museum", nil, &d)
		var list struct{ Entries []api.Entry }
		w.must("GET", "/stories", nil, &list)
		for _, e := range list.Entries {
			if e.ID == "museum" {
				w.Error("a deleted story is listed")
			}
		}
		w.must("POST", "/stories/museum/recover", audit.Attribution{}, &s)
		w.must("GET", "/stories/museum", nil, &e)
		if e.DeletedAt != 0 || e.Robots != 0 {
			w.Errorf("the recovered story is %+v", e)
		}
	})
}

// Programs choose simple keys, such as 1, so two of them may choose the same one.
func TestAccountsDoNotShareIdempotencyKeys(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		w.must("PUT", "/robots/r1/labels", map[string]any{"labels": map[string]string{"site": "lobby"}}, nil)
		var first, second api.Batch
		w.must("POST", "/commands", order("sys/ping", "r1"), &first, "Idempotency-Key", "1", "Prefer", "wait=5")
		w.must("POST", "/commands", order("sys/ping", "r1"), &second, "Idempotency-Key", "1", "Prefer", "wait=5", "As", "anna")
		if first.ID == second.ID || count(r.Received(), "sys/ping") != 2 || second.By != "anna" {
			w.Errorf("the same key of two accounts: %+v and %+v", first, second)
		}
	}, ofLobby.option, func(c *fleet.Config) { c.Dev = true })
}

func TestSameIdempotencyKeyIsTheSameBatch(t *testing.T) {
	onBoth(t, func(w *world) {
		r := w.robot("r1")
		var first, second api.Batch
		w.must("POST", "/commands", setMode("ato", "r1"), &first, "Idempotency-Key", "k1", "Prefer", "wait=5")
		w.must("POST", "/commands", setMode("ato", "r1"), &second, "Idempotency-Key", "k1")
		if first.ID != second.ID || count(r.Received(), "mode/set") != 1 || second.Outcome != "succeeded" {
			w.Errorf("asked twice under one key: %+v and %+v", first, second)
		}
		w.sleep(2 * time.Second)
		if got := w.newest(1); len(got) != 2 || got[0].Of == "" || got[1].Outcome != audit.Accepted {
			w.Errorf("asked twice under one key leaves %+v, not that it was accepted and how it ended", got)
		}
		if p := w.ask("POST", "/commands", setMode("mnl", "r1"), nil, "Idempotency-Key", "k1"); p == nil || !p.Of(api.KindInvalid) {
			w.Errorf("another request under the same key: %v", p)
		}
		for what, body := range map[string]map[string]any{"person": with(setMode("ato", "r1"), "by", "ben"), "reason": with(setMode("ato", "r1"),
			"why", "the show")} {
			if p := w.ask("POST", "/commands", body, nil, "Idempotency-Key", "k1"); p == nil || !p.Of(api.KindInvalid) {
				w.Errorf("another %s under the same key: %v", what, p)
			}
		}
		// So is one with arguments of more than one value.
		perform := with(order("act/perform", "r1"), "args",
			map[string]any{"actions": []any{map[string]any{"type": "wait", "start_ms": 1.5e2, "end_ms": 200}}, "clear": true})
		w.must("POST", "/commands", perform, &first, "Idempotency-Key", "k2", "Prefer", "wait=5")
		w.must("POST", "/commands", perform, &second, "Idempotency-Key", "k2")
		if first.ID != second.ID || count(r.Received(), "act/perform") != 1 || second.Outcome != "succeeded" {
			w.Errorf("asked twice under one key: %+v and %+v", first, second)
		}
		// A database reads every number as a float.
		enable := with(order("safety/enable", "r1"), "args", map[string]any{"seen_mono_ms": 1234567})
		w.must("POST", "/commands", enable, &first, "Idempotency-Key", "k3", "Prefer", "wait=5")
		w.must("POST", "/commands", enable, &second, "Idempotency-Key", "k3")
		if first.ID != second.ID || count(r.Received(), "safety/enable") != 1 {
			w.Errorf("asked twice under one key: %+v and %+v", first, second)
		}
		var b api.Batch
		w.must("POST", "/commands", with(setMode("mnl", "r1"), "dry_run", true), &b)
		if !b.DryRun || b.Total != 1 || count(r.Received(), "mode/set") != 1 {
			w.Errorf("the answer to a dry run is %+v", b)
		}
	})
}

// TestOpenAPIListsEveryRoute compares the described operations with testdata/routes.txt;
// -update writes it.
func TestOpenAPIListsEveryRoute(t *testing.T) {
	inWorld(t, func(w *world) {
		answer := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/api/openapi.json", nil)
		r.Host = "localhost"
		w.Handler().ServeHTTP(answer, r)
		var doc struct {
			OpenAPI string `json:"openapi"`
			Paths   map[string]map[string]any
		}
		if err := json.Unmarshal(answer.Body.Bytes(), &doc); err != nil {
			w.Fatal(err)
		}
		var routes []string
		for path, methods := range doc.Paths {
			for method := range methods {
				routes = append(routes, path+" "+strings.ToUpper(method)+"\n")
			}
		}
		slices.Sort(routes)
		golden.Compare(w, "testdata/routes.txt", strings.Join(routes, ""))
	})
}

func TestUnknownHostHeaderIsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		for host, want := range map[string]int{"evil.example": 403, "localhost:8080": 200, "127.0.0.1": 200, "[::1]:8080": 200,
			"fleetd.example": 200, "10.0.0.1": 403} {
			answer := httptest.NewRecorder()
			r := httptest.NewRequest("GET", "/api/v1/version", nil)
			r.Host = host
			w.Handler().ServeHTTP(answer, r)
			if answer.Code != want {
				w.Errorf("called %s it answers %d", host, answer.Code)
			}
		}
	}, func(c *fleet.Config) { c.Hosts = []string{"fleetd.example"} })
}

func TestStopWithoutABrokerReportsThat(t *testing.T) {
	inWorld(t, func(w *world) {
		w.robot("r1")
		if err := w.broker.Load().Close(); err != nil {
			w.Fatal(err)
		}
		w.until("fleetd says so", func() bool { return !w.Status().Broker.OK })
		if p := w.ask("POST", "/commands", order("safety/stop", "r1"), nil); p == nil || !p.Of(api.KindBroker) {
			w.Errorf("a stop that reached no robot is answered as %v", p)
		}
		w.newBroker()
		w.state(commandOf(w, "safety/stop"), "SUCCEEDED") // it was sent when that was possible again
	})
}

func commandOf(w *world, verb string) string {
	var id string
	w.until(verb+" is persisted", func() bool {
		var got struct{ Commands []api.Command }
		w.must("GET", "/commands?robot=r1", nil, &got)
		for _, c := range got.Commands {
			if c.Verb == verb {
				id = c.ID
			}
		}
		return id != ""
	})
	return id
}

func TestChangedStateReachesTheStream(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.robot("r1")
		w.robot("r2")
		s := w.stream("?id=r1")
		if first := s.next("robots"); !strings.Contains(first, `"id":"r1"`) || strings.Contains(first, `"id":"r2"`) {
			w.Fatalf("the stream begins with %s", first)
		}
		r.Change(func(st *schema.State) { st.Mode.Active = schema.ModeSafe })
		s.until("changes", `"mode":"safe"`)
		s.next("fleetd")
	}, withAddress)
}
