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
	"strings"
	"testing"
	"time"

	"troupe/deploy/times"
)

// playSpecs plays files of specs in the console of a world, one spec after the other. Specs that
// failed are played again, as often as TROUPE_SPEC_RETRIES says.
func playSpecs(t *testing.T, files []string, page *webPage) {
	t.Helper()
	browser, err := findBrowser()
	if err != nil {
		t.Fatal(err)
	}
	control := httptest.NewServer(page.control())
	defer control.Close()
	reportFile := filepath.Join(page.w.folder, "report.json")
	args := []string{"test", "--reporter=json", "--output=" + t.TempDir(), "--retries=" + cmp.Or(os.Getenv("TROUPE_SPEC_RETRIES"), "0")}
	for _, file := range files {
		args = append(args, "e2e/"+file+specSuffix)
	}
	cmd := exec.Command("node_modules/.bin/playwright", args...)
	cmd.Dir = webFolder
	cmd.Env = append(processEnv(), "TROUPE_URL="+page.server.URL, "TROUPE_WORLD="+control.URL, "CHROMIUM="+browser,
		"PLAYWRIGHT_JSON_OUTPUT_NAME="+reportFile)
	output, runErr := cmd.CombinedOutput()
	var played report
	text, err := os.ReadFile(reportFile)
	if err == nil {
		err = json.Unmarshal(text, &played)
	}
	if err != nil || len(played.Errors) > 0 {
		t.Fatalf("run the specs of %v: %v, %v %v\n%s", files, runErr, err, played.Errors, output)
	}
	for _, file := range files {
		specs := played.specsOf(file)
		t.Run(file, func(t *testing.T) {
			if len(specs) == 0 {
				t.Fatal("no spec was played")
			}
			for _, s := range specs {
				t.Run(s.Title, func(t *testing.T) { s.report(t, file) })
			}
		})
	}
}

func findBrowser() (string, error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("no chromium is in the PATH: run make setup")
}

// report is what Playwright's reporter writes.
type report struct {
	Errors []problem // not of one spec: a file that is no program, say
	Suites []suite   // one for each file
}

type suite struct {
	Title  string // of the outermost: the path of the file, without the folder of all specs
	Suites []suite
	Specs  []playedSpec
}

type problem struct{ Message string }

type playedSpec struct {
	Title string
	Tests []struct {
		Status  string // "expected" if it passed at once, "flaky" if on retry; a skipped spec failed
		Results []struct {
			Duration float64 // in ms
			Errors   []problem
			Stdout   []struct{ Text string }
		} // by the times that it was played
	}
}

// specsOf returns the specs of a file in the order in which they stand there.
func (r report) specsOf(file string) (specs []playedSpec) {
	for _, s := range r.Suites {
		if s.Title == file+specSuffix {
			specs = append(specs, s.all()...)
		}
	}
	return specs
}

func (s suite) all() []playedSpec {
	specs := slices.Clone(s.Specs)
	for _, inner := range s.Suites {
		specs = append(specs, inner.all()...)
	}
	return specs
}

func (s playedSpec) report(t *testing.T, file string) {
	took := times.Took{Kind: times.Spec, Name: file + ": " + s.Title}
	defer func() {
		if err := took.Add(); err != nil {
			t.Error(err)
		}
	}()
	for _, test := range s.Tests {
		for n, result := range test.Results {
			took.Wall += time.Duration(result.Duration * float64(time.Millisecond))
			for _, line := range result.Stdout {
				t.Log(strings.TrimSpace(line.Text))
			}
			for _, e := range result.Errors {
				t.Logf("attempt %d: %s", n+1, e.Message)
			}
		}
		switch test.Status {
		case "expected":
		case "flaky":
			t.Logf("passed on retry: %s: %s", file, s.Title) // deploy/setup/test.sh prints it
		default:
			t.Errorf("the spec is %s", test.Status)
		}
	}
	if len(s.Tests) == 0 {
		t.Error("the spec was not played")
	}
}
