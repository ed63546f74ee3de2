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

// Robot issues the certificate of a robot for the key in its request.
func (a *Authority) Robot(r Request, now time.Time) (*x509.Certificate, error) {
	return a.identity(schema.RoleRobot, r.Name, r.key, RobotLife, now)
}

// IssueInstance issues the certificate of a fleetd instance with a new key.
func (a *Authority) IssueInstance(name string, now time.Time) (p Pair, err error) {
	if !schema.ValidID(name) {
		return p, fmt.Errorf("%q cannot name a fleetd instance: use a-z, 0-9 and hyphens, at most %d", name, schema.MaxIDLen)
	}
	if p.Key, err = newKey(); err != nil {
		return p, err
	}
	p.Certificate, err = a.identity(schema.RoleFleetd, name, &p.Key.PublicKey, InstanceLife, now)
	return p, err
}

// identity issues a client certificate. It is not valid for a server.
func (a *Authority) identity(role schema.Role, name string, key *ecdsa.PublicKey, life time.Duration,
	now time.Time) (*x509.Certificate, error) {
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

// Server issues the TLS server certificate of a broker or fleetd instance with a new key.
// Clients compare the name or address that they connect to with dns and ips, so there must
// be at least one. It is not valid for a client.
func (a *Authority) Server(dns []string, ips []netip.Addr, now time.Time) (p Pair, err error) {
	return a.server(dns, ips, now, x509.ExtKeyUsageServerAuth)
}

// Node issues the certificate of a node of a cluster of nats-server: the TLS server certificate for its clients, with which it
// also connects to the other nodes. These compare one of dns with the names of the nodes; addresses do not count. It says nothing
// of a robot or a fleetd instance, so it is nobody's identity at a broker.
func (a *Authority) Node(dns []string, ips []netip.Addr, now time.Time) (Pair, error) {
	if len(dns) == 0 {
		return Pair{}, fmt.Errorf("the certificate of a node needs the name under which the other nodes reach it")
	}
	return a.server(dns, ips, now, x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth)
}

func (a *Authority) server(dns []string, ips []netip.Addr, now time.Time, usages ...x509.ExtKeyUsage) (p Pair, err error) {
	template := &x509.Certificate{
		DNSNames:  dns,
		NotBefore: now.Add(-Backdate), NotAfter: now.Add(ServerLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: usages,
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
		return p, fmt.Errorf("a server certificate needs a name or an address under which clients reach the server")
	}
	if p.Key, err = newKey(); err != nil {
		return p, err
	}
	p.Certificate, err = sign(template, a.pair(), &p.Key.PublicKey)
	return p, err
}

// Revoked is an entry of the CRL.
type Revoked struct {
	Serial string
	At     time.Time
}

// SignCRL makes a CRL. number must rise with every list.
func (a *Authority) SignCRL(revoked []Revoked, number int64, now time.Time) ([]byte, error) {
	template := &x509.RevocationList{
		Number: big.NewInt(number), ThisUpdate: now.Add(-Backdate), NextUpdate: now.Add(listLife),
	}
	for _, r := range revoked {
		serial, ok := new(big.Int).SetString(r.Serial, 16)
		if !ok {
			return nil, fmt.Errorf("list revoked certificates: %q is not a serial number", r.Serial)
		}
		template.RevokedCertificateEntries = append(template.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: serial, RevocationTime: r.At})
	}
	der, err := x509.CreateRevocationList(rand.Reader, template, a.cert, a.key)
	if err != nil {
		return nil, fmt.Errorf("sign the CRL: %w", err)
	}
	return encode(listBlock, der), nil
}
