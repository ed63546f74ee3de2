package trust

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

// Held is a certificate that an instance needs, and until when it can.
type Held struct {
	Use      Use
	Name     string
	NotAfter time.Time
}

// Held lists the certificates that this instance needs. The one that it issues itself for each
// connection to the broker is not among them.
func (i *Identity) Held() (all []Held, err error) {
	add := func(use Use, c *x509.Certificate) { all = append(all, Held{use, c.Subject.CommonName, c.NotAfter}) }
	if v := i.deps.Vault; v != nil {
		issuers := v.Issuers()
		add(UseRoot, issuers[1])
		add(UseIntermediate, issuers[0])
	}
	if i.deps.Certificate != nil {
		pair, err := i.deps.Certificate.Current()
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
