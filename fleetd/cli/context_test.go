package cli

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Contexts hold tokens: a file that somebody else could read does not stay so.
func TestContextsAreForTheirOwnerOnly(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "troupe", "contexts.yaml")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	sh := &shell{Streams: Streams{Environ: []string{"XDG_CONFIG_HOME=" + folder}}}
	if err := sh.writeContexts(contexts{}); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

// A person may have several contexts of one server, such as one as administrator and one of
// their own, and TROUPE_SERVER set: the current one is taken, not any other of that server.
func TestServerOfEnvironmentKeepsCurrentContext(t *testing.T) {
	const here, there = "http://127.0.0.1:8080", "http://127.0.0.1:8081"
	folder := t.TempDir()
	for current, want := range map[string]string{"anna": "token-anna", "museum": "token-admin", "other": "token-admin", "": "token-admin"} {
		sh := &shell{Streams: Streams{Environ: []string{"XDG_CONFIG_HOME=" + folder}}, server: here}
		all := contexts{Current: current, Contexts: map[string]serverContext{
			"anna": {Server: here, Token: "token-anna"}, "museum": {Server: here, Token: "token-admin"},
			"other": {Server: there, Token: "token-other"},
		}}
		if err := sh.writeContexts(all); err != nil {
			t.Fatal(err)
		}
		if err := sh.useContext(true); err != nil || sh.token != want || sh.server != here {
			t.Errorf("current %q: %s at %s, %v; want %s at %s", current, sh.token, sh.server, err, want, here)
		}
	}
}

// A damaged file of contexts does not send a stop to the default address: that may be another fleet.
func TestDamagedContextsReachNoServer(t *testing.T) {
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer server.Close()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "troupe"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "troupe", "contexts.yaml"), []byte("current: [museum"), 0o600); err != nil {
		t.Fatal(err)
	}
	sh := &shell{Streams: Streams{Environ: []string{"XDG_CONFIG_HOME=" + folder}}, server: server.URL}
	for _, serverGiven := range []bool{true, false} {
		if err := sh.useContext(serverGiven); err != nil {
			t.Fatal(err) // commands that send nothing still work
		}
		answer, _, err := sh.send(t.Context(), apiRequest{method: http.MethodPost, path: "stop"})
		if err == nil {
			_ = answer.Body.Close() // it is empty
		}
		if sent := err == nil; sent != serverGiven || sent && reached != 1 || !sent &&
			!strings.Contains(err.Error(), "read contexts from "+folder) {
			t.Errorf("with a given server %v: %v, %d requests", serverGiven, err, reached)
		}
	}
}

// A stop goes to the server that a person typed, not to that of a context in the environment.
func TestTypedServerCountsBeforeContextOfEnvironment(t *testing.T) {
	var reached string
	at := func(name string) string {
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			reached += name + r.Header.Get("Authorization")
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	museum, lobby := at("museum "), at("lobby ")
	environ := []string{"XDG_CONFIG_HOME=" + t.TempDir(), "TROUPE_CONTEXT=museum"}
	all := contexts{Contexts: map[string]serverContext{"museum": {Server: museum, Token: "m"}, "lobby": {Server: lobby, Token: "l"}}}
	if err := (&shell{Streams: Streams{Environ: environ}}).writeContexts(all); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, want string }{
		{"stop --all", "museum Bearer m"},
		{"stop --all --server " + lobby, "lobby Bearer l"},
		{"stop --all --context lobby", "lobby Bearer l"},
		{"stop --all --context museum --server " + lobby, ""},
	} {
		reached = ""
		var text strings.Builder
		Main(t.Context(), Streams{Out: &text, Err: &text, Environ: environ}, "test", strings.Fields(c.line)...)
		if reached != c.want || c.want == "" && !strings.Contains(text.String(), "--server and --context both name a server") {
			t.Errorf("%s reached %q, not %q: %s", c.line, reached, c.want, text.String())
		}
	}
}

func TestUnreachableServerIsNamedWithItsContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	env := []string{"XDG_CONFIG_HOME=" + t.TempDir()}
	sh := &shell{Streams: Streams{Environ: env}}
	if err := sh.writeContexts(contexts{Current: "museum", Contexts: map[string]serverContext{"museum": {Server: gone, Token: "t"}}}); err !=
		nil {
		t.Fatal(err)
	}
	for line, named := range map[string]bool{"robot list": true, "robot list --server " + gone + "/": false} {
		var out strings.Builder
		code := Main(t.Context(), Streams{Out: &out, Err: &out, Environ: env}, "v0", strings.Fields(line)...)
		if code != exitError || strings.Contains(out.String(), "(context museum)") != named || !strings.Contains(out.String(), gone) {
			t.Errorf("%s: code %d, %s", line, code, out.String())
		}
	}
}

func TestListOfARobotThatThereIsNotFails(t *testing.T) {
	fleetd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		robots := `{"id":"r1","labels":{},"presence":{"status":"online"}}`
		if !slices.Contains(r.URL.Query()["id"], "r1") {
			robots = ""
		}
		fmt.Fprintf(w, `{"ts":"2026-01-02T03:04:05Z","robots":[%s]}`, robots)
	}))
	defer fleetd.Close()
	for _, c := range []struct {
		robots string
		code   int
		says   string
	}{{"r1", exitOK, "r1"}, {"r99", exitError, "there is no robot r99"}, {"r1 r99", exitError, "there is no robot r99"}} {
		var out strings.Builder
		code := Main(t.Context(), Streams{Out: &out, Err: &out}, "v0", append(strings.Fields("robot list "+c.robots), "--server", fleetd.URL)...)
		if code != c.code || !strings.Contains(out.String(), c.says) {
			t.Errorf("robot list %s: code %d, want %d and %q in\n%s", c.robots, code, c.code, c.says, out.String())
		}
	}
}
