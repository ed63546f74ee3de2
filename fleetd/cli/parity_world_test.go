package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/auth"
	"troupe/fleetd/cli"
	"troupe/fleetd/fleet"
	"troupe/fleetd/fleet/fleettest"
)

// parity is a fleetd with people, and a command line before it.
type parity struct {
	*testing.T
	fleetd   *fleet.Fleet
	broker   *brokertest.Broker
	server   *httptest.Server
	admin    http.Client
	words    map[string]string // of lines, by their placeholders
	secrets  map[string]string // of tokens, by user
	requests int
	address  string          // of the next requests
	called   map[string]bool // operations
}

// changing lists the operations that change something: their ids, by METHOD path.
func changing() map[string]string {
	all := map[string]string{}
	for _, o := range api.Operations() {
		if o.Method != http.MethodGet && !o.ReadOnly {
			all[o.Method+" "+o.Route()] = o.ID
		}
	}
	return all
}

func newParity(t *testing.T, files map[string]string) *parity {
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &parity{T: t, broker: brokertest.Start(t, brokertest.InProcess), words: map[string]string{}, secrets: map[string]string{},
		called: map[string]bool{}}
	for _, line := range []string{"ca init", "ca server --dns localhost --out server"} {
		if _, code, out := p.types("", line); code != 0 {
			t.Fatalf("%s: %s", line, out)
		}
	}
	password := ""
	var err error
	if p.fleetd, err = fleet.Start(context.Background(), fleet.Config{
		Dial: p.broker.Dial, Database: "sqlite:fleet.db", Spool: "stops", CA: "ca", HTTPFiles: fleet.PairFiles{Cert: "server.pem",
			Key: "server.key.pem"},
		Enrolment: fleet.Enrolment{Enrol: "127.0.0.1:0", RobotBrokers: []string{"mqtts://broker.example:8883"}}, ApproveAbove: 1,
		FirstAdmin: func(_, p, _ string) { password += p }, Logger: slog.New(slog.DiscardHandler),
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.fleetd.Close(); err != nil {
			t.Error(err)
		}
	})
	mux := http.NewServeMux()
	mux.Handle("/", p.fleetd.Handler())
	for route, operation := range changing() {
		mux.HandleFunc(route, func(answer http.ResponseWriter, r *http.Request) {
			p.called[operation] = true
			r.RemoteAddr = p.address + ":1"
			p.fleetd.Handler().ServeHTTP(answer, r)
		})
	}
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	if p.admin.Jar, err = cookiejar.New(nil); err != nil {
		t.Fatal(err)
	}
	p.must("POST", "/session", api.Credentials{User: "admin", Password: password}, nil)
	for user, role := range map[string]auth.Role{"anna": auth.Admin, "ben": auth.Viewer} {
		p.must("POST", "/users", api.NewUser{Name: user, Roles: []auth.Role{role}, Password: "a long password"}, nil)
		var token api.AccessToken
		p.must("POST", "/tokens", api.NewAccessToken{Name: "day", User: user, Days: 1}, &token)
		p.secrets[user] = token.Secret
	}
	p.until("fleetd is connected", func() bool { return p.fleetd.Status().Broker.OK })
	return p
}

// until waits for something to hold.
func (p *parity) until(what string, holds func() bool) {
	p.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(fleettest.Timeout); !holds(); <-tick.C {
		if time.Now().After(end) {
			p.Fatalf("still not: %s", what)
		}
	}
}

// robot starts a robot and waits until fleetd sees it.
func (p *parity) robot(id string) *fleettest.Robot {
	r := fleettest.Start(p.T, id, p.broker.Dial)
	p.until(id+" is online", func() bool { d, _ := p.fleetd.Robot(id); return d.Presence.Status == "online" && d.Caps != nil })
	return r
}

// ask makes a request with the session of the admin, or with the token of a user.
func (p *parity) ask(user, method, path string, body any) (status int, answer []byte) {
	p.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		p.Fatal(err)
	}
	r, err := http.NewRequestWithContext(p.Context(), method, p.server.URL+api.Prefix+path, bytes.NewReader(text))
	if err != nil {
		p.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	client := &p.admin
	if user != "" {
		r.Header.Set("Authorization", "Bearer "+p.secrets[user])
		client = p.server.Client()
	}
	got, err := client.Do(r)
	if err != nil {
		p.Fatal(err)
	}
	defer got.Body.Close()
	var out bytes.Buffer
	if _, err := out.ReadFrom(got.Body); err != nil {
		p.Fatal(err)
	}
	return got.StatusCode, out.Bytes()
}

// signIn signs a user in as in a browser of their own: the admin stays signed in.
func (p *parity) signIn(user string) {
	p.Helper()
	own := p.admin.Jar
	p.admin.Jar = nil
	p.must("POST", "/session", api.Credentials{User: user, Password: "a long password"}, nil)
	p.admin.Jar = own
}

// must makes a request of the admin that has to work.
func (p *parity) must(method, path string, body, into any) {
	p.Helper()
	p.moves()
	status, answer := p.ask("", method, path, body)
	if status >= 300 {
		p.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	if into != nil {
		if err := json.Unmarshal(answer, into); err != nil {
			p.Fatal(err)
		}
	}
}

// moves gives the next requests an address of their own, by which their entries are found.
func (p *parity) moves() {
	p.requests++
	p.address = fmt.Sprintf("10.0.0.%d", p.requests)
}

// types runs a command line as a user.
func (p *parity) types(user, line string) (address string, code int, out string) {
	p.moves()
	clear(p.called)
	args := strings.Fields(line)
	for i, word := range args {
		if value, ok := p.words[word]; ok {
			args[i] = value
		}
	}
	var text strings.Builder
	environ := []string{"XDG_CONFIG_HOME=" + filepath.Join(p.TempDir(), "config")}
	if p.server != nil {
		environ = append(environ, "TROUPE_SERVER="+p.server.URL)
	}
	if args[0] != "login" {
		environ = append(environ, "TROUPE_TOKEN="+p.secrets[user])
	}
	code = cli.Main(p.Context(), cli.Streams{In: strings.NewReader(""), Out: &text, Err: &text, Environ: environ}, "v0-test", args...)
	return p.address, code, text.String()
}
