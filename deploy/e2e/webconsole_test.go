//go:build webconsole

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"troupe/fleetd/provider/providertest"
	"troupe/schema"
)

const webFolder = "../../fleetd/console/web"

// Every file of specs gets a world of its own, and a browser. As many files as there are
// processors play at a time, fewer than other scenarios: a browser takes a whole processor while
// it opens a page. Each spec becomes a subtest.
func TestWebConsole(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(webFolder, "e2e", "*.spec.ts"))
	if err != nil || len(files) == 0 {
		t.Fatalf("list the specs: %d files, %v", len(files), err)
	}
	processors := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, path := range files {
		file := filepath.Base(path)
		t.Run(strings.TrimSuffix(file, ".spec.ts"), func(t *testing.T) {
			t.Parallel()
			processors <- struct{}{}
			t.Cleanup(func() { <-processors })
			playSpecs(t, file, func() *webPage { return newPageFor(t, file) })
		})
	}
}

// newPageFor returns the console of a new world for a file of specs.
func newPageFor(t *testing.T, file string) *webPage {
	t.Helper()
	if file == providerSpec {
		return newProviderPage(newSecuredWithRobots(t))
	}
	if slices.Contains(securedSpecs, file) {
		s := newSecuredWithRobots(t)
		return newWebPage(s.world, func() { s.startFleetd() })
	}
	var more []string
	if slices.Contains(signedInSpecs, file) {
		more = []string{"--dev=false"}
	}
	w := newPerformingWorld(t, more...)
	return newWebPage(w, func() { w.startFleetd(more...) })
}

// signedInSpecs are the files of specs whose people sign in, in a world that is otherwise that of
// the others.
var signedInSpecs = []string{"operatorday.spec.ts"}

// newPerformingWorld has three robots in two sites, which perform stories of the shipped
// library, take faults that specs play into them, and a fleetd that gives everybody every right
// unless its arguments say otherwise.
func newPerformingWorld(t *testing.T, more ...string) *world {
	t.Helper()
	w := newWorld(t, ownBroker)
	w.startFleetd(more...)
	dev := !slices.Contains(more, "--dev=false")
	if !dev {
		w.signIn()
	}
	robots := []string{"r1", "r2", "r3"}
	for _, id := range robots {
		w.runRobot(id, "", "--sim-faults")
	}
	for _, id := range robots {
		w.awaitState(id, "in mnl", func(s schema.State) bool {
			return s.Mode.Active == schema.ModeMnl && s.Mode.Phase == schema.PhaseRunning && s.Mode.Calibrated
		})
		if !dev {
			w.mustRunCLI("adopt", id, "--wait")
		}
	}
	w.awaitAdopted(robots...)
	w.mustRunCLI("robot", "label", "r1", "site=museum")
	w.mustRunCLI("robot", "label", "r2", "site=museum")
	w.mustRunCLI("robot", "label", "r3", "site=stage")
	w.mustRunCLI("publish", "-f", "../library")
	w.mustRunCLI("story", "assign", "museum-welcome", "r1", "r2", "r3", "--wait")
	w.mustRunCLI("safety", "enable", "r1", "r2", "r3", "--wait")
	w.mustRunCLI("mode", "set", "ato", "r1", "r2", "r3", "--wait")
	return w
}

// webPage is the address at which browsers find fleetd, which stays the same when fleetd
// starts again.
type webPage struct {
	w      *world
	start  func() // starts fleetd again
	server *httptest.Server
	target atomic.Pointer[url.URL] // nil: nobody answers
	issuer *providertest.Issuer    // of OpenID Connect; nil: none
}

func newWebPage(w *world, start func()) *webPage {
	p := &webPage{w: w, start: start}
	p.follow()
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(p.target.Load())
			r.Out.Host = r.In.Host // fleetd compares it with the origin
		},
		FlushInterval: -1,
		Transport:     &http.Transport{TLSClientConfig: trusting(w)},
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:      log.New(io.Discard, "", 0), // a browser aborts its stream when it ends
	}
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if p.target.Load() == nil {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(rw, r)
	}))
	p.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if w.ca == "" {
		p.server.Start()
	} else {
		p.server.StartTLS() // as fleetd does: browsers keep its cookies for TLS only
	}
	w.t.Cleanup(func() { p.server.CloseClientConnections(); p.server.Close() })
	return p
}

func (p *webPage) follow() {
	to, err := url.Parse(p.w.http)
	if err != nil {
		p.w.t.Fatal(err)
	}
	p.target.Store(to)
}

// control lets specs change the world: POST /WHAT?robot=r1 and so on. An answer of 200 means
// that it is done; where a connection is cut it is when, in milliseconds since 1970.
func (p *webPage) control() http.Handler {
	w, mux := p.w, http.NewServeMux()
	on := func(what string, do func(r *http.Request) (string, error)) {
		mux.HandleFunc("POST /"+what, func(rw http.ResponseWriter, r *http.Request) {
			text, err := do(r)
			if err != nil {
				http.Error(rw, err.Error(), http.StatusInternalServerError)
				return
			}
			fmt.Fprint(rw, text)
		})
	}
	done := func(do func()) func(*http.Request) (string, error) {
		return func(*http.Request) (string, error) {
			at := time.Now().UnixMilli()
			do()
			return fmt.Sprint(at), nil
		}
	}
	on("fleetd/kill", done(func() { p.target.Store(nil); w.fleetd.kill(); p.server.CloseClientConnections() }))
	on("fleetd/start", done(func() { p.start(); p.follow() }))
	on("broker/kill", done(w.killBroker))
	on("broker/start", done(w.startBroker))
	on("broker/cut", done(func() { w.fleetdProxy.connectTo("") }))
	on("broker/join", done(func() { w.fleetdProxy.connectTo(w.address) }))
	on("robot/cut", func(r *http.Request) (string, error) {
		w.robotProxies[r.URL.Query().Get("robot")].connectTo("")
		return "", nil
	})
	on("robot/join", func(r *http.Request) (string, error) {
		w.robotProxies[r.URL.Query().Get("robot")].connectTo(w.address)
		return "", nil
	})
	// The speeds that the robot reported since a time, as they arrived.
	on("robot/speeds", func(r *http.Request) (string, error) {
		since, err := strconv.ParseInt(r.URL.Query().Get("since"), 10, 64)
		if err != nil {
			return "", err
		}
		type arrived struct {
			At int64   `json:"at"`
			VX float64 `json:"vx"`
		}
		all := []arrived{}
		for _, s := range w.speeds(0, r.URL.Query().Get("robot")) {
			if at := s.at.UnixMilli(); at >= since {
				all = append(all, arrived{at, s.vx})
			}
		}
		text, err := json.Marshal(all)
		return string(text), err
	})
	p.onPeople(on)
	if p.issuer != nil {
		p.onIssuer(on)
	}
	// The body is the input of the simulated body, such as {"level":0.1}.
	on("robot/sim", func(r *http.Request) (string, error) {
		input, err := io.ReadAll(r.Body)
		w.simInput(r.URL.Query().Get("robot"), r.URL.Query().Get("name"), string(input))
		return "", err
	})
	// The body is a JSON list of arguments of fleetd's command line.
	on("cli", func(r *http.Request) (string, error) {
		var args []string
		if err := json.NewDecoder(r.Body).Decode(&args); err != nil {
			return "", err
		}
		result := w.runCLI(args...)
		if result.code != 0 {
			return "", fmt.Errorf("fleetd %s: exit %d: %s", strings.Join(args, " "), result.code, result.err)
		}
		return result.out, nil
	})
	return mux
}
