package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"troupe/schema/testlog"
)

// A process is a program that runs beside the test.
type process struct {
	t    testing.TB
	name string
	cmd  *exec.Cmd
	log  *transcript

	ended      chan struct{} // closed once it has ended and its output was read
	code       int           // its exit status, valid once ended is closed
	ignoreExit bool          // the test expects it to fail, or killed it
}

// launch starts a program. If onLine is given, it receives the lines of standard
// output instead of the log.
func launch(t testing.TB, name, path string, args []string, onLine func(string), options ...func(*exec.Cmd)) *process {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr = killWithParent()
	cmd.Env = processEnv()
	if robotd, err := pathOfProgram("robotd", false); err == nil && path == robotd {
		cmd.Env = append(cmd.Env, "TROUPE_ROBOTD_PAGE=off") // unless a test wants it
	}
	for _, set := range options {
		set(cmd)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("open the output of %s: %v", name, err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatalf("open the output of %s: %v", name, err)
	}
	p := &process{t: t, name: name, cmd: cmd, log: newTranscript(), ended: make(chan struct{})}
	if onLine == nil {
		onLine = p.log.add
	}
	if err := onStarterThread(cmd.Start); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}
	var readers sync.WaitGroup
	readers.Go(func() { readLines(stdout, onLine) })
	readers.Go(func() { readLines(stderr, p.log.add) })
	go func() {
		defer close(p.ended)
		readers.Wait()
		_ = cmd.Wait() // callers look at its status
		p.code = cmd.ProcessState.ExitCode()
		p.log.add(fmt.Sprintf("-- ended: %v", cmd.ProcessState))
		p.log.end()
	}()
	t.Cleanup(p.cleanUp)
	return p
}

// inOwnProcessGroup lets a program be killed together with its children.
func inOwnProcessGroup(cmd *exec.Cmd) { cmd.SysProcAttr.Setpgid = true }

// processEnv is this process's environment, with a shorter wait than one second at
// the end of programs with the race detector.
func processEnv() []string { return append(os.Environ(), "NO_COLOR=1", "GORACE=atexit_sleep_ms=10") }

// maxLineBytes has room for a quoted blob of 256 KiB.
const maxLineBytes = 4 << 20

func readLines(from io.Reader, onLine func(string)) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLineBytes)
	for lines.Scan() {
		onLine(lines.Text())
	}
	if err := lines.Err(); err != nil && !errors.Is(err, os.ErrClosed) {
		onLine(fmt.Sprintf("-- reading ended: %v", err))
	}
}

// terminate sends SIGTERM and waits for the process to end.
func (p *process) terminate() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		p.t.Errorf("%s ended with status %d after SIGTERM", p.name, code)
	}
}

// kill ends the process as a power cut does.
func (p *process) kill() {
	p.t.Helper()
	p.ignoreExit = true
	p.signal(syscall.SIGKILL)
	p.wait()
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatalf("send %v to %s: %v", s, p.name, err)
	}
}

// wait waits for the process to end and returns its exit status.
func (p *process) wait() int {
	p.t.Helper()
	timeout := time.NewTimer(waitLimit)
	defer timeout.Stop()
	select {
	case <-p.ended:
	case <-timeout.C:
		p.signal(syscall.SIGQUIT) // so that the log shows where it hangs
		select {
		case <-p.ended:
		case <-time.After(waitLimit):
			p.signal(syscall.SIGKILL)
		}
		p.t.Errorf("%s did not end within %v", p.name, waitLimit)
		<-p.ended
	}
	return p.code
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// cleanUp ends the process if it still runs, and checks how it ended.
func (p *process) cleanUp() {
	if p.running() {
		p.terminate()
	} else if !p.ignoreExit && p.code != 0 {
		p.t.Errorf("%s ended with status %d before its test", p.name, p.code)
	}
	if p.log.contains("WARNING: DATA RACE") {
		p.t.Errorf("%s has a data race", p.name)
	}
	testlog.Show(p.t, p.name, p.log.String())
}

// ready waits for the ready line and returns the addresses in it by their names.
func (p *process) ready() map[string]string {
	p.t.Helper()
	line := p.log.await(p.t, p.name, "its line ready", func(line string) bool {
		return line == "ready" || strings.HasPrefix(line, "ready ")
	})
	addresses := map[string]string{}
	for _, field := range strings.Fields(line)[1:] {
		if name, address, ok := strings.Cut(field, "="); ok {
			addresses[name] = address
		}
	}
	return addresses
}

// starterRequests returns the channel of a goroutine that runs functions on one
// thread that never ends: on Linux a child dies with the thread that started it,
// not with the process.
var starterRequests = sync.OnceValue(func() chan<- func() {
	c := make(chan func())
	go starter(c)
	return c
})

func starter(c <-chan func()) {
	runtime.LockOSThread()
	for start := range c {
		start()
	}
}

func onStarterThread(start func() error) error {
	done := make(chan error)
	starterRequests() <- func() { done <- start() }
	return <-done
}

// A transcript holds the output of a program so far, line by line.
type transcript struct {
	mu      sync.Mutex
	lines   []string
	ended   bool
	changed chan struct{} // closed and replaced with every line
}

func newTranscript() *transcript { return &transcript{changed: make(chan struct{})} }

func (l *transcript) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *transcript) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	close(l.changed)
	l.changed = make(chan struct{})
}

// await returns the first line that matches, from the beginning on.
func (l *transcript) await(t testing.TB, name, what string, matches func(string) bool) string {
	t.Helper()
	return l.awaitWithin(t, waitLimit, name, what, matches)
}

// awaitWithin is await with another limit.
func (l *transcript) awaitWithin(t testing.TB, limit time.Duration, name, what string, matches func(string) bool) string {
	t.Helper()
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	for read := 0; ; {
		l.mu.Lock()
		lines, ended, changed := l.lines[read:], l.ended, l.changed
		l.mu.Unlock()
		for _, line := range lines {
			if matches(line) {
				return line
			}
		}
		if ended {
			t.Fatalf("%s ended without %s", name, what)
		}
		read += len(lines)
		select {
		case <-changed:
		case <-timeout.C:
			t.Fatalf("%s did not print %s within %v", name, what, limit)
		}
	}
}

func (l *transcript) contains(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			return true
		}
	}
	return false
}

func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}
