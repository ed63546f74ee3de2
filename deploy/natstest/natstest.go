// Package natstest runs nats-server in tests: one node with JetStream, built from the module of tools. What runs on it does not
// depend on our own broker.
package natstest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"troupe/schema/testlog"
)

// startTimeout bounds how long nats-server may take until it listens. It takes less than a second; the rest is for a machine
// that is busy with other tests.
const startTimeout = 30 * time.Second

// usersFile is what the configuration includes, in its folder.
const usersFile = "users.conf"

// Program returns the path of nats-server, which it builds when a test binary first needs it.
var Program = sync.OnceValues(func() (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, ".cache", "programs", "nats-server")
	build := exec.Command("go", "-C", filepath.Join(root, "deploy", "tools"), "build", "-o", path, "github.com/nats-io/nats-server/v2")
	build.Env = append(os.Environ(), "GOFLAGS=-trimpath") // one executable, whatever flags a test runs with
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build nats-server: %w\n%s", err, out)
	}
	return path, nil
})

// moduleRoot is the folder above that has go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no folder above has go.mod")
		}
	}
	return "", fmt.Errorf("find the module: %w", err)
}

// Configure writes the configuration of one node into folder, and returns its path. The node listens for MQTT on a free port of
// 127.0.0.1. users is its block authorization, and mqtt are further lines of its block mqtt.
func Configure(t testing.TB, folder, users, mqtt string) (path string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, usersFile), []byte(users), 0o600); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(folder, "nats.conf")
	text := fmt.Sprintf(`server_name: n1
listen: "127.0.0.1:-1"
http: "127.0.0.1:-1"
pid_file: %q
jetstream { store_dir: %q, max_mem: 64M, max_file: 500M }
max_payload: 2MB
mqtt {
  host: "127.0.0.1", port: -1, ack_wait: "30s", max_ack_pending: 1000
  %s
}
include %q
`, filepath.Join(folder, "pid"), filepath.Join(folder, "data"), mqtt, usersFile)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Address returns the address in a line of the log that says where nats-server listens for MQTT, or nothing.
func Address(line string) string {
	_, address, _ := strings.Cut(line, "Listening for MQTT clients on ")
	_, address, _ = strings.Cut(address, "://")
	return address
}

// A Server is a nats-server that runs until the test ends.
type Server struct {
	Address string // for MQTT
	HTTP    string // URL of its state
	Folder  string // with its configuration
	lines   chan string
}

// Start runs one node, see Configure.
func Start(t testing.TB, users, mqtt string) *Server {
	t.Helper()
	program, err := Program()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Folder: t.TempDir(), lines: make(chan string, 1000)}
	output, input := io.Pipe()
	cmd := exec.Command(program, "-c", Configure(t, s.Folder, users, mqtt))
	cmd.Stderr = io.MultiWriter(input, testlog.Writer(t, "nats-server"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for all := bufio.NewScanner(output); all.Scan(); {
			select {
			case s.lines <- all.Text():
			default: // nobody waits for a line so long ago
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed: its exit status has no meaning
		_ = input.Close()
		<-read
	})
	s.Await(t, func(line string) bool {
		s.Address = max(s.Address, Address(line))
		if _, at, ok := strings.Cut(line, "Starting http monitor on "); ok {
			s.HTTP = "http://" + at
		}
		return strings.Contains(line, "Server is ready")
	})
	return s
}

// Await waits for a line of the log after those that it returned before.
func (s *Server) Await(t testing.TB, is func(line string) bool) {
	t.Helper()
	timeout := time.After(startTimeout)
	for {
		select {
		case line := <-s.lines:
			if is(line) {
				return
			}
		case <-timeout:
			t.Fatalf("waited %v for a line of nats-server's log", startTimeout)
		}
	}
}

// UsersFile is the file with the block authorization.
func (s *Server) UsersFile() string { return filepath.Join(s.Folder, usersFile) }

// PIDFile is the file with its process id.
func (s *Server) PIDFile() string { return filepath.Join(s.Folder, "pid") }

// Reload has the node read its configuration again, and waits until it did.
func (s *Server) Reload(t testing.TB) {
	t.Helper()
	text, err := os.ReadFile(s.PIDFile())
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGHUP)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Await(t, func(line string) bool { return strings.Contains(line, "Reloaded server configuration") })
}
