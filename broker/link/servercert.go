package link

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrNotYetValid: the certificate is not valid yet, but will be.
var ErrNotYetValid = errors.New("it is not valid yet")

// CheckServerCertificate returns an error if clients would refuse a server that presents pair at now.
// Broker and fleetd check a new pair of files with it before they replace a working one.
func CheckServerCertificate(pair tls.Certificate, now time.Time) error {
	leaf, serves := pair.Leaf, func(u x509.ExtKeyUsage) bool {
		return u == x509.ExtKeyUsageServerAuth || u == x509.ExtKeyUsageAny
	}
	switch {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("the certificate expired at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("the certificate is valid from %s, and now it is %s: %w", leaf.NotBefore.UTC().Format(time.RFC3339),
			now.UTC().Format(time.RFC3339), ErrNotYetValid)
	case len(leaf.ExtKeyUsage)+len(leaf.UnknownExtKeyUsage) > 0 && !slices.ContainsFunc(leaf.ExtKeyUsage, serves):
		return errors.New("the certificate is not a server certificate: its extended key usage lacks serverAuth")
	}
	return nil
}
