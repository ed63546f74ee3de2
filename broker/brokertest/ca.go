package brokertest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"troupe/broker/server"
	"troupe/broker/websocket"
	"troupe/schema"
)

// CA signs certificates for one test and writes the files that a broker reads into a
// folder: ca.pem, server.pem, server.key.pem, crl.pem.
type CA struct {
	t      testing.TB
	folder string
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	next   int64 // serial number
}

// NewCA makes a CA, a certificate for a broker on this machine, and an empty CRL.
func NewCA(t testing.TB) *CA {
	t.Helper()
	a := &CA{t: t, folder: t.TempDir(), key: newKey(t)}
	a.cert = a.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(48 * time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign}, &a.key.PublicKey)
	a.Write("ca.pem", encode("CERTIFICATE", a.cert.Raw))
	a.IssueServer(24 * time.Hour)
	a.Revoke()
	return a
}

// Path is the path of a file in the folder.
func (a *CA) Path(name string) string { return filepath.Join(a.folder, name) }

// Write replaces a file of the folder atomically.
func (a *CA) Write(name string, text []byte) {
	a.t.Helper()
	fresh := a.Path(name) + ".new"
	if err := os.WriteFile(fresh, text, 0o600); err != nil {
		a.t.Fatal(err)
	}
	if err := os.Rename(fresh, a.Path(name)); err != nil {
		a.t.Fatal(err)
	}
}

// IssueServer makes a new certificate for the broker, valid for life. change may make it an
// invalid one.
func (a *CA) IssueServer(life time.Duration, change ...func(*x509.Certificate)) *x509.Certificate {
	a.t.Helper()
	key := newKey(a.t)
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotAfter: time.Now().Add(life), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, c := range change {
		c(template)
	}
	cert := a.sign(template, &key.PublicKey)
	a.Write("server.key.pem", encodeKey(a.t, key))
	a.Write("server.pem", encode("CERTIFICATE", cert.Raw))
	return cert
}

// Revoke replaces the CRL by one that revokes certs.
func (a *CA) Revoke(certs ...tls.Certificate) {
	a.t.Helper()
	list := &x509.RevocationList{Number: big.NewInt(a.serial()), ThisUpdate: time.Now(), NextUpdate: time.Now().Add(30 * 24 * time.Hour)}
	for _, c := range certs {
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: c.Leaf.SerialNumber, RevocationTime: time.Now()})
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, a.cert, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	a.Write("crl.pem", encode("X509 CRL", der))
}

// IssueClient makes the certificate of a robot or a fleetd instance. change may make it an
// invalid one.
func (a *CA) IssueClient(role schema.Role, name string, change ...func(*x509.Certificate)) tls.Certificate {
	a.t.Helper()
	key := newKey(a.t)
	template := &x509.Certificate{Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	if urn, err := url.Parse(schema.IdentityURN(role, name)); err == nil {
		template.URIs = []*url.URL{urn}
	}
	for _, c := range change {
		c(template)
	}
	cert := a.sign(template, &key.PublicKey)
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
}

// SaveClient writes a client's certificate and key into the folder.
func (a *CA) SaveClient(c tls.Certificate, certificate, key string) {
	a.t.Helper()
	a.Write(key, encodeKey(a.t, c.PrivateKey.(*ecdsa.PrivateKey)))
	a.Write(certificate, encode("CERTIFICATE", c.Leaf.Raw))
}

// TLS is the configuration of a client that trusts this CA, with or without a certificate
// of its own.
func (a *CA) TLS(own ...tls.Certificate) *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{RootCAs: pool, ServerName: "localhost", Certificates: own}
}

// Configure makes a broker listen for MQTT over TLS and accept certificates of this CA.
func (a *CA) Configure(c *server.Config) {
	c.MQTTS = "127.0.0.1:0"
	c.Files = server.Files{Users: c.Files.Users, Cert: a.Path("server.pem"), Key: a.Path("server.key.pem"), ClientCA: a.Path("ca.pem"),
		CRL: a.Path("crl.pem")}
}

// TLSProxy is a TLS proxy with the present server certificate in front of a broker without
// TLS: a broker itself would not present an expired certificate.
func (a *CA) TLSProxy(to Dialer) (addr string) {
	a.t.Helper()
	pair, err := tls.LoadX509KeyPair(a.Path("server.pem"), a.Path("server.key.pem"))
	if err != nil {
		a.t.Fatal(err)
	}
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert})
	if err != nil {
		a.t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	var all sync.WaitGroup
	a.t.Cleanup(func() {
		end()
		_ = ln.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			near, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() { proxy(ctx, near, to) })
		}
	})
	return ln.Addr().String()
}

// proxy copies bytes between two connections until one of them or ctx ends.
func proxy(ctx context.Context, near net.Conn, to Dialer) {
	defer near.Close()
	far, err := to(ctx)
	if err != nil {
		return
	}
	defer far.Close()
	defer context.AfterFunc(ctx, func() { _ = near.Close() })()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(near, far)
		_ = near.Close()
	})
	_, _ = io.Copy(far, near)
	_ = far.Close()
	back.Wait()
}

// OverTLS dials MQTT over TLS.
func OverTLS(addr string, config *tls.Config) Dialer {
	return func(ctx context.Context) (net.Conn, error) {
		d := tls.Dialer{Config: config}
		return d.DialContext(ctx, "tcp", addr)
	}
}

// OverWebSocket dials a URL of MQTT over WebSocket, ws or wss.
func OverWebSocket(url string, config *tls.Config) Dialer {
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return websocket.Dial(ctx, url, d.DialContext, config)
	}
}

func (a *CA) serial() int64 {
	a.next++
	return a.next
}

func (a *CA) sign(template *x509.Certificate, key *ecdsa.PublicKey) *x509.Certificate {
	a.t.Helper()
	template.SerialNumber = big.NewInt(0xc0ffee00 + a.serial())
	if template.NotBefore.IsZero() {
		template.NotBefore = time.Now().Add(-time.Hour)
	}
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(24 * time.Hour)
	}
	parent := a.cert
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func encodeKey(t testing.TB, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return encode("PRIVATE KEY", der)
}
