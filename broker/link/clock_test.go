package link

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"time"
)

// issue signs a certificate for the broker with that validity, or without a CA the CA's
// own.
func issue(t *testing.T, ca *x509.Certificate, key *ecdsa.PrivateKey, from, to time.Time) *x509.Certificate {
	t.Helper()
	c := &x509.Certificate{SerialNumber: big.NewInt(from.Unix()), Subject: pkix.Name{CommonName: "x"}, NotBefore: from, NotAfter: to}
	parent := ca
	if ca == nil {
		c.IsCA, c.BasicConstraintsValid, c.KeyUsage, parent = true, true, x509.KeyUsageCertSign, c
	} else {
		c.DNSNames, c.ExtKeyUsage = []string{"broker"}, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClockYearsBehindDoesNotFailVerification(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	day := func(n int) time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, n) }
	ca := issue(t, nil, key, day(0), day(7000))
	another, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	foreign := issue(t, nil, another, day(0), day(7000))
	trust := func(by *x509.Certificate, clock time.Time, host string, shown ...*x509.Certificate) error {
		pool := x509.NewCertPool()
		pool.AddCert(by)
		// As if our own certificate were valid from day 100.
		v := verifier{roots: pool, host: host, clock: func() time.Time { return later(clock, day(100)) }}
		return v.verify(tls.ConnectionState{PeerCertificates: shown})
	}
	for _, c := range []struct {
		why      string
		clock    time.Time
		from, to int // days in which the broker's certificate is valid
		holds    bool
	}{
		{"the clock is right", day(120), 90, 150, true},
		{"the clock is right and the certificate has expired", day(151), 90, 150, false},
		{"the clock begins in 1970", time.Unix(0, 0), 90, 150, true},
		{"the clock begins in 1970 and the broker's certificate is newer than ours", time.Unix(0, 0), 130, 150, true},
		{"the clock begins in 1970 and the certificate had expired when ours was made", time.Unix(0, 0), 1, 99, false},
	} {
		server := issue(t, ca, key, day(c.from), day(c.to))
		if err := trust(ca, c.clock, "broker", server); (err == nil) != c.holds {
			t.Errorf("%s: %v", c.why, err)
		}
		if err := trust(ca, c.clock, "another", server); err == nil {
			t.Errorf("%s: another host name is accepted", c.why)
		}
		if err := trust(foreign, c.clock, "broker", server); err == nil {
			t.Errorf("%s: the certificate of an unknown CA is accepted", c.why)
		}
	}
	if err := trust(ca, day(120), "broker"); err == nil {
		t.Error("a broker without a certificate is accepted")
	}
}
