package mosquitto

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/deploy/mosquittotest"
	"troupe/fleetd/ca"
	"troupe/fleetd/vault"
	"troupe/schema"
)

// newCA makes a fleet's CA, with its keys in a folder as fleetd ca init leaves
// them.
func newCA(t *testing.T) *vault.Vault {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ca")
	if err := vault.Make(dir, "fleet", time.Now()); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// robotCertificate issues a robot's certificate and returns it with its chain.
func robotCertificate(t *testing.T, v *vault.Vault, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}, key)
	if err != nil {
		t.Fatal(err)
	}
	request, problem := ca.ReadRequest(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: csr})), name)
	if problem != nil {
		t.Fatal(problem)
	}
	leaf, err := v.Robot(request, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	c := tls.Certificate{PrivateKey: key, Leaf: leaf}
	for _, each := range v.Chain(leaf) {
		c.Certificate = append(c.Certificate, each.Raw)
	}
	return c
}

// shippedMosquitto is a running Mosquitto with every line of this folder's
// configuration.
type shippedMosquitto struct {
	t                           *testing.T
	folder                      string
	vault                       *vault.Vault
	clientAddress, robotAddress string // by password; by certificate
}

// revoke writes the revocation list. Mosquitto keeps the lists that it read before
// and uses the newest one, compared by whole seconds; so each list is dated later.
func (m *shippedMosquitto) revoke(number int64, revoked ...tls.Certificate) {
	m.t.Helper()
	var entries []ca.Revoked
	for _, c := range revoked {
		entries = append(entries, ca.Revoked{Serial: ca.Serial(c.Leaf), At: time.Now()})
	}
	list, err := m.vault.SignCRL(entries, number, time.Now().Add(time.Duration(number)*time.Second))
	if err == nil {
		err = os.WriteFile(filepath.Join(m.folder, "troupe", "crl.pem"), list, 0o600)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// reload has Mosquitto read its files again (SIGHUP).
func (m *shippedMosquitto) reload() {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.folder, "pid"))
	if err != nil {
		m.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		m.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
		m.t.Fatal(err)
	}
}

func startShipped(t *testing.T, v *vault.Vault, revoked ...tls.Certificate) *shippedMosquitto {
	t.Helper()
	folder := writeFiles(t)
	m := &shippedMosquitto{t: t, folder: folder, vault: v}
	in := func(name string) string { return filepath.Join(folder, "troupe", name) }
	if err := os.Mkdir(in(""), 0o700); err != nil {
		t.Fatal(err)
	}
	server, err := v.Server([]string{"localhost"}, []netip.Addr{netip.MustParseAddr("127.0.0.1")}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := vault.SavePair(in("cert.pem"), in("key.pem"), false, server, v.Chain(server.Certificate)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in("ca.pem"), ca.EncodeCertificates(v.Issuers()...), 0o600); err != nil {
		t.Fatal(err)
	}
	m.revoke(2, revoked...)
	m.robotAddress, m.clientAddress = mosquittotest.Shipped(t, folder)
	return m
}

// The whole configuration, with the listener for robots: a client with a
// certificate of the fleet has the name in it, whatever user name it sends, and
// may do what that robot may.
func TestRobotConnectsByCertificateAlone(t *testing.T) {
	v := newCA(t)
	r1, r2, otherFleet := robotCertificate(t, v, "r1"), robotCertificate(t, v, "r2"), robotCertificate(t, newCA(t), "r1")
	m := startShipped(t, v, r2)
	trusted := x509.NewCertPool()
	trusted.AddCert(v.Root())
	with := func(own ...tls.Certificate) brokertest.Dialer {
		return brokertest.OverTLS(m.robotAddress, &tls.Config{RootCAs: trusted, Certificates: own})
	}

	admin := connect(t, "mqtt://"+m.clientAddress, "admin")
	admin.Subscribe("#")
	robot := brokertest.Connect(t, with(r1), brokertest.ConnectPacket{Name: "r2", ClientID: "r1"})
	robot.Publish(ns.Topic(schema.TopicEvent, "r2"), "{}")
	robot.Publish(ns.Topic(schema.TopicCmd, "r2", "r1", "safety", "enable"), "")
	robot.Publish(ns.Topic(schema.TopicEvent, "r1"), "{}")
	admin.Expect(ns.Topic(schema.TopicEvent, "r1"))
	if got := admin.Inbox("#"); len(got) != 0 {
		t.Errorf("the broker also passed on %v", got)
	}
	robot.Subscribe(ns.Topic(schema.TopicCmd, "r1", "+", "+", "+"))
	connect(t, "mqtt://"+m.clientAddress, "op1").Publish(ns.Topic(schema.TopicCmd, "r1", "op1", "mode", "set"), "ato")
	robot.Expect(ns.Topic(schema.TopicCmd, "r1", "op1", "mode", "set"))

	for what, dial := range map[string]brokertest.Dialer{
		"a revoked robot":          with(r2),
		"a robot of another fleet": with(otherFleet),
		"a client without one":     with(),
	} {
		if c, code := brokertest.TryConnect(t, dial, brokertest.ConnectPacket{Name: "r1", Password: secret, ClientID: "x"}); code == 0 {
			c.Close()
			t.Errorf("%s was accepted", what)
		}
	}
	robot.Ping()

	m.revoke(3, r1, r2)
	m.reload()
	for deadline := time.Now().Add(brokertest.Timeout); ; {
		c, code := brokertest.TryConnect(t, with(r1), brokertest.ConnectPacket{ClientID: "r1"})
		if code != 0 {
			break
		}
		c.Close()
		if time.Now().After(deadline) {
			t.Fatal("a robot that was revoked meanwhile is still accepted")
		}
	}
}
