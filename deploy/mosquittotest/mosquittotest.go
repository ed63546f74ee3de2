// Package mosquittotest runs Debian's own MQTT programs in tests: the stock
// broker mosquitto, and the clients mosquitto_pub, mosquitto_sub and
// mosquitto_rr against any broker.
//
// They are the view from outside: what works with them works for an operator at a
// terminal, and what runs on a stock mosquitto does not depend on our own broker.
// Without them the test fails and names the package to install.
package mosquittotest

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/schema/testlog"
)

// startTimeout bounds how long mosquitto may take until it listens. It takes
// milliseconds; the rest is for a machine that is busy with other tests.
const startTimeout = 20 * time.Second

// maxStarts bounds how often another port is tried. Another test may take a free
// port before mosquitto binds it.
const maxStarts = 5

// Options change the stock configuration.
type Options struct {
	// MaxPacketBytes is the largest packet that the broker accepts; zero leaves
	// mosquitto's own limit.
	MaxPacketBytes int
	// Closed omits the lines that accept every client: Lines configure access.
	Closed bool
	// Lines are further lines of mosquitto.conf.
	Lines []string
	// Fresh, if not nil, returns Lines for each attempt to start: they may name ports
	// from FreePort, which another program may have taken meanwhile.
	Fresh func() []string
}

// Start runs a mosquitto on a free port of 127.0.0.1 until the test ends, and
// returns its URL. Without options it accepts every client and keeps nothing on
// disk. Its log is printed if the test fails.
func Start(t testing.TB, o Options) (url string) {
	t.Helper()
	program := findProgram(t, "mosquitto", "mosquitto")
	folder := t.TempDir()
	var log string
	for range maxStarts {
		port := FreePort(t)
		if o.Fresh != nil {
			o.Lines = o.Fresh()
		}
		path := filepath.Join(folder, "mosquitto.conf")
		if err := os.WriteFile(path, config(port, o), 0o600); err != nil {
			t.Fatalf("write mosquitto's configuration: %v", err)
		}
		b, text := launch(t, program, path)
		if b != nil {
			t.Cleanup(func() { b.stop(t) })
			return fmt.Sprintf("mqtt://127.0.0.1:%d", port)
		}
		log = text
		if !strings.Contains(log, "Address already in use") {
			break
		}
	}
	t.Fatalf("mosquitto did not start; its log:\n%s", log)
	return ""
}

// FreePort returns a port of 127.0.0.1 on which no program listens now.
func FreePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("find a free port: %v", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func config(port int, o Options) []byte {
	lines := []string{
		fmt.Sprintf("listener %d 127.0.0.1", port),
		"log_dest stderr",
		"log_type all",
		"connection_messages true",
	}
	if !o.Closed {
		lines = append(lines, "allow_anonymous true", "persistence false", "set_tcp_nodelay true")
	}
	if os.Geteuid() == 0 {
		// It would become user mosquitto, which cannot read this test's files.
		lines = append(lines, "user root")
	}
	if o.MaxPacketBytes > 0 {
		lines = append(lines, fmt.Sprintf("max_packet_size %d", o.MaxPacketBytes))
	}
	lines = append(lines, o.Lines...)
	return []byte(strings.Join(lines, "\n") + "\n")
}

// guardScript runs mosquitto until its own standard input ends, which is when the
// test stops it and also when the test binary is killed. Only mosquitto writes to
// the standard error, so that its end is the end of mosquitto.
const guardScript = `
"$1" -c "$2" </dev/null &
exec 2>/dev/null
cat
kill -9 $!
wait
`

// A broker is a running mosquitto with the guard that ends it.
type broker struct {
	guard    *exec.Cmd
	lifeline *os.File
	log      *log
}

// launch returns a broker that listens, or else mosquitto's log.
func launch(t testing.TB, program, path string) (*broker, string) {
	t.Helper()
	input, lifeline, err := os.Pipe()
	if err != nil {
		t.Fatalf("make the pipe to mosquitto's guard: %v", err)
	}
	logReader, output, err := os.Pipe()
	if err != nil {
		t.Fatalf("make the pipe for mosquitto's log: %v", err)
	}
	b := &broker{
		guard:    exec.Command("/bin/sh", "-c", guardScript, "mosquitto-guard", program, path),
		lifeline: lifeline,
		log:      &log{running: make(chan struct{}), ended: make(chan struct{})},
	}
	b.guard.Stdin, b.guard.Stderr = input, output
	if err := b.guard.Start(); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	_ = input.Close()
	_ = output.Close()
	go b.log.readFrom(logReader)

	timeout := time.NewTimer(startTimeout)
	defer timeout.Stop()
	select {
	case <-b.log.running:
		return b, ""
	case <-b.log.ended:
	case <-timeout.C:
	}
	b.end()
	return nil, b.log.String()
}

// end returns when mosquitto, its guard and the reader of its log have ended.
func (b *broker) end() {
	_ = b.lifeline.Close()
	_ = b.guard.Wait() // mosquitto was killed: its exit status has no meaning
	<-b.log.ended
}

func (b *broker) stop(t testing.TB) {
	b.end()
	testlog.Show(t, "mosquitto", b.log.String())
}

// A log collects the output of mosquitto.
type log struct {
	running chan struct{} // closed when mosquitto logs that it runs
	ended   chan struct{} // closed when mosquitto has ended

	mu   sync.Mutex
	text strings.Builder
}

func (l *log) readFrom(output *os.File) {
	defer close(l.ended)
	defer output.Close()
	lines := bufio.NewScanner(output)
	started := false
	for lines.Scan() {
		l.mu.Lock()
		l.text.WriteString(lines.Text() + "\n")
		l.mu.Unlock()
		if !started && strings.HasSuffix(lines.Text(), " running") {
			started = true
			close(l.running)
		}
	}
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
