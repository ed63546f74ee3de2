package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"troupe/fleetd/cli"
)

// consoleLine is a request of the console, and the line of the command line that it shows for it.
type consoleLine struct {
	Operation string `json:"operation"`
	Request   struct {
		Path  map[string]any `json:"path"`
		Query map[string]any `json:"query"`
		Body  map[string]any `json:"body"`
	} `json:"request"`
	Line  string            `json:"line"`
	Files map[string]string `json:"files"`
}

// noConsoleLine are the operations that change something, and for which the console has no line.
var noConsoleLine = map[string]string{
	"sign-in": "a password", "sign-out": "the session of a browser", "change-own-password": "passwords",
	"allow-login": "fleetd login --browser begins it", "finish-login": "fleetd login --browser ends it",
	"enrol": "a robot does it", "renew": "a robot does it", "send-record": "a robot does it",
	"post-intent": "the console does not post intents", "publish-texts": "the console publishes drafts",
	"apply-folder": "the console applies no folders", "put-file": "the console applies no folders",
	"revoke-robot": "the console does not revoke",
	"decommission": "the console does not remove robots", "revoke-certificate": "the console does not revoke",
}

// defaults are values that a request of the command line always has, and that are the same as none.
var defaults = map[string]any{"level": "stop", "id": "places"}

// sentQuery are parameters that only the command line has, or whose values are the same by default.
var sentQuery = []string{"by", "dry_run", "format", "skip_wrong"}

// asked is what a request says, without what is empty and who asks.
func asked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, one := range v {
			if one = asked(one); one != nil && key != "by" && one != defaults[key] {
				out[key] = one
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		if len(v) == 0 {
			return nil
		}
	case string:
		if v == "" {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	}
	return v
}

// The console shows a line for what a person does there; it makes the same request.
// The file is written by a test of the console: npx vitest run -u, in fleetd/console/web.
func TestLinesOfTheConsoleMakeItsRequests(t *testing.T) {
	text, err := os.ReadFile("testdata/console-lines.json")
	if err != nil {
		t.Fatal(err)
	}
	var lines []consoleLine
	if err := json.Unmarshal(text, &lines); err != nil {
		t.Fatal(err)
	}
	operation := ""
	var got []consoleLine // requests of that operation
	var over context.CancelFunc
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	routes := changing()
	routes["GET /api/v1/library/export"] = "export-library" // it changes nothing, and has a line all the same
	for route, id := range routes {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			var c consoleLine
			body, _ := io.ReadAll(r.Body)
			_ = json.Unmarshal(body, &c.Request.Body) // a file is no JSON
			c.Request.Path, c.Request.Query = map[string]any{}, queryOf(r.URL.Query())
			for _, name := range []string{"id", "rev", "name", "alert", "kind"} {
				if v := r.PathValue(name); v != "" {
					c.Request.Path[name] = v
				}
			}
			if id == operation { // the command may wait for more
				got = append(got, c)
				over()
			}
			answer := fakeAnswers[id]
			if answer == "" {
				answer = "{}"
			}
			_, _ = io.WriteString(w, answer)
		})
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	t.Chdir(t.TempDir())
	words := shellWords(t, lines)
	shown := map[string]bool{}
	for i, c := range lines {
		shown[c.Operation] = true
		for name, text := range c.Files {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		operation, got = c.Operation, nil
		var out bytes.Buffer
		args := append(words[i], "--server", server.URL)
		if strings.HasPrefix(c.Line, "fleetd user password") {
			if err := os.WriteFile("password", []byte(c.Request.Body["password"].(string)+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, "--password-file", "password")
		}
		ctx, cancel := context.WithCancel(t.Context())
		over = cancel
		cli.Main(ctx, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out}, "v0-test", args...)
		cancel()
		if len(got) == 0 {
			t.Errorf("%s does not call %s: %s", c.Line, c.Operation, out.String())
			continue
		}
		last := got[0]
		for key, v := range c.Request.Path { // a number in the console
			c.Request.Path[key] = strings.TrimSuffix(strings.Trim(jsonOf(v), `"`), "\n")
		}
		for _, key := range sentQuery {
			delete(last.Request.Query, key)
			delete(c.Request.Query, key)
		}
		for key, v := range c.Request.Query {
			c.Request.Query[key] = textsOf(v)
		}
		for name, pair := range map[string][2]any{"path": {c.Request.Path, last.Request.Path}, "query": {c.Request.Query, last.Request.Query},
			"body": {c.Request.Body, last.Request.Body}} {
			if want, sent := asked(pair[0]), asked(pair[1]); !reflect.DeepEqual(want, sent) {
				t.Errorf("%s\nsends as %s\n %s\nand the console\n %s", c.Line, name, jsonOf(sent), jsonOf(want))
			}
		}
	}
	for _, id := range slices.Sorted(maps.Values(changing())) {
		if why := noConsoleLine[id]; shown[id] == (why != "") {
			t.Errorf("the operation %s needs a line of the console (src/api/lines.test.ts), or a row in noConsoleLine", id)
		}
	}
	if len(lines) < 60 {
		t.Errorf("only %d lines", len(lines))
	}
}

func jsonOf(v any) string { b, _ := json.Marshal(v); return string(b) }

// queryOf is a query as the console writes it: each parameter a list of texts.
func queryOf(q url.Values) map[string]any {
	out := map[string]any{}
	for key, all := range q {
		out[key] = textsOf(all)
	}
	return out
}

func textsOf(v any) any {
	var texts []any
	switch v := v.(type) {
	case []string:
		for _, one := range v {
			texts = append(texts, one)
		}
	case []any:
		return v
	case string:
		texts = append(texts, v)
	default:
		texts = append(texts, jsonOf(v))
	}
	if len(texts) == 1 && (texts[0] == "" || texts[0] == "0") {
		return nil
	}
	return texts
}

// shellWords are the words of each line as a shell reads them, without the program's name.
func shellWords(t *testing.T, lines []consoleLine) (words [][]string) {
	t.Helper()
	var script strings.Builder
	for _, c := range lines {
		line, ok := strings.CutPrefix(c.Line, "fleetd ")
		if !ok {
			t.Fatalf("%s is no line of fleetd", c.Line)
		}
		script.WriteString("printf '%s\\0' " + line + "\nprintf '\\n\\0'\n")
	}
	out, err := exec.CommandContext(t.Context(), "sh", "-euc", script.String()).Output()
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(string(out), "\n\x00"), "\n\x00") {
		words = append(words, strings.Split(strings.TrimSuffix(part, "\x00"), "\x00"))
	}
	if len(words) != len(lines) {
		t.Fatalf("a shell reads %d lines out of %d", len(words), len(lines))
	}
	return words
}
