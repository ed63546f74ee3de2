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
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"troupe/fleetd/provider/providertest"
	"troupe/schema"
)

const webFolder = "../../fleetd/console/web"

// The files of specs play in a few worlds, those of one world one after the other in one run of
// Playwright: a world, a run and a browser take longer to start than most files to play. More
// worlds play at a time than there are processors, because a spec often waits for a robot, but
// fewer than other scenarios: a browser takes a whole processor while it opens a page. Each spec
// becomes a subtest, TestWebConsole/WORLD/FILE/TITLE.
func TestWebConsole(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(webFolder, "e2e", "*"+specSuffix))
	if err != nil || len(paths) == 0 {
		t.Fatalf("list the specs: %d files, %v", len(paths), err)
	}
	var files []string
	for _, path := range paths {
		files = append(files, strings.TrimSuffix(filepath.Base(path), specSuffix))
	}
	if wrong := misplaced(files); wrong != "" {
		t.Fatal(wrong)
	}
	only := os.Getenv("TROUPE_SPEC")
	isLeftOut := func(file string) bool { return !strings.HasPrefix(file, only) }
	if !slices.ContainsFunc(files, func(file string) bool { return !isLeftOut(file) }) {
		t.Fatalf("the name of no file of specs begins with %q", only)
	}
	playing := make(chan struct{}, runtime.GOMAXPROCS(0)+1)
	var all sync.WaitGroup
	for _, w := range specWorlds {
		chosen := slices.DeleteFunc(slices.Clone(w.files), isLeftOut)
		if len(chosen) == 0 {
			continue
		}
		playing <- struct{}{} // in the order of the table, which t.Parallel would not keep
		all.Go(func() {
			defer func() { <-playing }()
			t.Run(w.name, func(t *testing.T) { playSpecs(t, chosen, w.newPage(t)) })
		})
	}
	all.Wait()
}

const specSuffix = ".spec.ts"

// A specWorld is a world with the files of specs that play in it, in the order of their names,
// which is Playwright's. Before each file, and before a spec that failed is played again, robots
// are as they were at first (restore in e2e/world.ts); what was written, done and noted stays.
type specWorld struct {
	name    string
	newPage func(*testing.T) *webPage
	files   []string
}

var specWorlds = []specWorld{ // the one that plays longest first
	{"operator", newOperatorPage, []string{"operatorday"}},
	// authorimport expects that every act is right, so it is apart from the files that write drafts.
	{"driving", newPerformingPage, []string{"assign", "authorimport", "faults", "manual-drive", "manual-frames", "manual-screen",
		"rollouts", "stops"}},
	{"fleet", newPerformingPage, []string{"everywhere", "french", "liststates", "overview", "policies", "press", "robot",
		"robotparts", "robots", "shell"}},
	{"authors", newPerformingPage, []string{"audit", "author", "authoracts", "authorday", "authoredit", "authorxss"}},
	// After the last spec of signin its address has to wait for every sign-in.
	{"accounts", newAccountsPage, []string{"admin", "provider", "signin"}},
}

// misplaced says which files of specs play in no world or in several, and which are none.
func misplaced(files []string) string {
	var wrong []string
	worlds := map[string]int{}
	for _, w := range specWorlds {
		for _, file := range w.files {
			if worlds[file]++; worlds[file] > 1 {
				wrong = append(wrong, file+" is in two worlds")
			}
			if !slices.Contains(files, file) {
				wrong = append(wrong, file+" is no file of specs")
			}
		}
	}
	for _, file := range files {
		if worlds[file] == 0 {
			wrong = append(wrong, file+" plays in no world of specWorlds")
		}
	}
	return strings.Join(wrong, "; ")
}

func newPerformingPage(t *testing.T) *webPage {
	w := newPerformingWorld(t)
	return newWebPage(w, func() { w.startFleetd() })
}

// newOperatorPage is the console of a world in which people sign in, and which is otherwise that
// of the others.
func newOperatorPage(t *testing.T) *webPage {
	w := newPerformingWorld(t, "--dev=false")
	return newWebPage(w, func() { w.startFleetd("--dev=false") })
}

func newAccountsPage(t *testing.T) *webPage { return newProviderPage(newSecuredWithRobots(t)) }

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
	w        *world
	start    func() // starts fleetd again
	server   *httptest.Server
	target   atomic.Pointer[url.URL] // nil: nobody answers
	issuer   *providertest.Issuer    // of OpenID Connect; nil: none
	noBroker bool                    // it was killed
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

// mend starts what was killed and connects what was cut, and leaves alone what works.
func (p *webPage) mend() {
	if p.noBroker {
		p.w.startBroker()
		p.noBroker = false
	}
	for _, each := range p.w.allProxies() {
		if each != nil && each.isCut() { // nil: where there are certificates everybody connects directly
			each.connectTo(p.w.address)
		}
	}
	if p.target.Load() == nil {
		p.start()
		p.follow()
	}
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
	on("broker/kill", done(func() { p.noBroker = true; w.killBroker() }))
	on("broker/start", done(func() { w.startBroker(); p.noBroker = false }))
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
	on("mend", done(p.mend))
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
