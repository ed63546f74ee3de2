package certificate

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/ca"
	"troupe/fleetd/vault"
	"troupe/schema/sign"
)

// Identity is this instance's client certificate for the broker, and the intermediate with which
// it signs certificates of robots.
type Identity struct {
	deps IdentityDeps
}

// IdentityDeps is what an Identity needs.
type IdentityDeps struct {
	Name, Password string       // with the broker
	BrokerFiles    link.Files   // for the broker; Vault supplies what is missing
	Vault          *vault.Vault // nil without the fleet's keys
	Server         *Server      // certificate of fleetd's address for robots; nil without TLS. Enrolment needs it
	RobotBrokers   []string     // where enrolled robots connect
	// SignKey signs the desired state of robots, and ReleaseKey the contents that it assigns.
	SignKey, ReleaseKey ed25519.PrivateKey
	Now                 func() time.Time
	EnrolURL            func() string // where robots request certificates; empty if there is no such address
}

// NewIdentity makes an identity.
func NewIdentity(d IdentityDeps) *Identity { return &Identity{d} }

// Issuer is what the enrolment of robots needs.
type Issuer struct {
	*ca.Authority
	URL         string            // address for enrolment
	Fingerprint [sha256.Size]byte // of the server certificate at URL
	Brokers     []string          // for robots to connect to
	TrustKeys   []string          // public keys of desired documents and releases
}

// Issuer is what certificates are issued with, or the reason why none are.
func (i *Identity) Issuer() (Issuer, error) {
	if i.deps.Vault == nil {
		return Issuer{}, errors.New("fleetd has no keys to issue certificates with")
	}
	url := i.deps.EnrolURL()
	if url == "" {
		return Issuer{}, errors.New("fleetd has no address at which robots could ask for certificates")
	}
	pair, err := i.deps.Server.Current()
	if err != nil {
		return Issuer{}, err
	}
	return Issuer{
		Authority: i.deps.Vault.Authority, URL: url, Fingerprint: sha256.Sum256(pair.Certificate[0]), Brokers: i.deps.RobotBrokers,
		TrustKeys: i.trustKeys(),
	}, nil
}

// trustKeys are the public keys that robots verify fleetd's signatures with.
func (i *Identity) trustKeys() (keys []string) {
	if i.deps.SignKey != nil {
		keys = append(keys, sign.PublicKey(sign.SignsDesired, i.deps.SignKey).String())
	}
	if i.deps.ReleaseKey != nil {
		keys = append(keys, sign.PublicKey(sign.SignsReleases, i.deps.ReleaseKey).String())
	}
	return keys
}

// TLS is the configuration of the next connection to the broker. With the fleet's keys fleetd
// issues itself a certificate for each connection, so there is no file to steal or renew.
func (i *Identity) TLS() (*tls.Config, error) {
	how, err := i.deps.BrokerFiles.TLS()
	if err != nil || i.deps.Vault == nil {
		return how, err
	}
	if how.RootCAs == nil {
		how.RootCAs = x509.NewCertPool()
		how.RootCAs.AddCert(i.deps.Vault.Root())
	}
	if how.Certificates == nil && i.deps.Password == "" {
		pair, err := i.deps.Vault.IssueInstance(i.deps.Name, i.deps.Now())
		if err != nil {
			return nil, err
		}
		own := tls.Certificate{PrivateKey: pair.Key, Leaf: pair.Certificate}
		for _, cert := range i.deps.Vault.Chain(pair.Certificate) {
			own.Certificate = append(own.Certificate, cert.Raw)
		}
		how.Certificates = []tls.Certificate{own}
	}
	return how, nil
}
