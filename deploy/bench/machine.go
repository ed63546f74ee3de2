package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"troupe/deploy/launch"
)

// Machine is the header of a result: without it no figure can be compared with another one.
type Machine struct {
	Commit  string  `json:"commit"`         // with "+" if the tree differs from it
	Time    string  `json:"time"`           // when the run began, RFC 3339
	Go      string  `json:"go"`             // version
	System  string  `json:"system"`         // such as "linux/amd64 6.1.0"
	Cores   int     `json:"cores"`          //
	Load    string  `json:"load"`           // averages of 1, 5 and 15 minutes before the run
	LoadEnd string  `json:"load_end"`       // and after it
	Fsync   Latency `json:"fdatasync"`      // floor of each promise that is kept on the disk
	Awake   bool    `json:"cpu_kept_awake"` // see --awake
}

// examineMachine measures what every figure depends on. Data of the run will be in the folder.
func examineMachine(folder string, awake bool) (Machine, error) {
	m := Machine{Commit: commit(), Time: time.Now().UTC().Format(time.RFC3339), Go: runtime.Version(),
		System: runtime.GOOS + "/" + runtime.GOARCH + " " + kernel(), Cores: runtime.NumCPU(), Load: load(), Awake: awake}
	synced, err := measureFsync(filepath.Join(folder, "fdatasync"), fsyncSamples)
	if err != nil {
		return m, fmt.Errorf("measure fdatasync: %w", err)
	}
	m.Fsync = *latencyOf(synced)
	return m, nil
}

const fsyncSamples = 200

// fsyncBytes is about the size of a command in a journal.
const fsyncBytes = 256

// measureFsync appends to a file and syncs it, again and again.
func measureFsync(path string, samples int) ([]time.Duration, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer os.Remove(path)
	defer f.Close()
	var took []time.Duration
	block := make([]byte, fsyncBytes)
	for range samples {
		began := time.Now()
		if _, err := f.Write(block); err != nil {
			return nil, err
		}
		if err := fdatasync(f); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

func commit() string {
	hash, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(hash))
	// Results that an earlier run wrote do not make it another program.
	if changed, err := exec.Command("git", "status", "--porcelain", "--", ".", ":(exclude)"+resultsFolder).Output(); err != nil ||
		len(changed) > 0 {
		name += "+"
	}
	return name
}

func kernel() string {
	release, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return strings.TrimSpace(string(release))
}

func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	words := strings.Fields(string(text))
	return strings.Join(words[:min(3, len(words))], " ")
}

// keepAwake starts a loop of the lowest priority on each core, and returns what ends them. A core that sleeps takes
// longer to wake up than a message to arrive, so that without it round trips measure the machine's power saving.
func keepAwake() (end func(), err error) {
	var loops []*launch.Program
	end = func() {
		for _, p := range loops {
			p.Kill()
		}
	}
	for range runtime.NumCPU() {
		p, err := launch.Start(launch.Command{Name: "loop", Path: "nice", Args: []string{"-n", "19", "sh", "-c", "while :; do :; done"}})
		if err != nil {
			end()
			return nil, fmt.Errorf("keep the processor awake: %w", err)
		}
		loops = append(loops, p)
	}
	return end, nil
}
