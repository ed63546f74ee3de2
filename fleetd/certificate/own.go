package certificate

import (
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"troupe/fleetd/ca"
)

// Use is what an instance needs a certificate for.
type Use string

// The uses of certificates.
const (
	UseRoot         Use = "root"         // every client trusts it
	UseIntermediate Use = "intermediate" // fleetd issues certificates with it
	UseAddress      Use = "address"      // of fleetd's HTTP address
	UseBroker       Use = "broker"       // for the connection to the broker, from a file
)

// Own is a certificate that an instance needs, and when it expires.
type Own struct {
	Use      Use
	Name     string
	NotAfter time.Time
}

// Own lists the certificates that this instance needs. The one that it issues itself for each
// connection to the broker is not among them.
func (i *Identity) Own() (all []Own, err error) {
	add := func(use Use, c *x509.Certificate) { all = append(all, Own{use, c.Subject.CommonName, c.NotAfter}) }
	if v := i.deps.Vault; v != nil {
		issuers := v.Issuers()
		add(UseRoot, issuers[1])
		add(UseIntermediate, issuers[0])
	}
	if i.deps.Server != nil {
		pair, err := i.deps.Server.Current()
		if err != nil {
			return nil, err
		}
		add(UseAddress, pair.Leaf)
	}
	if file := i.deps.BrokerFiles.Cert; file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read the certificate for the broker: %w", err)
		}
		c, err := ca.ReadCertificate(text)
		if err != nil {
			return nil, fmt.Errorf("read the certificate for the broker %s: %w", file, err)
		}
		add(UseBroker, c)
	}
	return all, nil
}
