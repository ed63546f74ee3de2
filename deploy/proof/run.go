package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"troupe/deploy/shard"
	"troupe/deploy/times"
)

// withoutRace are packages that would be several times slower under the race detector: SQLite's C
// sources translated to Go are most of what a store executes, and Argon2 most of what a sign-in
// does. None of it is this project's code.
var withoutRace = []string{"modernc.org/sqlite/lib", "modernc.org/libc", "golang.org/x/crypto/argon2", "golang.org/x/crypto/blake2b"}

// together is how many runs are at work at once, each with one package: CI has two cores, and what is
// tested against real time needs its share of them.
const together = 2

// arguments returns those of go test.
func (r run) arguments(self string) []string {
	// make check has vet; -w leaves out what only a debugger reads, which is a fifth of the time that
	// linking takes.
	args := []string{"test", "-json", "-count=1", "-vet=off", "-ldflags=-w", "-timeout=25m", "-p=1", "-exec=" + self + " exec"}
	if r.race {
		args = append(args, "-race")
	}
	if r.only != "" {
		args = append(args, "-run="+r.only)
	}
	if r.skip != "" {
		args = append(args, "-skip="+r.skip)
	}
	for _, p := range r.packages {
		args = append(args, "./"+p)
	}
	return args
}

func (r run) environment(p plan) []string {
	// The race detector would wait a second at the end of each process.
	env := append(os.Environ(), shard.Variable+"="+p.shard.String(), fmt.Sprintf("RAPID_SEED=%d", p.seed), "GORACE=atexit_sleep_ms=10")
	if r.race { // tests that build programs take this over
		env = append(env, "GOFLAGS="+raceFlags())
	}
	return append(env, r.env...)
}

// raceFlags is GOFLAGS of a run under the race detector.
func raceFlags() string {
	flags := os.Getenv("GOFLAGS")
	for _, p := range withoutRace {
		flags += " -gcflags=" + p + "=-race=false"
	}
	return flags
}

// test executes the runs in their order, two at a time, and writes the events of all to out. It reports whether
// all passed. That one failed is no error, and printed nowhere but in the events: gotestsum runs no test again once
// something stands on stderr.
func (p plan) test(out io.Writer) (passed bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return false, fmt.Errorf("find this program: %w", err)
	}
	events := &lines{out: out}
	errs := make([]error, len(p.runs))
	var all sync.WaitGroup
	atWork := make(chan struct{}, together)
	for i, r := range p.runs {
		if r.alone {
			all.Wait()
		}
		atWork <- struct{}{}
		all.Go(func() {
			defer func() { <-atWork }()
			cmd := exec.Command("go", r.arguments(self)...)
			cmd.Env, cmd.Stderr = r.environment(p), events // gotestsum takes what is on stderr for an error
			pipe, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				errs[i] = fmt.Errorf("start go test: %w", err)
				return
			}
			for read := bufio.NewReader(pipe); err == nil; {
				var line []byte
				line, err = read.ReadBytes('\n')
				_, _ = events.Write(line) // gotestsum reads until the end
			}
			errs[i] = cmd.Wait()
		})
	}
	all.Wait()
	passed = true
	for i := range errs {
		if failed := (*exec.ExitError)(nil); errors.As(errs[i], &failed) && failed.ExitCode() == 1 {
			passed, errs[i] = false, nil
		}
	}
	return passed, errors.Join(errs...)
}

// lines is the output of several runs: a line of one does not break that of another.
type lines struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(b)
}

// again leaves of the plan the runs that have a test, which failed. only is its pattern as gotestsum
// gives it, such as ^TestStop$.
func (p plan) again(only, folder string) plan {
	name := strings.Trim(only, "^$")
	var runs []run
	for _, r := range p.runs {
		if r.has(folder, name) {
			r.packages, r.only, r.skip = []string{folder}, only, ""
			runs = append(runs, r)
		}
	}
	p.runs = runs
	return p
}

// has reports whether the run executes a test.
func (r run) has(folder, test string) bool {
	for _, name := range r.packages {
		if name == folder {
			return (r.only == "" || regexp.MustCompile(r.only).MatchString(test)) &&
				(r.skip == "" || !regexp.MustCompile(r.skip).MatchString(test))
		}
	}
	return false
}

// execute runs a command as go test -exec does, adds how long it took to the times, and returns its
// exit status. A signal goes to the command.
func execute(kind, name string, args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	began := time.Now()
	if err := cmd.Start(); err != nil {
		fmt.Fprintf(os.Stderr, "start %s: %v\n", args[0], err)
		return 1
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s) // it has ended if this fails
		}
	}()
	_ = cmd.Wait() // its status says whether it failed
	state := cmd.ProcessState
	if err := (times.Took{Kind: kind, Name: name, CPU: state.UserTime() + state.SystemTime(), Wall: time.Since(began)}).Add(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if code := state.ExitCode(); code >= 0 {
		return code
	}
	return 1
}
