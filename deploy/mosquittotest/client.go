package mosquittotest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clientTimeout bounds one run of a client. A client that waits for messages stops
// after -C messages or -W seconds, as at a terminal.
const clientTimeout = 30 * time.Second

// A Result is the output and the exit code of a client.
type Result struct {
	Stdout string
	Stderr string
	Code   int
}

// Pub runs mosquitto_pub against the broker at the URL. The arguments are those
// that a person types, without -h and -p.
func Pub(t testing.TB, url string, args ...string) Result {
	t.Helper()
	return runClient(t, "mosquitto_pub", url, args)
}

// Sub runs mosquitto_sub in the same way, and returns when it has ended.
func Sub(t testing.TB, url string, args ...string) Result {
	t.Helper()
	return runClient(t, "mosquitto_sub", url, args)
}

// RR runs mosquitto_rr in the same way: one request, one answer.
func RR(t testing.TB, url string, args ...string) Result {
	t.Helper()
	return runClient(t, "mosquitto_rr", url, args)
}

func runClient(t testing.TB, program, broker string, args []string) Result {
	t.Helper()
	r, err := run(findProgram(t, program, "mosquitto-clients"), broker, args, clientTimeout)
	if err != nil {
		t.Fatalf("%v\nstdout: %s\nstderr: %s", err, r.Stdout, r.Stderr)
	}
	return r
}

func run(program, broker string, args []string, limit time.Duration) (Result, error) {
	at, err := url.Parse(broker)
	if err != nil || at.Hostname() == "" || at.Port() == "" {
		return Result{}, fmt.Errorf("broker %q is not a URL like mqtt://127.0.0.1:1883", broker)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, append([]string{"-h", at.Hostname(), "-p", at.Port()}, args...)...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	r := Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
	what := filepath.Base(program) + " " + strings.Join(args, " ")
	if ctx.Err() != nil {
		return r, fmt.Errorf("%s did not end within %v", what, limit)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return r, fmt.Errorf("run %s: %w", what, err)
	}
	return r, nil
}

// findProgram looks in PATH and in the folders where Debian installs daemons,
// which are in few people's PATH.
func findProgram(t testing.TB, program, debian string) string {
	t.Helper()
	path, err := lookPath(program, "/usr/sbin", "/usr/local/sbin")
	if err != nil {
		t.Fatalf("%v: run deploy/setup/debian.sh, or apt-get install %s", err, debian)
	}
	return path
}

func lookPath(program string, folders ...string) (string, error) {
	candidates := []string{program}
	for _, folder := range folders {
		candidates = append(candidates, filepath.Join(folder, program))
	}
	for _, candidate := range candidates {
		if path, err := exec.LookPath(candidate); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is neither in PATH nor in %s", program, strings.Join(folders, ", "))
}

// PythonWithPaho returns a Python that has Debian's python3-paho-mqtt. Another Python may
// stand before Debian's in the PATH.
func PythonWithPaho(t testing.TB) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import paho.mqtt.client").Run() == nil {
			return python
		}
	}
	t.Fatal("no Python with paho-mqtt: run make setup")
	return ""
}
