//go:build webconsole

package e2e

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
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

// Every file of specs gets a world of its own. Each spec becomes a subtest.
func TestWebConsole(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(webFolder, "e2e", "*.spec.ts"))
	if err != nil || len(files) == 0 {
		t.Fatalf("list the specs: %d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".spec.ts"), func(t *testing.T) {
			if name := filepath.Base(file); name == providerSpec {
				runSpecs(t, newProviderPage(newSecuredWithRobots(t)), name)
				return
			}
			if name := filepath.Base(file); slices.Contains(securedSpecs, name) {
				s := newSecuredWithRobots(t)
				runSpecs(t, newWebPage(s.world, func() { s.startFleetd() }), name)
				return
			}
			var more []string
			if slices.Contains(signedInSpecs, filepath.Base(file)) {
				more = []string{"--dev=false"}
			}
			w := newPerformingWorld(t, more...)
			runSpecs(t, newWebPage(w, func() { w.startFleetd(more...) }), filepath.Base(file))
		})
	}
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

// runSpecs runs one file of specs in a browser.
func runSpecs(t *testing.T, page *webPage, file string) {
	t.Helper()
	w := page.w
	control := httptest.NewServer(page.control())
	defer control.Close()
	browser, err := findBrowser()
	if err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(w.folder, "report.json")
	cmd := exec.Command("node_modules/.bin/playwright", "test", "e2e/"+file, "--reporter=json", "--output="+filepath.Join(w.folder, "playwright"),
		"--retries="+cmp.Or(os.Getenv("TROUPE_SPEC_RETRIES"), "0"))
	cmd.Dir = webFolder
	cmd.Env = append(processEnv(), "TROUPE_URL="+page.server.URL, "TROUPE_WORLD="+control.URL, "CHROMIUM="+browser, "PLAYWRIGHT_JSON_OUTPUT_NAME="+report)
	output, runErr := cmd.CombinedOutput()
	text, err := os.ReadFile(report)
	var all suite
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || all.count() == 0 {
		t.Fatalf("run the specs of %s: %v, %v\n%s", file, runErr, err, output)
	}
	all.report(t)
}

func findBrowser() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no chromium is in the PATH: run make setup")
}

// suite is a part of the report of Playwright.
type suite struct {
	Title  string  `json:"title"`
	Suites []suite `json:"suites"`
	Specs  []struct {
		Title string `json:"title"`
		OK    bool   `json:"ok"`
		Tests []struct {
			Status  string `json:"status"`
			Results []struct {
				Errors []struct {
					Message string `json:"message"`
				} `json:"errors"`
				Printed []struct {
					Text string `json:"text"`
				} `json:"stdout"`
			} `json:"results"`
		} `json:"tests"`
	} `json:"specs"`
}

func (s suite) count() int {
	n := len(s.Specs)
	for _, inner := range s.Suites {
		n += inner.count()
	}
	return n
}

// report makes a subtest of each spec. A skipped spec failed.
func (s suite) report(t *testing.T) {
	for _, spec := range s.Specs {
		t.Run(spec.Title, func(t *testing.T) {
			for _, test := range spec.Tests {
				for _, result := range test.Results {
					for _, line := range result.Printed {
						t.Log(strings.TrimSpace(line.Text))
					}
				}
				switch {
				case spec.OK && test.Status == "expected":
					continue
				case spec.OK && test.Status == "flaky":
					t.Logf("passed when it was played again: %s", spec.Title) // deploy/setup/test.sh prints it
				default:
					t.Errorf("the spec is %s", test.Status)
				}
				for _, result := range test.Results {
					for _, e := range result.Errors {
						t.Log(e.Message)
					}
				}
			}
		})
	}
	for _, inner := range s.Suites {
		inner.report(t)
	}
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
