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

// Files are the paths of PEM files. Empty paths are ignored.
type Files struct {
	CA        string // CAs of the broker's certificate; empty: the system's CAs
	Cert, Key string // this client's certificate with the chain up to but without the root, and its key
}

// TLS reads the files in their present state, for Config.TLS.
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

// tlsConfig is the TLS configuration for the broker at to; nil: no encryption.
func (c *Config) tlsConfig(to address) (*tls.Config, error) {
	if !to.encrypted {
		return nil, nil
	}
	config := &tls.Config{}
	if c.TLS != nil {
		base, err := c.TLS()
		if err != nil {
			return nil, err
		}
		config = base.Clone()
	}
	config.ServerName = cmp.Or(config.ServerName, to.host)
	config.MinVersion = max(config.MinVersion, tls.VersionTLS13)
	if own := config.Certificates; len(own) == 1 && config.GetClientCertificate == nil {
		// Present the certificate whichever CAs the broker names: its refusal is a better
		// answer than a missing certificate.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &own[0], nil }
	}
	if config.RootCAs != nil && !config.InsecureSkipVerify {
		v := verifier{roots: config.RootCAs, host: config.ServerName, clock: config.Time, then: config.VerifyConnection}
		config.InsecureSkipVerify, config.VerifyConnection = true, v.verify // replaces the library's verification
	}
	return config, nil
}

// verifier verifies a broker's certificate chain against the configured CA.
//
// A robot may boot with a clock that is years behind. The CA's signature on a certificate
// proves that its NotBefore has passed, so the clock is set forward to it for the
// verification. That is the only difference from the library.
type verifier struct {
	roots *x509.CertPool
	host  string
	clock func() time.Time                // nil: the system's
	then  func(tls.ConnectionState) error // called last; may be nil
}

func (v verifier) verify(s tls.ConnectionState) error {
	chain := s.PeerCertificates
	if len(chain) == 0 {
		return errors.New("the broker presents no certificate")
	}
	now := time.Now
	if v.clock != nil {
		now = v.clock
	}
	o := x509.VerifyOptions{Roots: v.roots, DNSName: v.host, Intermediates: x509.NewCertPool(), CurrentTime: now()}
	for _, cert := range chain[1:] {
		o.Intermediates.AddCert(cert)
	}
	for _, cert := range chain { // harmless for a forged chain: Verify below still refuses it
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
