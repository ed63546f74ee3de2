package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"go.uber.org/goleak"

	"troupe/broker/brokertest"
	"troupe/broker/server"
)

// The tests in the table dangers pass with our broker. To check that they are worth
// something, run them against the server library without our guard:
//
//	go test ./broker/server -stock
//
// Each then runs in its own process, since some of them crash it, and must fail. A row
// whose test passes on the library as well says why it is kept.
var stock = flag.Bool("stock", false, "run the tests of the table dangers against the server library alone, where they must fail")

// stockEnv is set in the processes that -stock starts.
const stockEnv = "TROUPE_TEST_STOCK_BROKER"

func onStock() bool { return os.Getenv(stockEnv) != "" }

func TestMain(m *testing.M) {
	flag.Parse()
	switch {
	case onStock():
		os.Exit(m.Run()) // without goleak: the library leaks goroutines
	case *stock:
		os.Exit(againstStock(os.Stdout))
	default:
		goleak.VerifyTestMain(m)
	}
}

// danger is one way in which a broker can be harmed or cause harm.
type danger struct {
	what string
	test func(*testing.T)
	// stockHolds is why the library passes, too; empty if it must fail.
	stockHolds string
}

// start starts the broker under test: ours, or the library alone.
func start(t testing.TB, options ...func(*server.Config)) *brokertest.Broker {
	t.Helper()
	if !onStock() {
		return brokertest.Start(t, options...)
	}
	cfg := server.Config{MQTT: "127.0.0.1:0"}
	for _, o := range options {
		o(&cfg)
	}
	s, err := newStockBroker(cfg)
	if err != nil {
		t.Fatalf("start the library: %v", err)
	}
	t.Cleanup(func() {
		closed := make(chan struct{})
		go func() { _ = s.Close(); close(closed) }()
		select {
		case <-closed:
		case <-time.After(5 * time.Second): // it waits for silent connections
		}
	})
	return &brokertest.Broker{Backend: s}
}

// stockBroker is the library as its own examples start it: it accepts every client.
type stockBroker struct {
	srv    *mqtt.Server
	tcp    *listeners.TCP // nil: in-process only
	closed bool
}

func newStockBroker(cfg server.Config) (*stockBroker, error) {
	capabilities := mqtt.NewDefaultServerCapabilities()
	if cfg.MaxQueued > 0 { // the library has this setting itself
		capabilities.MaximumClientWritesPending = int32(cfg.MaxQueued)
	}
	s := &stockBroker{srv: mqtt.New(&mqtt.Options{Logger: slog.New(slog.DiscardHandler), Capabilities: capabilities})}
	if err := s.srv.AddHook(&server.AcceptAll{}, nil); err != nil {
		return nil, err
	}
	if cfg.MQTT != "" {
		s.tcp = listeners.NewTCP(listeners.Config{ID: "tcp", Address: cfg.MQTT})
		if err := s.srv.AddListener(s.tcp); err != nil {
			return nil, err
		}
	}
	return s, s.srv.Serve()
}

func (s *stockBroker) Dial(context.Context) (net.Conn, error) {
	if s.closed {
		return nil, errors.New("closed")
	}
	ours, theirs := server.NewPipe()
	go func() {
		_ = s.srv.EstablishConnection("pipe", ours)
		ours.Close()
	}()
	return theirs, nil
}

func (s *stockBroker) Addr() string {
	if s.tcp == nil {
		return ""
	}
	return s.tcp.Address()
}

// AddrOf knows only plain MQTT: the tests of the table need no more.
func (s *stockBroker) AddrOf(kind string) string {
	if kind != "mqtt" {
		return ""
	}
	return s.Addr()
}

func (*stockBroker) HTTPAddr() string { return "" }

func (s *stockBroker) Status() map[string]int64 {
	i := s.srv.Info.Clone()
	return map[string]int64{
		"clients": i.ClientsConnected, "subscriptions": i.Subscriptions, "retained": i.Retained,
		"deliveries_dropped": i.MessagesDropped, "inflight": i.Inflight, "inflight_dropped": i.InflightDropped,
		"packets_received": i.PacketsReceived,
	}
}

func (s *stockBroker) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	for _, cl := range s.srv.Clients.GetByListener("pipe") { // no listener closes these
		defer cl.Stop(nil)
	}
	return s.srv.Close()
}

// againstStock runs every row of the table against the library, prints the results, and
// returns the exit status: 1 if a row is not as declared.
func againstStock(out io.Writer) (status int) {
	results := make([]chan result, len(dangers))
	few := make(chan struct{}, 8) // more than there are processors, since the tests mostly wait
	for i, d := range dangers {
		results[i] = make(chan result, 1)
		go func() {
			few <- struct{}{}
			defer func() { <-few }()
			results[i] <- onStockAlone(nameOf(d.test))
		}()
	}
	for i, d := range dangers {
		r := <-results[i]
		failed, why := r.failed, r.why
		verdict := "fails: " + why
		switch {
		case !failed && d.stockHolds != "":
			verdict = "passes as declared: " + d.stockHolds
		case !failed:
			verdict, status = "PASSES, but should fail: "+why, 1
		case d.stockHolds != "":
			verdict, status = "FAILS, but should pass: "+why, 1
		}
		fmt.Fprintf(out, "%s\n\t%s\n\tstock %s\n", d.what, nameOf(d.test), verdict)
	}
	return status
}

func nameOf(test func(*testing.T)) string {
	full := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
	return full[strings.LastIndexByte(full, '.')+1:]
}

type result struct {
	failed bool
	why    string // it failed or did not run
}

// onStockAlone runs one test against the library in its own process and finds the line
// that says why it failed.
func onStockAlone(name string) result {
	cmd := exec.Command(os.Args[0], "-test.run=^"+name+"$", "-test.timeout=90s", "-test.v")
	cmd.Env = append(os.Environ(), stockEnv+"=1")
	output, err := cmd.CombinedOutput()
	if err == nil {
		if !bytes.Contains(output, []byte("--- PASS: "+name)) {
			return result{why: "the test did not run"}
		}
		return result{}
	}
	why := err.Error()
	lines := bufio.NewScanner(bytes.NewReader(output))
	lines.Buffer(nil, len(output)+1)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			why = line
			break
		}
		if _, said, inTest := strings.Cut(line, "_test.go:"); inTest && !strings.Contains(line, " +0x") {
			_, why, _ = strings.Cut(said, ": ") // the last one counts
		}
	}
	return result{failed: true, why: fmt.Sprintf("%.160s", why)}
}

// -stock could not run a row without a test of this package.
func TestEachDangerHasATest(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range dangers {
		name := nameOf(d.test)
		if !strings.HasPrefix(name, "Test") || d.what == "" || seen[d.what] {
			t.Errorf("%q: %s", d.what, name)
		}
		seen[d.what] = true
	}
}
