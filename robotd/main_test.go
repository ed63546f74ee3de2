package main

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/schema"
)

// screen captures the output of the program.
type screen struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.written <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestProgramPrintsReadyAndShutsDown(t *testing.T) {
	b := brokertest.Start(t)
	ctx, end := context.WithCancel(t.Context())
	out := &screen{written: make(chan struct{}, 1)}
	cmd := command()
	cmd.SetOut(out)
	cmd.SetArgs([]string{"--id", "r1", "--broker", b.URL(), "--data", t.TempDir(), "--log-level", "error"})
	done := make(chan error, 1)
	go func() { done <- cmd.ExecuteContext(ctx) }()
	select {
	case <-out.written:
	case err := <-done:
		t.Fatalf("the program ended with %v", err)
	}
	if got, want := out.String(), "ready robot=r1 broker="+b.URL()+"\n"; got != want {
		t.Errorf("on standard output: %q, want %q", got, want)
	}
	obs := b.Client(t, "obs")
	obs.Subscribe("troupe/v1/robots/r1/presence")
	obs.ExpectThat("troupe/v1/robots/r1/presence", func(m brokertest.Message) bool { return strings.Contains(string(m.Payload), `"online"`) })
	// The observer may receive the presence before robotd itself has received it
	// back. robotd publishes its state after that, and only then publishes presence
	// "offline" at shutdown.
	obs.Subscribe("troupe/v1/robots/r1/state")
	obs.ExpectThat("troupe/v1/robots/r1/state", func(brokertest.Message) bool { return true })
	began := time.Now()
	end()
	if err := <-done; err != nil {
		t.Errorf("the program ended with %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("shutdown took %v, at most 5 s are allowed", took)
	}
	obs.ExpectThat("troupe/v1/robots/r1/presence", func(m brokertest.Message) bool { return strings.Contains(string(m.Payload), `"offline"`) })
}

func TestCommandLineErrorsAreReadable(t *testing.T) {
	token := schema.EnrolmentToken{Robot: "r7"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{}, "robot id"},
		{[]string{"--id", "r1", "--speed", "3"}, "unknown flag: --speed"},
		{[]string{"--id", "r1", "--boot-mode", "dance"}, `boot mode "dance"`},
		{[]string{"--id", "r1", "--config", "/nowhere.yaml"}, "configuration /nowhere.yaml"},
		{[]string{"enrol"}, `required flag(s) "server", "token" not set`},
		{[]string{"enrol", "--token", "TROUPE-r7-ABC", "--server", "https://127.0.0.1:1", "--data", t.TempDir()}, "80 letters"},
		{[]string{"enrol", "--token", token.String(), "--server", "https://127.0.0.1:1", "--data", t.TempDir()},
			"enrol r7: ask fleetd at https://127.0.0.1:1"},
		{[]string{"enrol", "--token", token.String(), "--server", "http://127.0.0.1:1", "--data", t.TempDir()}, "write https://host:port"},
		{[]string{"renew", "--data", t.TempDir()}, "name the robot's directory with --data"},
		{[]string{"--id", "r1", "--broker", "ftp://x", "--data", t.TempDir()}, "ftp://x"},
	} {
		cmd := command()
		cmd.SetArgs(c.args)
		cmd.SetOut(&bytes.Buffer{})
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("robotd %s: %v, want %q in it", strings.Join(c.args, " "), err, c.want)
		}
	}
}

func TestProgramPrintsVersion(t *testing.T) {
	var out bytes.Buffer
	cmd := command()
	cmd.SetArgs([]string{"version"})
	cmd.SetOut(&out)
	if err := cmd.Execute(); err != nil || !strings.HasPrefix(out.String(), "robotd ") {
		t.Errorf("%q, %v", out.String(), err)
	}
}
