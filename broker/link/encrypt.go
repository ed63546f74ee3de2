package link

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"
)

// Files are certificates on disk, in PEM. Empty paths are left out.
type Files struct {
	CA        string // who may have signed the broker's certificate; else whom this machine trusts
	Cert, Key string // our own, with what signed it but for the root
}

// TLS reads the files as they are now, for Config.TLS.
func (f Files) TLS() (*tls.Config, error) {
	c := &tls.Config{}
	if f.CA != "" {
		text, err := os.ReadFile(f.CA)
		if err != nil {
			return nil, err
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s holds no certificate", f.CA)
		}
	}
	if f.Cert != "" {
		own, err := tls.LoadX509KeyPair(f.Cert, f.Key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{own}
		c.Time = func() time.Time { return later(time.Now(), own.Leaf.NotBefore) }
	}
	return c, nil
}

// encryption is how to speak to the broker at to; nil: in the clear.
func (c *Config) encryption(to address) (*tls.Config, error) {
	if !to.encrypted {
		return nil, nil
	}
	how := &tls.Config{}
	if c.TLS != nil {
		given, err := c.TLS()
		if err != nil {
			return nil, err
		}
		how = given.Clone()
	}
	how.ServerName = cmp.Or(how.ServerName, to.host)
	how.MinVersion = max(how.MinVersion, tls.VersionTLS13)
	if own := how.Certificates; len(own) == 1 && how.GetClientCertificate == nil {
		// Shown whomever the broker says it believes: it answers better than silence.
		how.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own[0], nil }
	}
	if how.RootCAs != nil && !how.InsecureSkipVerify {
		v := verifier{roots: how.RootCAs, host: how.ServerName, clock: how.Time, then: how.VerifyConnection}
		how.InsecureSkipVerify, how.VerifyConnection = true, v.verify // instead of the library, never besides
	}
	return how, nil
}

// verifier holds a broker's certificates against our own CA.
//
// A robot may come up with a clock that is years behind. What the CA has signed
// proves that its beginning has passed: no clock is believed that says otherwise.
// That is the one difference from what the library does.
type verifier struct {
	roots *x509.CertPool
	host  string
	clock func() time.Time                // nil: the system's
	then  func(tls.ConnectionState) error // asked last; nil: nobody
}

func (v verifier) verify(s tls.ConnectionState) error {
	chain := s.PeerCertificates
	if len(chain) == 0 {
		return errors.New("the broker shows no certificate")
	}
	now := time.Now
	if v.clock != nil {
		now = v.clock
	}
	o := x509.VerifyOptions{Roots: v.roots, DNSName: v.host, Intermediates: x509.NewCertPool(), CurrentTime: now()}
	for _, cert := range chain[1:] {
		o.Intermediates.AddCert(cert)
	}
	for _, cert := range chain { // believed only if their signatures are found good
		o.CurrentTime = later(o.CurrentTime, cert.NotBefore)
	}
	if _, err := chain[0].Verify(o); err != nil || v.then == nil {
		return err
	}
	return v.then(s)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
