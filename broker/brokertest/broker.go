package brokertest

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"testing"

	"troupe/broker/access"
	"troupe/broker/server"
	"troupe/schema/testlog"
)

// Broker is a running broker that is closed at the end of its test.
type Broker struct{ Backend }

// Backend is what tests need of a broker: server.Server, or another one in its place.
type Backend interface {
	// Dial opens an in-process connection.
	Dial(ctx context.Context) (net.Conn, error)
	// Addr and HTTPAddr are empty if the broker does not listen there.
	Addr() string
	AddrOf(kind string) string
	HTTPAddr() string
	// Status returns the counters of server.Server; another broker may lack some.
	Status() map[string]int64
	Close() error
}

// Start starts a broker on a free port of this machine that accepts every client without a
// password. options may change its configuration.
func Start(t testing.TB, options ...func(*server.Config)) *Broker {
	t.Helper()
	cfg := server.Config{MQTT: "127.0.0.1:0", Dev: true}
	for _, o := range options {
		o(&cfg)
	}
	s, err := server.New(cfg)
	if err != nil {
		t.Fatalf("start broker: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close broker: %v", err)
		}
	})
	return &Broker{s}
}

// WithCertificates starts it for MQTT over TLS at an address, with certificates from these files. Clients need one, too.
func WithCertificates(mqtts, cert, key, clientCA, crl string) func(*server.Config) {
	return func(c *server.Config) {
		c.MQTT, c.MQTTS, c.Dev = "", mqtts, false
		c.Files = server.Files{Cert: cert, Key: key, ClientCA: clientCA, CRL: crl}
	}
}

// InProcess starts the broker without a port: clients connect with Dial. Only this form
// works in a synctest bubble, where real sockets cannot block.
func InProcess(c *server.Config) { c.MQTT = "" }

// AsBus starts the broker as the bus of a robot.
func AsBus(c *server.Config) { c.Bus = true }

// Users starts the broker with a users file instead of accepting every client.
func Users(t testing.TB, text string) func(*server.Config) {
	t.Helper()
	users, err := access.ParseUsers(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return func(c *server.Config) { c.Dev, c.Users = false, &users }
}

// OverEveryTransport lets a broker with certificates also listen for WebSocket, with and
// without TLS.
func OverEveryTransport(c *server.Config) { c.WS, c.WSS = "127.0.0.1:0", "127.0.0.1:0" }

// Log shows the broker's log if the test fails.
func Log(t testing.TB) func(*server.Config) {
	return func(c *server.Config) {
		c.Logger = slog.New(slog.NewTextHandler(testlog.Writer(t, "broker"), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
}

// URL is the broker's URL for plain MQTT.
func (b *Broker) URL() string { return "mqtt://" + b.Addr() }

// Client connects in-process as name, with client id name.test (or name, for robots).
func (b *Broker) Client(t testing.TB, name string, options ...func(*ConnectPacket)) *Client {
	t.Helper()
	return Connect(t, b.Dial, ConnectPacket{Name: name, ClientID: defaultID(name)}, options...)
}

// Dialer opens a connection to a broker.
type Dialer func(ctx context.Context) (net.Conn, error)

// TCP dials the broker at url, mqtt://host:port or just host:port.
func TCP(url string) Dialer {
	addr := strings.TrimPrefix(url, "mqtt://")
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", addr)
	}
}

// NewBus starts the bus of a robot, without a port. The caller closes it.
func NewBus(t testing.TB) Backend {
	t.Helper()
	s, err := server.New(server.Config{Dev: true, Bus: true})
	if err != nil {
		t.Fatalf("start the bus: %v", err)
	}
	return s
}
