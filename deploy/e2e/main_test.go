package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
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
const parallelScenarios = "10"

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		if err := f.Value.Set(parallelScenarios); err != nil {
			panic(err) // it is a number
		}
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("troupe/deploy/e2e.starter")) // lives as long as the test binary
}

// programFolder is where programs are built, from the folder of this package. It stays, so that Go
// links a program once for the end-to-end tests and the specs, and again only after a change.
const programFolder = "../../.cache/programs"

// programs builds each program when a test first needs it, without the race detector: that makes
// a program need three times the processor time, and tests start hundreds of them.
var programs = map[string]func() (string, error){
	"broker": buildOnce("broker", false),
	"robotd": buildOnce("robotd", false),
	"fleetd": buildOnce("fleetd", false),
	"demo":   buildOnce("deploy/demo", false),

	"package": buildOnce("deploy/package", false),
}

// demoLikeTest builds the demo with the race detector if the test has it. A broker, a fleetd and
// robots are in that process, connected as they are between processes.
var demoLikeTest = buildOnce("deploy/demo", raceEnabled)

// buildOnce returns a function that builds a program once.
func buildOnce(from string, race bool) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		path, err := pathOfProgram(filepath.Base(from), race)
		if err != nil {
			return "", err
		}
		args := []string{"build", "-buildvcs=false"} // the same bytes for every commit that changes no program, whatever GOFLAGS says
		if race {
			args = append(args, "-race")
		}
		cmd := exec.Command("go", append(args, "-o", path, "./"+from)...)
		cmd.Dir = "../.."
		if !race {
			cmd.Env = append(os.Environ(), "GOFLAGS="+withoutRaceFlags(os.Getenv("GOFLAGS")))
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", from, err, out)
		}
		return path, nil
	})
}

// withoutRaceFlags leaves out the flags that turn the race detector off for single packages. Without
// it they change nothing, but the packages would be compiled again.
func withoutRaceFlags(flags string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(flags), func(f string) bool { return strings.HasSuffix(f, "=-race=false") }), " ")
}

// pathOfProgram returns where a program is built.
func pathOfProgram(name string, race bool) (string, error) {
	if race {
		name = filepath.Join("race", name)
	}
	path, err := filepath.Abs(filepath.Join(programFolder, name))
	if err != nil {
		return "", fmt.Errorf("find the folder for programs: %w", err)
	}
	return path, nil
}

// program returns the path of the program with that name.
func program(t testing.TB, name string) string { return pathOf(t, programs[name]) }

func pathOf(t testing.TB, build func() (string, error)) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
