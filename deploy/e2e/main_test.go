package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// waitLimit is how long a test waits for what it expects. A test that waits so
// long has failed; the value measures nothing.
const waitLimit = 40 * time.Second

// parallelScenarios is how many scenarios run at a time: they wait for other
// processes more than they compute.
const parallelScenarios = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		if err := f.Value.Set(parallelScenarios); err != nil {
			panic(err) // it is a number
		}
	}
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("troupe/deploy/e2e.starter"), // lives as long as the test binary
		goleak.Cleanup(func(code int) {
			if folder, err := programFolder(); err == nil {
				_ = os.RemoveAll(folder)
			}
			os.Exit(code)
		}))
}

// programFolder makes the folder in which programs are built.
var programFolder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "troupe-e2e-") })

// programs builds each program when a test first needs it.
var programs = map[string]func() (string, error){
	"broker": buildOnce("broker", raceEnabled),
	"robotd": buildOnce("robotd", raceEnabled),
	"fleetd": buildOnce("fleetd", raceEnabled),
	"demo":   buildOnce("deploy/demo", raceEnabled),
}

// plainPrograms are the same without the race detector, which makes a start several times
// slower.
var plainPrograms = map[string]func() (string, error){
	"broker": buildOnce("broker", false),
	"robotd": buildOnce("robotd", false),
	"fleetd": buildOnce("fleetd", false),
	"demo":   buildOnce("deploy/demo", false),
}

// buildOnce returns a function that builds a program once.
func buildOnce(from string, race bool) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		to, err := programFolder()
		if err != nil {
			return "", fmt.Errorf("make a folder for programs: %w", err)
		}
		path := filepath.Join(to, filepath.Base(from))
		if race != raceEnabled {
			path = filepath.Join(to, "plain", filepath.Base(from))
		}
		args := []string{"build", "-buildvcs=false", "-o", path} // so that the version is the one of the pages, whatever GOFLAGS says
		if race {
			args = append(args, "-race")
		}
		cmd := exec.Command("go", append(args, "./"+from)...)
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", from, err, out)
		}
		return path, nil
	})
}

// built returns the path of a program that a test has needed before.
func built(name string) string {
	to, err := programFolder()
	if err != nil {
		return ""
	}
	return filepath.Join(to, name)
}

// program returns the path of the program with that name, which has the race detector if the
// test has it.
func program(t testing.TB, name string) string { return pathOf(t, programs[name]) }

// plainProgram is program without the race detector, for tests that start a program many times
// and whose concurrency other tests exercise.
func plainProgram(t testing.TB, name string) string {
	if !raceEnabled {
		return program(t, name) // which is the same
	}
	return pathOf(t, plainPrograms[name])
}

func pathOf(t testing.TB, build func() (string, error)) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
