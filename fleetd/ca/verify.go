package ca

import (
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"troupe/schema"
)

// Holder is the subject of a certificate of this fleet.
type Holder struct {
	Role   schema.Role
	Name   string
	Serial string
}

// Why a certificate is refused.
var (
	ErrForeign  = errors.New("this certificate is not of this fleet")
	ErrExpired  = errors.New("this certificate has expired")
	ErrNoHolder = errors.New("this certificate names neither a robot nor a fleetd instance")
)

// LeadsToRoot reports whether a chain of certificates, in PEM, ends at the root of this fleet; it may be from before the
// present intermediate certificate.
func (a *Authority) LeadsToRoot(chain []byte) bool {
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(a.root)
	between.AppendCertsFromPEM(chain)
	leaf, err := ReadCertificate(chain)
	if err != nil {
		return false
	}
	_, err = leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: leaf.NotBefore.Add(time.Second),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	return err == nil
}

// Verify returns the holder of a certificate. It does not check revocation.
func (a *Authority) Verify(leaf *x509.Certificate, now time.Time) (Holder, error) {
	if err := leaf.CheckSignatureFrom(a.cert); err != nil { // before the dates: an expired foreign certificate is foreign
		return Holder{}, fmt.Errorf("%w: %w", ErrForeign, err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return Holder{}, fmt.Errorf("%w on %s", ErrExpired, leaf.NotAfter.UTC().Format(time.DateOnly))
	case err != nil:
		return Holder{}, fmt.Errorf("%w: %w", ErrForeign, err)
	case len(leaf.URIs) != 1:
		return Holder{}, ErrNoHolder
	}
	role, name, ok := schema.ParseIdentityURN(leaf.URIs[0].String())
	if !ok || name != leaf.Subject.CommonName {
		return Holder{}, ErrNoHolder
	}
	return Holder{role, name, Serial(leaf)}, nil
}
