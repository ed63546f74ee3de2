package ca

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net/netip"
	"net/url"
	"time"

	"troupe/schema"
)

func (a *Authority) pair() Pair { return Pair{a.cert, a.key} }

// Robot makes the certificate of a robot, for the key that its request holds.
func (a *Authority) Robot(r Request, now time.Time) (*x509.Certificate, error) {
	return a.identity(schema.RoleRobot, r.Name, r.key, RobotLife, now)
}

// Service makes the certificate of a fleetd instance, and its key.
func (a *Authority) Service(name string, now time.Time) (p Pair, err error) {
	if !schema.ValidID(name) {
		return p, fmt.Errorf("%q cannot name a fleetd instance: use a-z, 0-9 and hyphens, at most %d", name, schema.MaxIDLen)
	}
	if p.Key, err = newKey(); err != nil {
		return p, err
	}
	p.Certificate, err = a.identity(schema.RoleFleetd, name, &p.Key.PublicKey, ServiceLife, now)
	return p, err
}

// identity makes a certificate that says who a client is. It is no server's.
func (a *Authority) identity(role schema.Role, name string, key *ecdsa.PublicKey, life time.Duration, now time.Time) (*x509.Certificate, error) {
	urn, err := url.Parse(schema.IdentityURN(role, name))
	if err != nil {
		return nil, fmt.Errorf("name %s: %w", name, err)
	}
	return sign(&x509.Certificate{
		Subject:   pkix.Name{CommonName: name},
		URIs:      []*url.URL{urn},
		NotBefore: now.Add(-Backdate), NotAfter: now.Add(life),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.pair(), key)
}

// Server makes the certificate of a broker or of a fleetd instance's page, and its key.
// Clients compare the name or address under which they reach it with these, so
// there must be at least one. It proves nobody's identity as a client.
func (a *Authority) Server(dns []string, ips []netip.Addr, now time.Time) (p Pair, err error) {
	template := &x509.Certificate{
		DNSNames:  dns,
		NotBefore: now.Add(-Backdate), NotAfter: now.Add(ServerLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, ip := range ips {
		template.IPAddresses = append(template.IPAddresses, ip.Unmap().AsSlice())
	}
	switch {
	case len(dns) > 0:
		template.Subject.CommonName = dns[0]
	case len(ips) > 0:
		template.Subject.CommonName = ips[0].String()
	default:
		return p, fmt.Errorf("a server's certificate needs the name or the address under which others reach it")
	}
	if p.Key, err = newKey(); err != nil {
		return p, err
	}
	p.Certificate, err = sign(template, a.pair(), &p.Key.PublicKey)
	return p, err
}

// Revoked is a certificate that is not to be taken any more, and since when.
type Revoked struct {
	Serial string
	At     time.Time
}

// List signs the list of revoked certificates. number rises with every list.
func (a *Authority) List(revoked []Revoked, number int64, now time.Time) ([]byte, error) {
	template := &x509.RevocationList{
		Number: big.NewInt(number), ThisUpdate: now.Add(-Backdate), NextUpdate: now.Add(listLife),
	}
	for _, r := range revoked {
		serial, ok := new(big.Int).SetString(r.Serial, 16)
		if !ok {
			return nil, fmt.Errorf("list the revoked: %q is no serial number", r.Serial)
		}
		template.RevokedCertificateEntries = append(template.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: serial, RevocationTime: r.At})
	}
	der, err := x509.CreateRevocationList(rand.Reader, template, a.cert, a.key)
	if err != nil {
		return nil, fmt.Errorf("sign the list of the revoked: %w", err)
	}
	return encode(listBlock, der), nil
}
