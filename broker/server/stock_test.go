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

// The tests in the table dangers hold for our broker. To see what they are good
// for, run them against the server library as it comes:
//
//	go test ./broker/server -stock
//
// Each then runs in a process of its own, for some of them end it, and must fail
// there. A row whose test passes on the library as well says why it is kept.
var stock = flag.Bool("stock", false, "run the tests of the table against the server library as it comes, where they must fail")

// stockEnv is set in the processes that -stock starts.
const stockEnv = "TROUPE_TEST_STOCK_BROKER"

func onStock() bool { return os.Getenv(stockEnv) != "" }

func TestMain(m *testing.M) {
	flag.Parse()
	switch {
	case onStock():
		os.Exit(m.Run()) // leaks are the library's
	case *stock:
		os.Exit(againstStock(os.Stdout))
	default:
		goleak.VerifyTestMain(m)
	}
}

// danger is one way to harm a broker, or to be harmed by it.
type danger struct {
	what string
	test func(*testing.T)
	// stockHolds is why the library passes, too; empty where it must fail.
	stockHolds string
}

// start runs the broker under test: ours, or the library with the same listeners.
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
		case <-time.After(5 * time.Second): // it waits for connections that say nothing
		}
	})
	return &brokertest.Broker{Post: s}
}

// stockBroker is the library as its own examples start it: it takes everybody.
type stockBroker struct {
	srv    *mqtt.Server
	tcp    *listeners.TCP // nil: in-process only
	closed bool
}

func newStockBroker(cfg server.Config) (*stockBroker, error) {
	can := mqtt.NewDefaultServerCapabilities()
	if cfg.MaxPending > 0 { // which is the library's own setting
		can.MaximumClientWritesPending = int32(cfg.MaxPending)
	}
	s := &stockBroker{srv: mqtt.New(&mqtt.Options{Logger: slog.New(slog.DiscardHandler), Capabilities: can})}
	if err := s.srv.AddHook(&server.TakesAll{}, nil); err != nil {
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

// AddrOf is that of nothing but plain MQTT: the tests of the table need no more.
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
		"deliveries_dropped": i.MessagesDropped, "inflight": i.Inflight, "inflight_dropped": i.InflightDropped, "packets_received": i.PacketsReceived,
	}
}

func (s *stockBroker) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	for _, cl := range s.srv.Clients.GetByListener("pipe") { // which no listener closes
		defer cl.Stop(nil)
	}
	return s.srv.Close()
}

// againstStock runs every row of the table against the library, tells what came
// of it, and returns the status of the process: 1 if a row is not as it says.
func againstStock(out io.Writer) (status int) {
	results := make([]chan result, len(dangers))
	few := make(chan struct{}, 8) // most of their time they wait
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
			verdict = "holds it too: " + d.stockHolds
		case !failed:
			verdict, status = "HOLDS, and should fail: "+why, 1
		case d.stockHolds != "":
			verdict, status = "FAILS, and should hold: "+why, 1
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
	why    string // it failed, or else did not
}

// onStockAlone runs one test against the library in a process of its own and
// finds the line that says why it failed.
func onStockAlone(name string) result {
	cmd := exec.Command(os.Args[0], "-test.run=^"+name+"$", "-test.timeout=90s", "-test.v")
	cmd.Env = append(os.Environ(), stockEnv+"=1")
	output, err := cmd.CombinedOutput()
	if err == nil {
		if !bytes.Contains(output, []byte("--- PASS: "+name)) {
			return result{why: "it did not run"}
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
			_, why, _ = strings.Cut(said, ": ") // the last word that it said
		}
	}
	return result{failed: true, why: fmt.Sprintf("%.160s", why)}
}

// A row that names no test of this package would never be run by -stock.
func TestEveryDangerOfTheTableHasItsTest(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range dangers {
		name := nameOf(d.test)
		if !strings.HasPrefix(name, "Test") || d.what == "" || seen[d.what] {
			t.Errorf("%q: %s", d.what, name)
		}
		seen[d.what] = true
	}
}
