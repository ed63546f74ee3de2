package link

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrNotYet is why a certificate cannot be shown yet, and can be later.
var ErrNotYet = errors.New("it is not valid yet")

// Serves says why clients would refuse a server that shows pair now. Broker and
// fleetd ask it before they take a pair from their files: one that nobody believes
// must not replace one that is good.
func Serves(pair tls.Certificate, now time.Time) error {
	leaf, serves := pair.Leaf, func(u x509.ExtKeyUsage) bool {
		return u == x509.ExtKeyUsageServerAuth || u == x509.ExtKeyUsageAny
	}
	switch {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("the certificate ended at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("the certificate begins at %s, and now it is %s: %w", leaf.NotBefore.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339), ErrNotYet)
	case len(leaf.ExtKeyUsage)+len(leaf.UnknownExtKeyUsage) > 0 && !slices.ContainsFunc(leaf.ExtKeyUsage, serves):
		return errors.New("the certificate is not for servers: its extended key usage lacks serverAuth")
	}
	return nil
}
