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

// patience is how long a test waits for what it expects. A test that waits so
// long has failed; it is no measure of anything.
const patience = 40 * time.Second

// sideBySide is how many scenarios run at a time: they wait for other processes
// more than they compute.
const sideBySide = "6"

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		if err := f.Value.Set(sideBySide); err != nil {
			panic(err) // it is a number
		}
	}
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("troupe/deploy/e2e.starter"), // lives as long as the test binary
		goleak.Cleanup(func(code int) {
			if folder, err := folder(); err == nil {
				_ = os.RemoveAll(folder)
			}
			os.Exit(code)
		}))
}

// folder is where programs are built.
var folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "troupe-e2e-") })

// programs are built when a test first needs them.
var programs = map[string]func() (string, error){
	"broker": building("broker"),
	"robotd": building("robotd"),
	"fleetd": building("fleetd"),
	"demo":   building("deploy/demo"),
}

// building builds a program once, the way the test itself was built.
func building(from string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		to, err := folder()
		if err != nil {
			return "", fmt.Errorf("make a folder for programs: %w", err)
		}
		path := filepath.Join(to, filepath.Base(from))
		args := []string{"build", "-o", path}
		if raced {
			args = append(args, "-race")
		}
		cmd := exec.Command("go", append(args, "./"+from)...)
		cmd.Dir = "../.."
		if said, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", from, err, said)
		}
		return path, nil
	})
}

// program returns where the program of that name lies.
func program(t testing.TB, name string) string {
	t.Helper()
	path, err := programs[name]()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
