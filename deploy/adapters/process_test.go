package adapters

import (
	"bufio"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"troupe/deploy/mosquittotest"
)

// A process is an adapter that runs.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
	other []string // lines that no test waited for
}

// adapter starts one that is written in Python.
func (r *robotd) adapter(path string, more ...string) *process {
	r.t.Helper()
	return r.start(exec.Command(mosquittotest.PythonWithPaho(r.t), append([]string{"-B", path, "--bus", r.url}, more...)...))
}

func (r *robotd) start(cmd *exec.Cmd) *process {
	r.t.Helper()
	p := &process{t: r.t, cmd: cmd, lines: make(chan string, 1000)}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		r.t.Fatal(err)
	}
	p.cmd.Stderr = p.cmd.Stdout
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // killed with the clients of mosquitto that a script starts
	if err := p.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	r.t.Cleanup(p.end)
	return p
}

// await waits for a line that the adapter prints and that has this in it.
func (p *process) await(want string) string {
	p.t.Helper()
	late := time.After(limit)
	for {
		select {
		case line, more := <-p.lines:
			if strings.Contains(line, want) {
				return line
			}
			if !more {
				p.t.Fatalf("the adapter ended without printing %q; it printed\n%s", want, strings.Join(p.other, "\n"))
			}
			p.other = append(p.other, line)
		case <-late:
			p.t.Fatalf("waited %v for %q; the adapter printed\n%s", limit, want, strings.Join(p.other, "\n"))
		}
	}
}

// end ends the adapter as a person does.
func (p *process) end() {
	p.t.Helper()
	if p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	for line := range p.lines {
		p.other = append(p.other, line)
	}
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("the adapter ended with %v; it printed\n%s", err, strings.Join(p.other, "\n"))
	}
}

// kill ends the adapter without warning.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
}
