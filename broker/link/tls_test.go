package link_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
)

func selfSigned(t *testing.T, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(c)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: c}, pool
}

// tlsProxy listens for TLS in front of a broker. shown has the common name of each
// client's certificate; cut ends the connections.
func tlsProxy(t *testing.T, b *brokertest.Broker, with *tls.Config) (url string, shown <-chan string, cut func()) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", with)
	if err != nil {
		t.Fatal(err)
	}
	names := make(chan string, 16)
	var mu sync.Mutex
	var open []net.Conn
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if err := c.(*tls.Conn).Handshake(); err != nil {
				c.Close()
				continue
			}
			inner, err := b.Dial(context.Background())
			if err != nil {
				c.Close()
				continue
			}
			name := ""
			if peers := c.(*tls.Conn).ConnectionState().PeerCertificates; len(peers) > 0 {
				name = peers[0].Subject.CommonName
			}
			names <- name
			mu.Lock()
			open = append(open, c, inner)
			mu.Unlock()
			for _, pair := range [][2]net.Conn{{c, inner}, {inner, c}} {
				all.Go(func() {
					_, _ = io.Copy(pair[0], pair[1]) // until one side closes
					pair[0].Close()
				})
			}
		}
	})
	cut = func() {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range open {
			c.Close()
		}
		open = nil
	}
	t.Cleanup(func() {
		l.Close()
		cut()
		all.Wait()
	})
	return "mqtts://" + l.Addr().String(), names, cut
}

func TestChangedCertificateIsUsedAtNextConnect(t *testing.T) {
	server, trusted := selfSigned(t, "server")
	first, _ := selfSigned(t, "first")
	second, _ := selfSigned(t, "second")
	present := first
	var mu sync.Mutex
	url, shown, cut := tlsProxy(t, brokertest.Start(t),
		&tls.Config{Certificates: []tls.Certificate{server}, ClientAuth: tls.RequestClientCert})
	cfg := robotConfig(nil, &userLog{})
	cfg.URL = url
	cfg.TLS = func() (*tls.Config, error) {
		mu.Lock()
		defer mu.Unlock()
		c := present
		return &tls.Config{RootCAs: trusted,
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &c, nil }}, nil
	}
	l := open(t, cfg)
	waitUp(t, l)
	if name := <-shown; name != "first" {
		t.Errorf("the link presented %q", name)
	}
	mu.Lock()
	present = second
	mu.Unlock()
	cut()
	if name := <-shown; name != "second" {
		t.Errorf("after the reconnect the link presented %q", name)
	}
}

func TestUntrustedBrokerIsRefused(t *testing.T) {
	server, trusted := selfSigned(t, "server")
	_, others := selfSigned(t, "other")
	for what, c := range map[string]struct {
		trusted *x509.CertPool
		with    *tls.Config
		good    bool
	}{
		"its own broker":    {trusted, &tls.Config{Certificates: []tls.Certificate{server}}, true},
		"an unknown CA":     {others, &tls.Config{Certificates: []tls.Certificate{server}}, false},
		"an older protocol": {trusted, &tls.Config{Certificates: []tls.Certificate{server}, MaxVersion: tls.VersionTLS12}, false},
	} {
		t.Run(what, func(t *testing.T) {
			url, _, _ := tlsProxy(t, brokertest.Start(t), c.with)
			cfg := robotConfig(nil, &userLog{})
			cfg.URL, cfg.TLS = url, func() (*tls.Config, error) { return &tls.Config{RootCAs: c.trusted}, nil }
			down := make(chan error, 16)
			cfg.OnState = func(s link.State) {
				select {
				case down <- s.Err:
				default:
				}
			}
			l := open(t, cfg)
			if c.good {
				waitUp(t, l)
				return
			}
			for err := range down {
				if err != nil {
					break
				}
			}
			if l.Session() != "" {
				t.Error("the link is up")
			}
		})
	}
}
