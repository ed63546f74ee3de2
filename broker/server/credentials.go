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

// Files are the paths of the files that the broker reads, and reads again when they
// change. Empty paths are ignored.
type Files struct {
	Users    string // lines of name, role and hash
	Cert     string // server certificate with the chain up to but without the root, PEM
	Key      string // key of Cert
	ClientCA string // CAs of the clients' certificates, PEM
	CRL      string // certificates that these CAs revoked, PEM or DER
}

func (f Files) all() []string {
	return slices.DeleteFunc([]string{f.Users, f.Cert, f.Key, f.ClientCA, f.CRL}, func(s string) bool { return s == "" })
}

// credentials are the parsed contents of Files at one time. They are immutable.
type credentials struct {
	users   access.Users
	pair    *tls.Certificate
	issuers []*x509.Certificate
	pool    *x509.CertPool // of issuers; nil: no client certificates are accepted
	lists   access.RevocationLists
}

// part is a part of the credentials that is read from one or two files.
type part struct {
	name  string
	paths []string
	read  func(c *credentials, texts [][]byte) error
	// seen is the digest of the file contents that were read last, whether they were valid
	// or not.
	seen []byte
}

// parts returns the parts of files, in the order in which they depend on each other.
// exposure decides whether users without a password are acceptable.
func parts(files Files, exposure exposure) []*part {
	var out []*part
	add := func(name string, read func(*credentials, [][]byte) error, paths ...string) {
		if paths[0] != "" {
			out = append(out, &part{name: name, paths: paths, read: read})
		}
	}
	add("users file", exposure.readUsers, files.Users)
	add("server certificate", readPair, files.Cert, files.Key)
	add("client CA", readIssuers, files.ClientCA)
	// The CRL is verified with the client CAs, so it is read again when these change.
	add("certificate revocation list", readLists, files.CRL, files.ClientCA)
	return out
}

// renew reads the part into next if its files have changed.
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
		if errors.Is(err, link.ErrNotYetValid) {
			p.seen = nil // the same file may be valid the next time
		}
		return false, fmt.Errorf("%s %s: %w", p.name, p.paths[0], err)
	}
	*next = attempt
	return true, nil
}

// readUsers accepts a file without users only at the start. Later such a file is most
// likely one that is just being written, and it would disconnect the whole fleet.
func (e exposure) readUsers(c *credentials, texts [][]byte) error {
	users, err := access.ParseUsers(bytes.NewReader(texts[0]))
	switch {
	case err != nil:
		return err
	case users.Len() == 0 && c.users.Len() > 0:
		return errors.New("the file has no users any more; if that is intended, restart the broker")
	}
	if err := e.checkUsers(users); err != nil {
		return err
	}
	c.users = users
	return nil
}

// readPair refuses a pair that clients would refuse.
func readPair(c *credentials, texts [][]byte) error {
	pair, err := tls.X509KeyPair(texts[0], texts[1])
	if err == nil {
		err = link.CheckServerCertificate(pair, time.Now())
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
			return fmt.Errorf("found a %s: the file may contain only certificates", block.Type)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return err
		}
		if !cert.IsCA {
			return fmt.Errorf("the certificate of %q is not one of a CA", cert.Subject.CommonName)
		}
		c.issuers = append(c.issuers, cert)
		c.pool.AddCert(cert)
	}
	if len(c.issuers) == 0 {
		return errors.New("the file contains no certificate")
	}
	return nil
}

func readLists(c *credentials, texts [][]byte) (err error) {
	c.lists, err = access.ParseRevocationLists(texts[0], c.issuers)
	return err
}

// tls is the TLS configuration of a new connection.
func (c *credentials) tls() *tls.Config {
	config := &tls.Config{
		MinVersion: tls.VersionTLS13,
		// A resumed session would not verify the client's certificate again.
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

// endOf returns when the last of the chains that verify a client's certificate expires;
// zero without chains.
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

// trusts returns why a client's chain, its own certificate first, is no longer trusted;
// empty if it is. The expiry of the client's certificate does not count here: it ends the
// connection by itself.
func (c *credentials) trusts(chain []*x509.Certificate) (why string) {
	if c.pool == nil {
		return "client certificates are no longer accepted"
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
		return "its certificate is not signed by any of the client CAs"
	}
	for _, valid := range chains {
		if !slices.ContainsFunc(valid, c.lists.Revokes) {
			return ""
		}
	}
	return "its certificate is revoked"
}
