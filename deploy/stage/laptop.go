package stage

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"troupe/broker/server"
	"troupe/robotd/robot"
)

// The bodies of r1.
const (
	BodySim    = "sim"
	BodyLaptop = "laptop" // this machine speaks and shows a face in a browser
)

// laptop is the body of r1: a bus, and the processes of two adapters. One speaks and shows a
// face; the other simulates a base, so that the shipped stories can be performed.
type laptop struct {
	cfg      *Config
	bus      *server.Server
	adapters []*program
	face     string // URL of the page
}

// adapterTimeout bounds how long an adapter may take until it is there.
const adapterTimeout = 20 * time.Second

// startLaptop starts the body if the stage has it. Otherwise the laptop that it returns is the
// body of no robot. If ctx ends first, it ends what it started and returns nil.
func (c *Config) startLaptop(ctx context.Context, fail context.CancelCauseFunc) (_ *laptop, err error) {
	l := &laptop{cfg: c}
	if c.Body != BodyLaptop {
		return l, nil
	}
	python, err := findPython()
	if err != nil {
		return nil, err
	}
	if l.bus, err = server.New(server.Config{MQTT: "127.0.0.1:0", Dev: true, Bus: true, Logger: c.Logger.With("program", "bus")}); err != nil {
		return nil, fmt.Errorf("serve the bus of r1: %w", err)
	}
	face := make(chan string, 1)
	bus := []string{"--bus", "mqtt://" + l.bus.Addr()}
	l.run(fail, "laptop", face, python, append(bus, "--page", cmp.Or(c.Face, "127.0.0.1:0")))
	l.run(fail, "base", nil, python, bus)
	timeout := time.NewTimer(adapterTimeout)
	defer timeout.Stop()
	select {
	case l.face = <-face:
		c.Say("the face of r1 is at " + l.face)
		return l, nil
	case <-timeout.C:
		return nil, errors.Join(fmt.Errorf("the adapter of the laptop shows no page after %v; see the log", adapterTimeout), l.end())
	case <-ctx.Done():
		return nil, l.end()
	}
}

// findPython returns a Python that has paho-mqtt. Another one may stand before Debian's in the PATH.
func findPython() (string, error) {
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import paho.mqtt.client").Run() == nil {
			return python, nil
		}
	}
	return "", errors.New("the adapters of the body need Python with paho-mqtt: make setup installs it, or apt-get install python3-paho-mqtt")
}

// folders are where the adapters lie.
var folders = map[string]string{"laptop": "laptop/laptop.py", "base": "python/base.py"}

// run starts an adapter. One that ends by itself ends the stage, as every program does.
func (l *laptop) run(fail context.CancelCauseFunc, name string, face chan<- string, python string, args []string) {
	path := filepath.Join(l.cfg.Adapters, folders[name])
	l.adapters = append(l.adapters, startProgram("adapter "+name, fail, func(ctx context.Context) error {
		cmd := exec.CommandContext(ctx, python, append([]string{"-B", path}, args...)...)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = adapterTimeout
		output, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		cmd.Stderr = cmd.Stdout
		if err := cmd.Start(); err != nil {
			return err
		}
		last := l.read(name, output, face)
		if err := cmd.Wait(); err != nil && ctx.Err() == nil {
			return fmt.Errorf("%w: %s", err, last)
		}
		return nil
	}))
}

// read takes in what an adapter prints, and returns its last line.
func (l *laptop) read(name string, output io.Reader, face chan<- string) (last string) {
	for lines := bufio.NewScanner(output); lines.Scan(); {
		last = lines.Text()
		if url, ok := strings.CutPrefix(last, "face "); ok && face != nil {
			face <- url
		} else if strings.HasPrefix(last, "no sound: ") {
			l.cfg.Say("r1 has " + last)
		}
		l.cfg.Logger.Info("adapter", "name", name, "says", last)
	}
	return last
}

// become makes the laptop the body of a robot.
func (l *laptop) become(cfg *robot.Config) {
	if l.bus == nil {
		return
	}
	cfg.Body = robot.Body{Adapters: []string{"laptop", "base"}, Dial: l.bus.Dial}
	cfg.Scenario.Live = false
}

func (l *laptop) end() error {
	err := endPrograms(l.adapters...)
	if l.bus != nil {
		err = errors.Join(err, l.bus.Close())
	}
	return err
}
