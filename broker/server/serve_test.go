package server_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/server"
)

// unservable are certificates that fit their keys and that every client refuses.
var unservable = map[string]struct {
	life   time.Duration
	change func(*x509.Certificate)
	says   string
}{
	"one that has ended":        {-time.Minute, func(*x509.Certificate) {}, "ended at"},
	"one that has yet to begin": {2 * time.Hour, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) }, "not valid yet"},
	"a client's": {time.Hour, func(c *x509.Certificate) {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}, "serverAuth"},
}

func TestACertificateThatClientsRefuseReplacesNoGoodOne(t *testing.T) {
	for what, bad := range unservable {
		t.Run(what, func(t *testing.T) {
			ca := brokertest.NewCA(t)
			b := brokertest.Start(t, ca.Broker)
			good := served(t, b, ca)
			ca.Serve(bad.life, bad.change)
			eventually(t, "the new file is refused", func() bool { return b.Status()["files_refused"] > 0 })
			if now := served(t, b, ca); !bytes.Equal(now, good) {
				t.Error("another certificate is shown")
			}
			next := ca.Serve(time.Hour)
			eventually(t, "a good one is taken", func() bool { return bytes.Equal(served(t, b, ca), next.Raw) })
		})
	}
}

// served is the certificate that b shows to who believes the CA.
func served(t *testing.T, b *brokertest.Broker, ca *brokertest.CA) []byte {
	t.Helper()
	c, err := tls.Dial("tcp", b.AddrOf("mqtts"), ca.TLS())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].Raw
}

func TestABrokerDoesNotStartWithACertificateThatClientsRefuse(t *testing.T) {
	for what, bad := range unservable {
		ca := brokertest.NewCA(t)
		ca.Serve(bad.life, bad.change)
		cfg := server.Config{Dev: true}
		ca.Broker(&cfg)
		s, err := server.New(cfg)
		if s != nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), bad.says) || !strings.Contains(err.Error(), "server.pem") {
			t.Errorf("%s: error %v", what, err)
		}
	}
}
