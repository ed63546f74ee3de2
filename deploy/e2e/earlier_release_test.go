package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// A release is one version of the programs.
type release struct {
	name     string
	program  func(testing.TB, string) string // path of a program
	stories  string                          // folder with the acts nod and smile and the story round
	commands commandLines
}

// commandLines are the flags and commands of a release's programs; names in
// capitals are replaced. The test reads everything else from MQTT, which is the
// same in every release.
type commandLines struct {
	broker, fleetd, robotd string
	robots                 string // prints a line with r1 and online
	acts, story, assign    string
	enable, perform        string
	stop, stops, release   string
}

var (
	currentCommands = commandLines{
		broker:  "--dev --mqtt 127.0.0.1:0 --http=",
		fleetd:  "serve --dev --http 127.0.0.1:0 --broker BROKER --database DATABASE --spool SPOOL",
		robotd:  "--id r1 --broker BROKER --data DATA",
		robots:  "robot list",
		acts:    "act publish -f STORIES/nod.yaml -f STORIES/smile.yaml",
		story:   "story publish -f STORIES/round.yaml",
		assign:  "story assign round r1",
		enable:  "safety enable r1 --wait",
		perform: "mode set ato r1 --wait",
		stop:    "stop r1 --why test",
		stops:   "stop list",
		release: "stop release STOP --why test",
	}
	earlierCommands = currentCommands
)

// earlierSources unpacks the earlier release from this repository's history.
var earlierSources = sync.OnceValues(func() (string, error) {
	const pin = "../compat/EARLIER"
	text, err := os.ReadFile(pin)
	if err != nil {
		return "", fmt.Errorf("read which release is the earlier one: %w", err)
	}
	commit := regexp.MustCompile(`(?m)^[0-9a-f]{40}$`).FindString(string(text))
	if commit == "" {
		return "", fmt.Errorf("deploy/compat/EARLIER has no line with the 40 hex digits of a commit")
	}
	if output, err := exec.Command("git", "cat-file", "-e", commit+"^{commit}").CombinedOutput(); err != nil {
		return "", fmt.Errorf("find the earlier release, commit %s of deploy/compat/EARLIER: %w\n"+
			"%sin a clone without all history, run git fetch --unshallow", commit, err, output)
	}
	tag := regexp.MustCompile(`(?m)^v\d+\.\d+\.\d+$`).FindString(string(text))
	if tag == "" {
		return "", fmt.Errorf("deploy/compat/EARLIER has no line with the tag of the release, such as v0.2.0")
	}
	if tagged, err := exec.Command("git", "rev-parse", "--verify", "--quiet", "refs/tags/"+tag+"^{commit}").Output(); err == nil &&
		strings.TrimSpace(string(tagged)) != commit { // a clone without tags says nothing
		return "", fmt.Errorf("deploy/compat/EARLIER names commit %s, and the tag %s is of %s", commit, tag, tagged)
	}
	to, err := filepath.Abs(filepath.Join(programFolder, "earlier", commit))
	if err != nil {
		return "", fmt.Errorf("find the folder for the earlier release: %w", err)
	}
	if _, err := os.Stat(to); err == nil {
		return to, nil // from a run before
	}
	unpacked := to + ".new" // so that what was interrupted is not taken for whole
	if err := errors.Join(os.RemoveAll(unpacked), os.MkdirAll(unpacked, 0o755)); err != nil {
		return "", fmt.Errorf("make a folder for the earlier release: %w", err)
	}
	packed := to + ".tar"
	for _, cmd := range []*exec.Cmd{
		exec.Command("git", "-C", "../..", "archive", "-o", packed, commit),
		exec.Command("tar", "-x", "-f", packed, "-C", unpacked),
	} {
		if output, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("unpack the earlier release: %s: %w\n%s", cmd, err, output)
		}
	}
	if err := os.Rename(unpacked, to); err != nil {
		return "", fmt.Errorf("unpack the earlier release: %w", err)
	}
	return to, nil
})

// earlierPrograms builds the programs of the earlier release, without the race detector, because
// nobody would correct their races. The libraries that both releases have are compiled once.
var earlierPrograms = sync.OnceValues(func() (string, error) {
	sources, err := earlierSources()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", "bin/", "./broker", "./robotd", "./fleetd")
	cmd.Dir = sources
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the earlier release: %w\n%s", err, output)
	}
	return filepath.Join(sources, "bin"), nil
})

func currentRelease(testing.TB) release {
	return release{name: "current", program: program, stories: filepath.Dir(scenarioFile("x")), commands: currentCommands}
}

// earlierRelease returns the release that deploy/compat/EARLIER names. Only one shard builds it: deploy/proof
// finds the tests that need it by their names.
func earlierRelease(t testing.TB) release {
	t.Helper()
	if !strings.Contains(t.Name(), "Earlier") {
		t.Fatal("write EarlierRelease into the name of this test, or every shard builds the earlier release")
	}
	sources, err := earlierSources()
	if err != nil {
		t.Fatal(err)
	}
	return release{
		name: "earlier", stories: filepath.Join(sources, "testdata", "scenarios"), commands: earlierCommands,
		program: func(t testing.TB, name string) string {
			t.Helper()
			bin, err := earlierPrograms()
			if err != nil {
				t.Fatal(err)
			}
			return filepath.Join(bin, name)
		},
	}
}
