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

// unservable are certificates that match their keys but that every client refuses.
var unservable = map[string]struct {
	life   time.Duration
	change func(*x509.Certificate)
	says   string
}{
	"an expired one":    {-time.Minute, func(*x509.Certificate) {}, "expired at"},
	"one not valid yet": {2 * time.Hour, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) }, "not valid yet"},
	"a client certificate": {time.Hour, func(c *x509.Certificate) {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}, "serverAuth"},
}

func TestUnservableCertificateIsNotLoaded(t *testing.T) {
	for what, bad := range unservable {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			ca := brokertest.NewCA(t)
			b := brokertest.Start(t, ca.Configure)
			good := presentedDER(t, b, ca)
			ca.IssueServer(bad.life, bad.change)
			brokertest.Eventually(t, "the new file is refused", func() bool { return b.Status()["files_refused"] > 0 })
			if now := presentedDER(t, b, ca); !bytes.Equal(now, good) {
				t.Error("another certificate is presented")
			}
			next := ca.IssueServer(time.Hour)
			brokertest.Eventually(t, "the valid certificate is presented", func() bool { return bytes.Equal(presentedDER(t, b, ca), next.Raw) })
		})
	}
}

// presentedDER is the certificate that b presents.
func presentedDER(t *testing.T, b *brokertest.Broker, ca *brokertest.CA) []byte {
	t.Helper()
	c, err := tls.Dial("tcp", b.AddrOf("mqtts"), ca.TLS())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].Raw
}

func TestStartIsRefusedWithUnservableCertificate(t *testing.T) {
	for what, bad := range unservable {
		ca := brokertest.NewCA(t)
		ca.IssueServer(bad.life, bad.change)
		cfg := server.Config{Dev: true}
		ca.Configure(&cfg)
		s, err := server.New(cfg)
		if s != nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), bad.says) || !strings.Contains(err.Error(), "server.pem") {
			t.Errorf("%s: error %v", what, err)
		}
	}
}
