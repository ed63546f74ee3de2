//go:build webconsole

package e2e

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// playSpecs plays a file of specs in the console of a new world. Specs that failed are played
// again, as often as TROUPE_SPEC_RETRIES says, each time in another new world: what a failed spec
// left behind keeps no replay from passing.
func playSpecs(t *testing.T, file string, newPage func() *webPage) {
	t.Helper()
	retries, err := strconv.Atoi(cmp.Or(os.Getenv("TROUPE_SPEC_RETRIES"), "0"))
	if err != nil {
		t.Fatalf("TROUPE_SPEC_RETRIES: %v", err)
	}
	browser, err := findBrowser()
	if err != nil {
		t.Fatal(err)
	}
	p := player{browser: browser, file: file, output: t.TempDir()}
	var played []playedSpec
	p.play(t, newPage(), &played)
	for n := 0; n < retries && slices.ContainsFunc(played, playedSpec.failed); n++ {
		p.play(t, newPage(), &played, "--last-failed")
	}
	for _, s := range played {
		t.Run(s.title, s.report)
	}
}

// player plays one file of specs in a browser.
type player struct {
	browser, file string
	output        string // folder where Playwright writes which specs failed last
}

// play plays specs of the file in a page and adds what happened to them.
func (p player) play(t *testing.T, page *webPage, played *[]playedSpec, flags ...string) {
	t.Helper()
	control := httptest.NewServer(page.control())
	defer control.Close()
	reportFile := filepath.Join(page.w.folder, "report.json")
	cmd := exec.Command("node_modules/.bin/playwright", append([]string{"test", "e2e/" + p.file, "--reporter=json", "--output=" + p.output}, flags...)...)
	cmd.Dir = webFolder
	cmd.Env = append(processEnv(), "TROUPE_URL="+page.server.URL, "TROUPE_WORLD="+control.URL, "CHROMIUM="+p.browser, "PLAYWRIGHT_JSON_OUTPUT_NAME="+reportFile)
	output, runErr := cmd.CombinedOutput()
	text, err := os.ReadFile(reportFile)
	var all suite
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || all.count() == 0 {
		t.Fatalf("run the specs of %s: %v, %v\n%s", p.file, runErr, err, output)
	}
	all.addTo(played)
}

func findBrowser() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no chromium is in the PATH: run make setup")
}

// playedSpec is what happened to a spec, which was played once or more often.
type playedSpec struct {
	title   string
	printed []string
	errors  [][]string // by the times that it was played
	status  string     // of the last time: "expected" if it passed; a skipped spec failed
}

func (s playedSpec) failed() bool { return s.status != "expected" }

func (s playedSpec) report(t *testing.T) {
	for _, line := range s.printed {
		t.Log(line)
	}
	if s.failed() {
		t.Errorf("the spec is %s", s.status)
	} else if len(s.errors) > 1 {
		t.Logf("passed on retry: %s", s.title) // deploy/setup/test.sh prints it
	}
	for n, messages := range s.errors {
		for _, m := range messages {
			t.Logf("attempt %d: %s", n+1, m)
		}
	}
}

// suite is a part of the report of Playwright.
type suite struct {
	Suites []suite `json:"suites"`
	Specs  []struct {
		Title string `json:"title"`
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

// addTo adds what the report says of each spec to what is known of it.
func (s suite) addTo(played *[]playedSpec) {
	for _, spec := range s.Specs {
		at := slices.IndexFunc(*played, func(p playedSpec) bool { return p.title == spec.Title })
		if at < 0 {
			*played = append(*played, playedSpec{title: spec.Title})
			at = len(*played) - 1
		}
		p := &(*played)[at]
		var messages []string
		for _, test := range spec.Tests {
			p.status = test.Status
			for _, result := range test.Results {
				for _, line := range result.Printed {
					p.printed = append(p.printed, strings.TrimSpace(line.Text))
				}
				for _, e := range result.Errors {
					messages = append(messages, e.Message)
				}
			}
		}
		p.errors = append(p.errors, messages)
	}
	for _, inner := range s.Suites {
		inner.addTo(played)
	}
}
