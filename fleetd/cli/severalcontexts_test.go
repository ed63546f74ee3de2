package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fleets are servers that stand for several fleets, and the contexts of a person who uses them.
type fleets struct {
	t     *testing.T
	env   []string
	all   contexts
	lock  sync.Mutex
	asked []string // context, method and path of each request
}

func newFleets(t *testing.T) *fleets {
	f := &fleets{t: t, env: []string{"XDG_CONFIG_HOME=" + t.TempDir()}, all: contexts{Contexts: map[string]serverContext{}}}
	f.write()
	return f
}

func (f *fleets) write() {
	if err := (&shell{Streams: Streams{Environ: f.env}}).writeContexts(f.all); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleets) add(name string, answer http.HandlerFunc) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.lock.Lock()
		f.asked = append(f.asked, name+" "+r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		f.lock.Unlock()
		answer(w, r)
	}))
	f.t.Cleanup(server.Close)
	f.all.Contexts[name] = serverContext{Server: server.URL, Token: "of-" + name}
	f.write()
}

func (f *fleets) run(out io.Writer, line string) int {
	return Main(f.t.Context(), Streams{Out: out, Err: out, Environ: f.env}, "v0", strings.Fields(line)...)
}

func stopped(latch string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"id":"b","latch":%q,"outcome":"succeeded"}`, latch)
	}
}

// gate lets an answer come only after a text was printed.
type gate struct {
	strings.Builder
	text string
	open chan struct{}
}

func (g *gate) Write(b []byte) (int, error) {
	n, err := g.Builder.Write(b)
	if g.text != "" && strings.Contains(g.String(), g.text) {
		g.text = ""
		close(g.open)
	}
	return n, err
}

// A fleet that does not answer delays the stop of no other, and every lack is named.
func TestStopGoesToSeveralContextsAtOnce(t *testing.T) {
	f := newFleets(t)
	out := &gate{text: "latched as stop-museum", open: make(chan struct{})}
	f.add("lobby", func(w http.ResponseWriter, r *http.Request) {
		<-out.open // the stop of the museum was answered and printed
		stopped("stop-lobby")(w, r)
	})
	f.add("museum", stopped("stop-museum"))
	f.add("shop", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"type":"t","title":"not yours","status":403}`)
	})
	code := f.run(out, "stop --all --context lobby,museum,shop,gone,museum")
	for _, want := range []string{
		"latched as stop-museum; fleetd stop release stop-museum --context museum --why REASON",
		"latched as stop-lobby; fleetd stop release stop-lobby --context lobby",
		"shop: NOT DONE: ", "gone: NOT DONE: there is no context of this name", "in 2 of 4 contexts: gone, shop",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("without %q:\n%s", want, out)
		}
	}
	slices.Sort(f.asked)
	want := []string{"lobby POST /api/v1/stops Bearer of-lobby", "museum POST /api/v1/stops Bearer of-museum",
		"shop POST /api/v1/stops Bearer of-shop"}
	if code != exitPartial || !slices.Equal(f.asked, want) {
		t.Errorf("code %d, asked %q", code, f.asked)
	}
}

func TestEndOfSeveralContexts(t *testing.T) {
	f := newFleets(t)
	f.add("a", stopped("stop-a"))
	f.add("b", stopped("stop-b"))
	refused := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"type":"t","status":403}`)
	}
	f.add("c", refused)
	f.add("d", refused)
	for line, want := range map[string]int{"stop r1 --context a,b": exitOK, "stop r1 --context a,c": exitPartial,
		"stop r1 --context c,d":    exitNotAllowed,
		"stop r1 --context c,none": exitError, "stop --context a,b": exitUsage, "robot list --context a,b": exitUsage} {
		f.asked = nil
		var out strings.Builder
		if code := f.run(&out, line); code != want || want == exitUsage && len(f.asked) > 0 {
			t.Errorf("%s: code %d, want %d; asked %q\n%s", line, code, want, f.asked, out.String())
		}
	}
	var out strings.Builder
	_ = Main(t.Context(), Streams{Out: &out, Err: io.Discard, Environ: f.env}, "v0", "stop", "--all", "--context", "c,a", "-o", "json")
	var got []contextAnswer
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil || len(got) != 2 || got[0].Name != "a" || got[0].Answer == nil ||
		got[1].Code != exitNotAllowed {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// An id is that of one fleet: each is released where it is latched.
func TestReleaseGoesToTheFleetThatLatchedTheStop(t *testing.T) {
	f := newFleets(t)
	for _, name := range []string{"a", "b", "c"} {
		f.add(name, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				fmt.Fprintf(w, `{"complete":true,"stops":[{"id":"stop-%s","all":true,"level":"stop","persisted":true}]}`, name)
				return
			}
			fmt.Fprintf(w, `{"ids":["stop-%s"],"still_latched":[]}`, name)
		})
	}
	var out strings.Builder
	if code := f.run(&out, "stop release stop-a stop-b --context a,b,c"); code != exitUsage || len(f.asked) > 0 {
		t.Errorf("without a reason: code %d, asked %q\n%s", code, f.asked, out.String())
	}
	out.Reset()
	code := f.run(&out, "stop release stop-a stop-b stop-x --context a,b,c --why clear")
	sent := slices.DeleteFunc(slices.Clone(f.asked), func(one string) bool { return strings.Contains(one, "GET") })
	slices.Sort(sent)
	want := []string{"a POST /api/v1/stops/release Bearer of-a", "b POST /api/v1/stops/release Bearer of-b"}
	if code != exitPartial || !slices.Equal(sent, want) || !strings.Contains(out.String(), "no fleet has latched stop-x") {
		t.Errorf("code %d, sent %q\n%s", code, sent, out.String())
	}
}

func TestContextsAreAddedAndRemoved(t *testing.T) {
	f := newFleets(t)
	f.add("old", func(http.ResponseWriter, *http.Request) {})
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := f.all.Contexts["old"].Server
	for _, step := range []struct {
		line string
		code int
		says string
	}{
		{"context add museum --server " + server + " --token-file " + token + " --user wall", exitOK, "museum is the current context"},
		{"context add museum --server " + server, exitConflict, "there is a context museum already"},
		{"context add a,b --server " + server, exitUsage, "no commas"},
		{"context add lobby", exitUsage, "--server is missing"},
		{"context add lobby --server nowhere", exitUsage, "write http://host:port"},
		{"context add lobby --server " + server + " --token-file " + token + ".no", exitUsage, "--token-file: "},
		{"context add lobby --server " + server + " --server-ca " + token, exitUsage, "contains no PEM certificate"},
		{"context add lobby --server " + server, exitOK, ""},
		{"context list", exitOK, "lobby    -        " + server + "  -"},
		{"context use lobby", exitOK, ""},
		{"context remove museum", exitOK, "signed out of " + server},
		{"context remove lobby", exitOK, "the context lobby is removed"},
		{"context remove lobby", exitUsage, "there is none of this name"},
	} {
		var out strings.Builder
		if code := f.run(&out, step.line); code != step.code || !strings.Contains(out.String(), step.says) {
			t.Errorf("%s: code %d, want %d and %q in\n%s", step.line, code, step.code, step.says, out.String())
		}
	}
	if want := []string{"old DELETE /api/v1/tokens/self Bearer s3cret"}; !slices.Equal(f.asked, want) {
		t.Errorf("asked %q, want %q", f.asked, want)
	}
}
