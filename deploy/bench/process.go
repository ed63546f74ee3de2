package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A command is a program to start.
type command struct {
	name string // in results: "broker", "fleetd"
	path string
	args []string
	env  []string // KEY=value, beside this process's own
	// onLine, if not nil, is called with each line of standard output, after the line was kept.
	onLine func(line string)
}

// A process is a program that a bench started. It is ended by its id.
type process struct {
	name  string
	pid   int
	cmd   *exec.Cmd
	in    io.Writer // its standard input
	out   *output
	ended chan struct{} // closed when it has ended and its output was read
}

// startLimit bounds the wait for a program's ready line, and endLimit the wait for its end after SIGTERM.
const (
	startLimit = 60 * time.Second
	endLimit   = 20 * time.Second
)

// launch starts a program.
func launch(c command) (*process, error) {
	cmd := exec.Command(c.path, c.args...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.SysProcAttr = endWithParent()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	if err := startOnThread(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	p := &process{name: c.name, pid: cmd.Process.Pid, cmd: cmd, in: stdin, out: &output{changed: make(chan struct{})}, ended: make(chan struct{})}
	var readers sync.WaitGroup
	readers.Go(func() { p.out.read(stdout, c.onLine) })
	readers.Go(func() { p.out.read(stderr, nil) })
	go func() {
		readers.Wait()
		_ = cmd.Wait() // its status is in cmd.ProcessState
		close(p.ended)
	}()
	return p, nil
}

// threadStarts is a channel of a goroutine whose thread never ends: on Linux a program ends with the thread that
// started it, not with the process.
var threadStarts = sync.OnceValue(func() chan<- func() {
	c := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range c {
			start()
		}
	}()
	return c
})

func startOnThread(cmd *exec.Cmd) error {
	done := make(chan error)
	threadStarts() <- func() { done <- cmd.Start() }
	return <-done
}

// await returns the first line of output for which matches holds.
func (p *process) await(ctx context.Context, what string, matches func(line string) bool) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		lines, changed := p.out.since()
		if at := slices.IndexFunc(lines, matches); at >= 0 {
			return lines[at], nil
		}
		select {
		case <-changed:
		case <-p.ended:
			return "", fmt.Errorf("%s ended without %s; its last output:\n%s", p.name, what, p.out.tail())
		case <-ctx.Done():
			return "", fmt.Errorf("%s did not print %s: %w; its last output:\n%s", p.name, what, ctx.Err(), p.out.tail())
		}
	}
}

// ready returns the addresses of the ready line, by their names.
func (p *process) ready(ctx context.Context) (map[string]string, error) {
	line, err := p.await(ctx, "its ready line", func(line string) bool { return line == "ready" || strings.HasPrefix(line, "ready ") })
	addresses := map[string]string{}
	for _, word := range strings.Fields(line) {
		if name, address, ok := strings.Cut(word, "="); ok {
			addresses[name] = address
		}
	}
	return addresses, err
}

// end asks the program to end, and kills it if it does not.
func (p *process) end() {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.kill()
	}
	late := time.NewTimer(endLimit)
	defer late.Stop()
	select {
	case <-p.ended:
	case <-late.C:
		p.kill()
	}
}

// kill ends the program as a power cut does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it fails only if the program has ended
	<-p.ended
}

// running reports whether the program has not ended.
func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// keptLines bounds the output of a program that is kept: its first lines, with the ready line, and its last.
const keptLines = 200

// output is what a program printed.
type output struct {
	mu      sync.Mutex
	first   []string
	last    []string
	changed chan struct{} // closed and replaced with every line
}

func (o *output) read(from io.Reader, onLine func(string)) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		o.mu.Lock()
		if len(o.first) < keptLines {
			o.first = append(o.first, lines.Text())
		} else {
			o.last = append(o.last[max(0, len(o.last)-keptLines+1):], lines.Text())
		}
		close(o.changed)
		o.changed = make(chan struct{})
		o.mu.Unlock()
		if onLine != nil {
			onLine(lines.Text())
		}
	}
	_, _ = io.Copy(io.Discard, from) // after a line that is too long: the program must not block
}

func (o *output) since() (lines []string, changed <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Concat(o.first, o.last), o.changed
}

func (o *output) tail() string {
	lines, _ := o.since()
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
