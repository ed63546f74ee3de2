package fleet_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/fleet"
	"troupe/fleetd/store/storetest"
)

// serving is a world in real time whose fleetd answers at an address.
func serving(t *testing.T) *world {
	w := realWorld(t, storetest.SQLite(t), func(c *fleet.Config) { c.HTTP = "127.0.0.1:0" })
	w.startFleetd()
	return w
}

// send makes a request over the network, with exactly these bytes as its body.
func (w *world) send(method, target, body string) (int, *api.Problem, []byte) {
	w.Helper()
	r, err := http.NewRequest(method, w.URL()+target, strings.NewReader(body))
	if err != nil {
		w.Error(err)
		return 0, nil, nil
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := w.client().Do(r)
	if err != nil {
		w.Error(err)
		return 0, nil, nil
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.Error(err)
	}
	if answer.StatusCode < 400 {
		return answer.StatusCode, nil, text
	}
	var p api.Problem
	if err := json.Unmarshal(text, &p); err != nil || p.Type == "" {
		w.Errorf("%s %s %.80q: %d without a problem: %s", method, target, body, answer.StatusCode, text)
	}
	return answer.StatusCode, &p, text
}

func TestRequestBodyIsReadStrictly(t *testing.T) {
	w := serving(t)
	r := w.robot("r1")
	w.robot("r2")
	long := strings.Repeat("x", 1<<20-1000)
	for _, c := range []struct {
		name, path, body string
		pointer          string
		says             string
	}{
		{"a key twice", "/commands", `{"verb":"sys/ping","verb":"safety/stop","selector":{"ids":["r1"]}}`, "/verb", "once"},
		{"a key twice, further down", "/commands", `{"verb":"sys/ping","selector":{"ids":["r2"],"ids":["r1"]}}`, "/selector/ids", "once"},
		{"a key twice in arguments", "/commands", `{"verb":"mode/set","args":{"mode":"mnl","mode":"ato"},"selector":{"ids":["r1"]}}`, "/args/mode", "once"},
		{"a key twice, once escaped", "/commands", `{"verb":"sys/ping","v\u0065rb":"safety/stop","selector":{"ids":["r1"]}}`, "/verb", "once"},
		{"a key in another case", "/commands", `{"verb":"sys/ping","Verb":"safety/stop","selector":{"ids":["r1"]}}`, "/Verb", "unexpected"},
		{"a key in another case alone", "/commands", `{"Verb":"safety/stop","selector":{"ids":["r1"]}}`, "", "verb"},
		{"a dry run in another case", "/commands", `{"verb":"safety/stop","dry_run":true,"Dry_Run":false,"selector":{"ids":["r1"]}}`, "/Dry_Run", "unexpected"},
		{"robots in another case", "/commands", `{"verb":"safety/stop","selector":{"ids":["r2"],"IDS":["r1"]}}`, "/selector/IDS", "unexpected"},
		{"a letter that folds to s", "/robots/r1/decommission", `{"yes":true,"ye` + "\u017f" + `":true}`, "/ye\u017f", "unexpected"},
		{"a long reason in another case", "/stops", `{"selector":{"ids":["r1"]},"WHY":"` + long + `"}`, "/WHY", "unexpected"},
		{"a long reason", "/stops", `{"selector":{"ids":["r1"]},"why":"` + long + `"}`, "/why", "256"},
		{"bytes that are no UTF-8", "/stops", `{"selector":{"ids":["r1"]},"why":"` + "\xff\xfe" + `"}`, "/why", "UTF-8"},
		{"half a surrogate pair", "/stops", `{"selector":{"ids":["r1"]},"why":"\ud800"}`, "/why", "surrogate"},
		{"a number that is not kept", "/commands", `{"verb":"sys/ping","if":{"state_seq":9007199254740993},"selector":{"ids":["r1"]}}`, "/if/state_seq", "2^53"},
		{"something after the object", "/commands", `{"verb":"sys/ping","selector":{"ids":["r1"]}} {}`, "", "follow"},
		{"a list", "/commands", `[]`, "", "object"},
		{"deep nesting", "/commands", `{"verb":"sys/ping","args":{"a":` + strings.Repeat("[", 100_000) + `}}`, "", "nested"},
	} {
		status, p, _ := w.send("POST", api.Prefix+c.path, c.body)
		switch {
		case p == nil:
			t.Errorf("%s: answered %d", c.name, status)
		case status != 400 && status != 422:
			t.Errorf("%s: answered %d %v", c.name, status, p)
		case len(p.Errors) == 0 || p.Errors[0].In != "body" || c.pointer != "" && p.Errors[0].Pointer != c.pointer:
			t.Errorf("%s: the place is %+v, want %s", c.name, p.Errors, c.pointer)
		case !strings.Contains(fmt.Sprint(p, p.Errors), c.says):
			t.Errorf("%s: says %q %+v, without %q", c.name, p, p.Errors, c.says)
		}
		if p != nil && len(p.Error()) > 1000 {
			t.Errorf("%s: the refusal repeats %d bytes", c.name, len(p.Error()))
		}
	}
	if got := r.Received(); len(got) > 0 {
		t.Errorf("refused requests reached the robot: %+v", got)
	}
	if held := w.Latched(); len(held) > 0 {
		t.Errorf("refused stops are held: %.200v", held)
	}
}

// malformed are texts that no reader of JSON may take, as in JSONTestSuite.
var malformed = []string{
	"", " ", "{", "}", "[", "]", `{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{"a":1 "b":2}`, `{"a" 1}`, `{a:1}`, `{'a':1}`, `{1:1}`, `{"a":1}}`, `{"a":1}#`, `{"a":1}/**/`,
	`{"a":01}`, `{"a":1.}`, `{"a":.1}`, `{"a":+1}`, `{"a":-}`, `{"a":1e}`, `{"a":0x1}`, `{"a":NaN}`, `{"a":Infinity}`, `{"a":1_000}`, `{"a":-Inf}`,
	`{"a":True}`, `{"a":nul}`, `{"a":undefined}`, `{"a":"` + "\n" + `"}`, `{"a":"` + "\x00" + `"}`, `{"a":"\x41"}`, `{"a":"\u12"}`, `{"a":"\u{41}"}`, `{"a":"\`, `{"a":"x}`,
	"\ufeff{}", "{}\x00", "\x00{}", "{\x0c}", "{\u00a0}", "{\u2060}", "\xff\xfe{\x00}\x00", "{\"\xff\":1}", "{\"a\":\"\xc0\xaf\"}", "{\"a\":\"\xed\xa0\x80\"}", `{"a":"\ud800\ud800"}`,
	`null`, `true`, `"a"`, `1`, `[]`, `[{}]`, "a: 1", "<a/>", "a=1&b=2", strings.Repeat("[", 100_000), strings.Repeat(`{"a":`, 100_000),
}

func TestMalformedBodyIsRefusedEverywhere(t *testing.T) {
	w := serving(t)
	w.robot("r1")
	_, _, text := w.send("GET", "/api/openapi.json", "")
	var api struct {
		Paths map[string]map[string]struct {
			RequestBody *struct {
				Content map[string]any `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &api); err != nil {
		t.Fatal(err)
	}
	places := 0
	for path, methods := range api.Paths {
		path = strings.NewReplacer("{id}", "r1", "{serial}", "ab").Replace(path)
		for method, op := range methods {
			if op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
				continue
			}
			places++
			method = strings.ToUpper(method)
			for i, body := range malformed {
				if places > 1 && (i+places)%3 != 0 { // one decoder reads them all: the first place gets each text, another place a third of them
					continue
				}
				if status, p, _ := w.send(method, path, body); status != 400 || p.Error() == "" || len(p.Error()) > 1000 {
					t.Errorf("%s %s %.60q: %d %v", method, path, body, status, p)
				}
			}
			for _, body := range []string{`{"` + strings.Repeat("k", 1<<19) + `":1}`, `{"By":"ann"}`, `{"bY":null}`, `{"a":1e400}`, `{"a":-1e-400}`, `{"":0}`} {
				if status, p, _ := w.send(method, path, body); status != 400 && status != 422 {
					t.Errorf("%s %s %.60q: %d %v", method, path, body, status, p)
				}
			}
		}
	}
	if places < 15 {
		t.Errorf("only %d places take a body", places)
	}
}

func TestQueryIsReadStrictly(t *testing.T) {
	w := serving(t)
	w.robot("r1")
	w.publish()
	for _, c := range []struct{ name, method, target, pointer, says string }{
		{"a parameter twice", "DELETE", "/stories/museum?expected_stories=1&dry_run=false&dry_run=true", "/dry_run", "once"},
		{"a parameter in another case", "DELETE", "/stories/museum?expected_stories=1&Dry_Run=true", "/Dry_Run", "unknown"},
		{"a semicolon", "DELETE", "/stories/museum?expected_stories=1&dry_run=true;by=ann", "", "semicolon"},
		{"half an escape", "DELETE", "/stories/museum?expected_stories=1&dry_run=true%", "", "escape"},
		{"no UTF-8", "DELETE", "/stories/museum?expected_stories=1&why=%ff", "/why", "UTF-8"},
		{"a NUL", "DELETE", "/stories/museum?expected_stories=1&why=%00", "/why", "NUL"},
		{"a path that is no UTF-8", "DELETE", "/stories/museum%ff", "", "UTF-8"},
		{"a path with a NUL", "GET", "/robots/r1%00", "", "NUL"},
	} {
		status, p, _ := w.send(c.method, api.Prefix+c.target, "")
		switch {
		case p == nil:
			t.Errorf("%s: answered %d", c.name, status)
		case status != 400 && status != 422:
			t.Errorf("%s: answered %d %v", c.name, status, p)
		case c.pointer != "" && (len(p.Errors) == 0 || p.Errors[0].Pointer != c.pointer):
			t.Errorf("%s: the place is %+v, want %s", c.name, p.Errors, c.pointer)
		case !strings.Contains(fmt.Sprint(p, p.Errors), c.says):
			t.Errorf("%s: says %q %+v, without %q", c.name, p, p.Errors, c.says)
		}
	}
	if status, _, _ := w.send("GET", api.Prefix+"/robots?id=r1&id=r2", ""); status != 200 {
		t.Errorf("a list of robots answers %d", status)
	}
	var e api.Entry
	if w.must("GET", "/stories/museum", nil, &e); e.DeletedAt != 0 {
		t.Error("a refused request deleted the story")
	}
}
