// Package launch starts the programs of measurements and of a fleet to try out, and ends them by their ids. They end with
// this process at the latest, on Linux also if it is killed.
package launch

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

// A Command is a program to start.
type Command struct {
	Name string // in results: "broker", "fleetd"
	Path string
	Args []string
	Env  []string // KEY=value, beside this process's own
	// OnLine, if not nil, is called with each line of standard output, after the line was kept.
	OnLine func(line string)
}

// A Program runs, or has ended.
type Program struct {
	Name  string
	PID   int
	In    io.Writer       // its standard input
	Ended <-chan struct{} // closed when it has ended and its output was read
	cmd   *exec.Cmd
	out   *output
}

// StartLimit bounds the wait for a program's ready line, and endLimit the wait for its end after SIGTERM.
const (
	StartLimit = 60 * time.Second
	endLimit   = 20 * time.Second
)

// Start starts a program.
func Start(c Command) (*Program, error) {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.SysProcAttr = endWithParent()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	if err := startOnThread(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	ended := make(chan struct{})
	p := &Program{Name: c.Name, PID: cmd.Process.Pid, In: stdin, Ended: ended, cmd: cmd, out: &output{changed: make(chan struct{})}}
	var readers sync.WaitGroup
	readers.Go(func() { p.out.read(stdout, c.OnLine) })
	readers.Go(func() { p.out.read(stderr, nil) })
	go func() {
		readers.Wait()
		_ = cmd.Wait() // its status is in cmd.ProcessState
		close(ended)
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

// Await returns the first line of output for which matches holds.
func (p *Program) Await(ctx context.Context, what string, matches func(line string) bool) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, StartLimit)
	defer cancel()
	for {
		lines, changed := p.Lines()
		if at := slices.IndexFunc(lines, matches); at >= 0 {
			return lines[at], nil
		}
		select {
		case <-changed:
		case <-p.Ended:
			return "", fmt.Errorf("%s ended without %s; its last output:\n%s", p.Name, what, p.Tail())
		case <-ctx.Done():
			return "", fmt.Errorf("%s did not print %s: %w; its last output:\n%s", p.Name, what, ctx.Err(), p.Tail())
		}
	}
}

// Ready returns the addresses of the ready line, by their names.
func (p *Program) Ready(ctx context.Context) (map[string]string, error) {
	line, err := p.Await(ctx, "its ready line", func(line string) bool { return line == "ready" || strings.HasPrefix(line, "ready ") })
	addresses := map[string]string{}
	for _, word := range strings.Fields(line) {
		if name, address, ok := strings.Cut(word, "="); ok {
			addresses[name] = address
		}
	}
	return addresses, err
}

// End asks the program to end, and kills it if it does not.
func (p *Program) End() {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.Kill()
	}
	late := time.NewTimer(endLimit)
	defer late.Stop()
	select {
	case <-p.Ended:
	case <-late.C:
		p.Kill()
	}
}

// Signal sends the program a signal.
func (p *Program) Signal(s os.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("signal %s: %w", p.Name, err)
	}
	return nil
}

// Kill ends the program as a power cut does.
func (p *Program) Kill() {
	_ = p.cmd.Process.Kill() // it fails only if the program has ended
	<-p.Ended
}

// Running reports whether the program has not ended.
func (p *Program) Running() bool {
	select {
	case <-p.Ended:
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

// Lines returns what it printed, as far as it is kept; changed is closed with the next line.
func (p *Program) Lines() (lines []string, changed <-chan struct{}) {
	p.out.mu.Lock()
	defer p.out.mu.Unlock()
	return slices.Concat(p.out.first, p.out.last), p.out.changed
}

// Tail returns the last lines that it printed.
func (p *Program) Tail() string {
	lines, _ := p.Lines()
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// State says how it ended.
func (p *Program) State() string { return p.cmd.ProcessState.String() }
