package server

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"troupe/broker/access"
	"troupe/broker/link"
)

// Files are what the broker reads and reads again when it changes. Empty paths
// are left out.
type Files struct {
	Users    string // lines of name, role and hash
	Cert     string // of the server, PEM, with what signed it but for the root
	Key      string // of Cert
	ClientCA string // who signs clients' certificates, PEM
	CRL      string // whom they revoked, PEM or DER
}

func (f Files) all() []string {
	return slices.DeleteFunc([]string{f.Users, f.Cert, f.Key, f.ClientCA, f.CRL}, func(s string) bool { return s == "" })
}

// credentials are what Files say at one time. They do not change.
type credentials struct {
	users   access.Users
	pair    *tls.Certificate
	issuers []*x509.Certificate
	pool    *x509.CertPool // of issuers; nil: no client certificates are taken
	lists   access.RevocationLists
}

// part is what one or two files make of the credentials.
type part struct {
	name  string
	paths []string
	read  func(c *credentials, texts [][]byte) error
	// seen is the digest of what was read last, well or not.
	seen []byte
}

// parts are all that files has, in the order in which they build on each other.
// The users are read for a broker that is exposed in this way.
func parts(files Files, exposed exposure) []*part {
	var out []*part
	add := func(name string, read func(*credentials, [][]byte) error, paths ...string) {
		if paths[0] != "" {
			out = append(out, &part{name: name, paths: paths, read: read})
		}
	}
	add("users file", exposed.readUsers, files.Users)
	add("server certificate", readPair, files.Cert, files.Key)
	add("client CA", readIssuers, files.ClientCA)
	// A list is believed for who signed it, so it is read again with a new CA.
	add("certificate revocation list", readLists, slices.DeleteFunc([]string{files.CRL, files.ClientCA}, func(s string) bool { return files.CRL == "" && s != "" })...)
	return out
}

// renew reads the part again if its files changed, into next.
func (p *part) renew(next *credentials) (changed bool, err error) {
	var texts [][]byte
	digest := sha256.New()
	for _, path := range p.paths {
		text, err := os.ReadFile(path)
		if err != nil {
			p.seen = nil
			return false, fmt.Errorf("%s: %w", p.name, err)
		}
		texts = append(texts, text)
		fmt.Fprintf(digest, "%d ", len(text))
		digest.Write(text)
	}
	seen := digest.Sum(nil)
	if bytes.Equal(seen, p.seen) {
		return false, nil
	}
	p.seen = seen
	attempt := *next
	if err := p.read(&attempt, texts); err != nil {
		if errors.Is(err, link.ErrNotYet) {
			p.seen = nil // the same file may be well the next time
		}
		return false, fmt.Errorf("%s %s: %w", p.name, p.paths[0], err)
	}
	*next = attempt
	return true, nil
}

// readUsers takes a file of nobody at the start only. Later it is most likely one
// that is just being written, and would disconnect the whole fleet.
func (e exposure) readUsers(c *credentials, texts [][]byte) error {
	users, err := access.ParseUsers(bytes.NewReader(texts[0]))
	switch {
	case err != nil:
		return err
	case users.Len() == 0 && c.users.Len() > 0:
		return errors.New("nobody is in it any more; if that is meant, start the broker anew")
	}
	if err := e.unproven(users); err != nil {
		return err
	}
	c.users = users
	return nil
}

// readPair takes no pair that clients would refuse.
func readPair(c *credentials, texts [][]byte) error {
	pair, err := tls.X509KeyPair(texts[0], texts[1])
	if err == nil {
		err = link.Serves(pair, time.Now())
	}
	if err == nil {
		c.pair = &pair
	}
	return err
}

func readIssuers(c *credentials, texts [][]byte) error {
	c.issuers, c.pool = nil, x509.NewCertPool()
	for rest := texts[0]; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("a %s is in it: only certificates belong there", block.Type)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return err
		}
		if !cert.IsCA {
			return fmt.Errorf("the certificate of %q signs no others", cert.Subject.CommonName)
		}
		c.issuers = append(c.issuers, cert)
		c.pool.AddCert(cert)
	}
	if len(c.issuers) == 0 {
		return errors.New("no certificate is in it")
	}
	return nil
}

func readLists(c *credentials, texts [][]byte) (err error) {
	c.lists, err = access.ParseRevocationLists(texts[0], c.issuers)
	return err
}

// tls is how a connection is encrypted that begins now.
func (c *credentials) tls() *tls.Config {
	config := &tls.Config{
		MinVersion: tls.VersionTLS13,
		// What was trusted yesterday must not be resumed today.
		SessionTicketsDisabled: true,
	}
	if c.pair != nil {
		config.Certificates = []tls.Certificate{*c.pair}
	}
	if c.pool != nil {
		config.ClientAuth, config.ClientCAs = tls.VerifyClientCertIfGiven, c.pool
	}
	return config
}

// endOf is when the last of the chains by which a client is believed ends; zero
// where there is none.
func endOf(chains [][]*x509.Certificate) (last time.Time) {
	for _, chain := range chains {
		first := chain[0].NotAfter
		for _, cert := range chain[1:] {
			if cert.NotAfter.Before(first) {
				first = cert.NotAfter
			}
		}
		if first.After(last) {
			last = first
		}
	}
	return last
}

// trusts says why a client's certificates, its own first, are not believed any
// more; empty: they are. That one ends is the affair of the connection, which ends
// with it.
func (c *credentials) trusts(chain []*x509.Certificate) (why string) {
	if c.pool == nil {
		return "certificates are not taken any more"
	}
	at, between := time.Now(), x509.NewCertPool()
	if end := chain[0].NotAfter; at.After(end) {
		at = end
	}
	for _, cert := range chain[1:] {
		between.AddCert(cert)
	}
	chains, err := chain[0].Verify(x509.VerifyOptions{
		Roots: c.pool, Intermediates: between, CurrentTime: at,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return "nobody whose certificates are taken has signed this one"
	}
	for _, valid := range chains {
		if !slices.ContainsFunc(valid, c.lists.Revokes) {
			return ""
		}
	}
	return "its certificate is revoked"
}
