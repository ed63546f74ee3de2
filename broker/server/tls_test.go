package server_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/broker/access"
	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema"
)

// usersOf writes a users file and configures a broker to read it.
func usersOf(ca *brokertest.CA, text string) func(*server.Config) {
	ca.Write("users", []byte(text))
	return func(c *server.Config) { c.Dev, c.Files.Users = false, ca.Path("users") }
}

// byTLS connects over TLS with a certificate.
func byTLS(t *testing.T, b *brokertest.Broker, ca *brokertest.CA, h brokertest.ConnectPacket, own ...tls.Certificate) (*brokertest.Client,
	byte) {
	t.Helper()
	return brokertest.TryConnect(t, brokertest.OverTLS(b.AddrOf("mqtts"), ca.TLS(own...)), h)
}

func TestCertificateDeterminesIdentity(t *testing.T) {
	ca, other := brokertest.NewCA(t), brokertest.NewCA(t)
	b := brokertest.Start(t, usersOf(ca, "op1 operator\n"), ca.Configure)
	robot := ca.IssueClient(schema.RoleRobot, "r1")
	urn := func(text string) *url.URL {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	two := ca.IssueClient(schema.RoleRobot, "r1", func(c *x509.Certificate) { c.URIs = append(c.URIs, urn("urn:troupe:robot:r2")) })
	misnamed := ca.IssueClient(schema.RoleRobot, "r1", func(c *x509.Certificate) { c.Subject.CommonName = "r2" })
	unnamed := ca.IssueClient(schema.RoleRobot, "r1", func(c *x509.Certificate) { c.URIs = nil })
	otherRole := ca.IssueClient(schema.RoleRobot, "r1", func(c *x509.Certificate) { c.URIs = []*url.URL{urn("urn:troupe:admin:r1")} })
	for _, c := range []struct {
		why     string
		connect brokertest.ConnectPacket
		own     []tls.Certificate
		code    byte
	}{
		{"a robot", brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}, []tls.Certificate{robot}, 0},
		{"a robot that gives no user name", brokertest.ConnectPacket{ClientID: "r1"}, []tls.Certificate{robot}, 0},
		{"a robot's blob connection", brokertest.ConnectPacket{ClientID: "r1.blob"}, []tls.Certificate{robot}, 0},
		{"a fleetd instance", brokertest.ConnectPacket{Name: "fleetd", ClientID: "fleetd"},
			[]tls.Certificate{ca.IssueClient(schema.RoleFleetd, "fleetd")}, 0},
		{"a person with a line in the users file", brokertest.ConnectPacket{Name: "op1", ClientID: "op1"}, nil, 0},

		{"a robot with another's name", brokertest.ConnectPacket{Name: "r2", ClientID: "r2"}, []tls.Certificate{robot}, 5},
		{"a robot with another's id", brokertest.ConnectPacket{Name: "r1", ClientID: "r2"}, []tls.Certificate{robot}, 2},
		{"a robot without an id", brokertest.ConnectPacket{Name: "r1"}, []tls.Certificate{robot}, 2},
		{"a robot with an operator's name", brokertest.ConnectPacket{Name: "op1", ClientID: "op1"}, []tls.Certificate{robot}, 5},
		{"a robot without its certificate", brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}, nil, 4},
		{"a certificate with two names", brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}, []tls.Certificate{two}, 5},
		{"a certificate with another common name", brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}, []tls.Certificate{misnamed}, 5},
		{"a certificate without a URI", brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}, []tls.Certificate{unnamed}, 5},
		{"a certificate for another role", brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}, []tls.Certificate{otherRole}, 5},
	} {
		got, code := byTLS(t, b, ca, c.connect, c.own...)
		if code != c.code {
			t.Errorf("%s: code %d, want %d", c.why, code, c.code)
		}
		if got != nil {
			got.Close()
		}
	}
	unknown := other.IssueClient(schema.RoleRobot, "r1")
	expired := ca.IssueClient(schema.RoleRobot, "r1", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	server := ca.IssueClient(schema.RoleRobot, "r1",
		func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} })
	for why, own := range map[string]tls.Certificate{"of another CA": unknown, "that has expired": expired, "for servers": server} {
		config := ca.TLS()
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own, nil }
		if _, code := brokertest.TryConnect(t, brokertest.OverTLS(b.AddrOf("mqtts"), config),
			brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}); code == 0 {
			t.Errorf("accepted a certificate %s", why)
		}
	}
}

func TestRobotWithCertificateHasRobotRights(t *testing.T) {
	ca := brokertest.NewCA(t)
	b := brokertest.Start(t, usersOf(ca, "obs observer\n"), ca.Configure)
	robot, code := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "r1"}, ca.IssueClient(schema.RoleRobot, "r1"))
	if code != 0 {
		t.Fatalf("code %d", code)
	}
	watcher, code := byTLS(t, b, ca, brokertest.ConnectPacket{Name: "obs", ClientID: "obs"})
	if code != 0 {
		t.Fatalf("code %d", code)
	}
	watcher.Subscribe("troupe/v1/robots/#")
	robot.Publish("troupe/v1/robots/r2/event", "{}")
	robot.Publish("troupe/v1/robots/r1/event", "{}")
	if m := watcher.Expect("#"); m.Topic != "troupe/v1/robots/r1/event" {
		t.Fatalf("received %v", m)
	}
}

func TestOlderTLSIsRefused(t *testing.T) {
	ca := brokertest.NewCA(t)
	b := brokertest.Start(t, ca.Configure)
	config := ca.TLS()
	config.MaxVersion = tls.VersionTLS12
	if conn, err := tls.Dial("tcp", b.AddrOf("mqtts"), config); err == nil {
		conn.Close()
		t.Fatal("TLS 1.2 is accepted")
	}
}

func TestPlaintextOnReachableAddressNeedsFlag(t *testing.T) {
	users, err := access.ParseUsers(strings.NewReader("op1 operator " + someHash + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []server.Config{{MQTT: "0.0.0.0:0"}, {WS: ":0"}, {MQTT: "[::]:0"}, {WS: "192.0.2.1:80"}, {HTTP: "0.0.0.0:0"}} {
		c.Users = &users
		if s, err := server.New(c); err == nil {
			s.Close()
			t.Errorf("%s%s%s is accepted without encryption", c.MQTT, c.WS, c.HTTP)
		} else if !strings.Contains(err.Error(), "--plaintext") {
			t.Errorf("%s%s%s: error %v", c.MQTT, c.WS, c.HTTP, err)
		}
	}
	s, err := server.New(server.Config{MQTT: "0.0.0.0:0", WS: "0.0.0.0:0", HTTP: "0.0.0.0:0", Plaintext: true, Users: &users})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, c := range []server.Config{
		{MQTTS: "127.0.0.1:0", Dev: true}, // no certificate
		{MQTTS: "127.0.0.1:0", Dev: true, Files: server.Files{Cert: "x"}},
		{MQTT: "127.0.0.1:0", Files: server.Files{ClientCA: "x"}},
		{MQTT: "127.0.0.1:0", Dev: true, Files: server.Files{CRL: "x"}},
		{WSS: "0.0.0.0:0", Dev: true, Files: server.Files{Cert: "x", Key: "y"}},
	} {
		if s, err := server.New(c); err == nil {
			s.Close()
			t.Errorf("%+v is accepted", c)
		}
	}
}

func TestStalledHandshakeIsCut(t *testing.T) {
	t.Parallel()
	ca := brokertest.NewCA(t)
	b := brokertest.Start(t, ca.Configure, func(c *server.Config) {
		c.ConnectTimeout, c.MaxWaitingIP, c.WS, c.WSS = 300*time.Millisecond, 2, "127.0.0.1:0", "127.0.0.1:0"
	})
	for _, kind := range []string{"mqtts", "ws", "wss"} {
		for _, first := range [][]byte{nil, {0x16, 3, 1, 2, 0, 1}, []byte("GET /mqtt HTTP/1.1\r\nHost: x\r\n")} {
			c, err := net.Dial("tcp", b.AddrOf(kind))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = c.Write(first)
			_ = c.SetReadDeadline(time.Now().Add(brokertest.Timeout))
			if _, err := io.Copy(io.Discard, c); err != nil && isTimeout(err) {
				t.Errorf("%s, after % x: still open", kind, first)
			}
			c.Close()
		}
	}
	// Connections in the handshake count as waiting for CONNECT, until they are cut.
	brokertest.Eventually(t, "a connection refused for the limit", func() bool {
		for range 3 {
			c, err := net.Dial("tcp", b.AddrOf("mqtts"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
		}
		return b.Status()["connections_over_cap"] > 0
	})
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// logBuffer is a log for tests to read.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logBuffer) holds(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), s)
}

func (l *logBuffer) into(c *server.Config) { c.Logger = slog.New(slog.NewTextHandler(l, nil)) }

func presentedCertificate(t *testing.T, b *brokertest.Broker, ca *brokertest.CA) *x509.Certificate {
	t.Helper()
	c, err := tls.Dial("tcp", b.AddrOf("mqtts"), ca.TLS())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0]
}

func TestServerCertificateIsReloaded(t *testing.T) {
	t.Parallel()
	ca := brokertest.NewCA(t)
	var log logBuffer
	b := brokertest.Start(t, ca.Configure, log.into)
	robot, code := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "r1"}, ca.IssueClient(schema.RoleRobot, "r1"))
	if code != 0 {
		t.Fatalf("code %d", code)
	}
	second := ca.IssueServer(time.Hour)
	brokertest.Eventually(t, "the new certificate", func() bool { return presentedCertificate(t, b, ca).Equal(second) })
	if !log.holds("expires soon") {
		t.Error("no warning although the certificate expires within the hour")
	}
	ca.Write("server.pem", []byte("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n"))
	brokertest.Eventually(t, "the log of the refused file", func() bool { return log.holds("changed file refused") })
	if !presentedCertificate(t, b, ca).Equal(second) {
		t.Error("the valid certificate is no longer presented")
	}
	if err := os.Remove(ca.Path("server.key.pem")); err != nil {
		t.Fatal(err)
	}
	brokertest.Eventually(t, "the log of the missing key", func() bool { return log.holds("no such file") })
	third := ca.IssueServer(time.Hour)
	brokertest.Eventually(t, "the third certificate", func() bool { return presentedCertificate(t, b, ca).Equal(third) })
	robot.Ping() // renewal disconnects no client
}

func TestInvalidFileAtStartIsAnError(t *testing.T) {
	other := brokertest.NewCA(t)
	foreign, err := os.ReadFile(other.Path("crl.pem"))
	if err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"server.pem": "nonsense", "server.key.pem": "nonsense", "ca.pem": "nonsense", "users": "r1 king\n",
		"crl.pem": string(foreign),
	} {
		ca := brokertest.NewCA(t)
		cfg := server.Config{}
		usersOf(ca, "op1 operator\n")(&cfg)
		ca.Configure(&cfg)
		ca.Write(file, []byte(text))
		if s, err := server.New(cfg); err == nil {
			s.Close()
			t.Errorf("started with an invalid %s", file)
		}
	}
}

func TestStatusHasListenersAndExpiries(t *testing.T) {
	ca := brokertest.NewCA(t)
	ca.IssueServer(10*24*time.Hour + time.Hour)
	b := brokertest.Start(t, ca.Configure, func(c *server.Config) { c.HTTP, c.WSS = "127.0.0.1:0", "127.0.0.1:0" })
	resp, err := http.Get("http://" + b.HTTPAddr() + "/status")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer resp.Body.Close()
	var status struct {
		Listeners   []struct{ Kind, Address string }
		Certificate struct{ Days int }
		CRL         struct{ Days int }
	}
	if err := json.NewDecoder(resp.Body).Decode(&status); err != nil {
		t.Fatal(err)
	}
	if status.Certificate.Days != 10 || status.CRL.Days != 29 {
		t.Errorf("status %+v", status)
	}
	var kinds []string
	for _, l := range status.Listeners {
		kinds = append(kinds, l.Kind)
		if l.Address != b.AddrOf(l.Kind) {
			t.Errorf("%s listens at %s, /status has %s", l.Kind, b.AddrOf(l.Kind), l.Address)
		}
	}
	if got := strings.Join(kinds, " "); got != "mqtt mqtts wss" {
		t.Errorf("listeners %s", got)
	}
}
