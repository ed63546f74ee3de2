package ca

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"time"
)

// Lifetimes of certificates.
const (
	RobotLife    = 90 * 24 * time.Hour
	InstanceLife = 90 * 24 * time.Hour
	ServerLife   = 398 * 24 * time.Hour
	listLife     = 90 * 24 * time.Hour // not shorter than RobotLife and InstanceLife, so that an old list outlives what it revokes

	rootYears         = 20
	intermediateYears = 10
)

// Backdate is how long before its creation a certificate becomes valid, because the clock
// of the verifier may be slow.
const Backdate = time.Hour

// Authority signs certificates.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	root *x509.Certificate
}

// Pair is a certificate with its key.
type Pair struct {
	Certificate *x509.Certificate
	Key         *ecdsa.PrivateKey
}

// New makes the root and intermediate certificates of a fleet. The root's key is needed
// again only when the intermediate expires or is lost.
func New(fleet string, now time.Time) (root, intermediate Pair, err error) {
	if root.Key, err = newKey(); err != nil {
		return root, intermediate, err
	}
	root.Certificate, err = sign(&x509.Certificate{
		Subject:   pkix.Name{CommonName: fleet + " root"},
		NotBefore: now.Add(-Backdate), NotAfter: now.AddDate(rootYears, 0, 0),
		IsCA: true, BasicConstraintsValid: true, MaxPathLen: 1,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}, root, &root.Key.PublicKey)
	if err != nil {
		return root, intermediate, err
	}
	if intermediate.Key, err = newKey(); err != nil {
		return root, intermediate, err
	}
	intermediate.Certificate, err = sign(&x509.Certificate{
		Subject:   pkix.Name{CommonName: fleet + " intermediate"},
		NotBefore: now.Add(-Backdate), NotAfter: now.AddDate(intermediateYears, 0, 0),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}, root, &intermediate.Key.PublicKey)
	return root, intermediate, err
}

// Open makes an Authority of what New made. It refuses an intermediate that the root has
// not signed, a key that does not match, and expired certificates.
func Open(root *x509.Certificate, intermediate Pair, now time.Time) (*Authority, error) {
	if err := intermediate.Certificate.CheckSignatureFrom(root); err != nil {
		return nil, fmt.Errorf("the intermediate certificate is not signed by this root: %w", err)
	}
	if !intermediate.Key.PublicKey.Equal(intermediate.Certificate.PublicKey) {
		return nil, errors.New("the intermediate's key belongs to another certificate")
	}
	for _, c := range []*x509.Certificate{root, intermediate.Certificate} {
		if now.After(c.NotAfter) {
			return nil, fmt.Errorf("%s expired on %s", c.Subject.CommonName, c.NotAfter.Format(time.DateOnly))
		}
	}
	return &Authority{cert: intermediate.Certificate, key: intermediate.Key, root: root}, nil
}

// Root returns the root certificate, which every client trusts.
func (a *Authority) Root() *x509.Certificate { return a.root }

// Chain returns the chain to present in TLS: the certificate, then the intermediate. The
// root is left out, because a peer must have it already.
func (a *Authority) Chain(leaf *x509.Certificate) []*x509.Certificate {
	return []*x509.Certificate{leaf, a.cert}
}

// Issuers returns the intermediate and the root, which a server needs to verify its
// clients and the CRL.
func (a *Authority) Issuers() []*x509.Certificate { return []*x509.Certificate{a.cert, a.root} }

// sign signs a template. A template without a serial number gets a random one of 20 bytes.
func sign(template *x509.Certificate, by Pair, key *ecdsa.PublicKey) (*x509.Certificate, error) {
	parent := by.Certificate
	if parent == nil {
		parent = template // the root signs itself
	}
	if parent != template && template.NotAfter.After(parent.NotAfter) {
		template.NotAfter = parent.NotAfter // verifiers would refuse it after that anyway
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key, by.Key)
	if err != nil {
		return nil, fmt.Errorf("sign the certificate of %s: %w", template.Subject.CommonName, err)
	}
	return x509.ParseCertificate(der)
}

// DeriveKey derives a symmetric key of 32 bytes from the intermediate's key, another one for each purpose. Instances with the
// same keys derive the same.
func (a *Authority) DeriveKey(purpose string) ([]byte, error) {
	private, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err != nil {
		return nil, fmt.Errorf("derive a key: %w", err)
	}
	return hkdf.Key(sha256.New, private, nil, purpose, 32)
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return key, nil
}

// Serial returns the serial number of a certificate in lower-case hexadecimal.
func Serial(c *x509.Certificate) string { return c.SerialNumber.Text(16) }
