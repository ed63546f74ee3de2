package access

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"time"

	"troupe/schema"
)

// RevocationLists holds the certificates on the certificate revocation lists (CRLs) of
// their issuers. The zero value revokes none.
type RevocationLists struct {
	revoked    map[issued]bool
	nextUpdate time.Time
}

// issued identifies a certificate.
type issued struct{ issuer, serial string }

// ParseRevocationLists parses CRLs (one in DER, or any number in PEM). Each must be signed
// by one of issuers; a list of another issuer is an error, since the file is then not the
// one that was meant.
func ParseRevocationLists(file []byte, issuers []*x509.Certificate) (RevocationLists, error) {
	l := RevocationLists{revoked: map[issued]bool{}}
	if block, _ := pem.Decode(file); block == nil {
		if err := l.add(file, issuers); err != nil {
			return RevocationLists{}, err
		}
		return l, nil
	}
	for n := 1; ; n++ {
		var block *pem.Block
		if block, file = pem.Decode(file); block == nil {
			return l, nil
		}
		if block.Type != "X509 CRL" {
			return RevocationLists{}, fmt.Errorf("block %d is a %s, not an X509 CRL", n, block.Type)
		}
		if err := l.add(block.Bytes, issuers); err != nil {
			return RevocationLists{}, fmt.Errorf("block %d: %w", n, err)
		}
	}
}

func (l *RevocationLists) add(der []byte, issuers []*x509.Certificate) error {
	list, err := x509.ParseRevocationList(der)
	if err != nil {
		return err
	}
	err = errors.New("the list is not signed by any of the client CAs")
	for _, c := range issuers {
		if string(c.RawSubject) == string(list.RawIssuer) {
			if err = list.CheckSignatureFrom(c); err == nil {
				break
			}
		}
	}
	if err != nil {
		return err
	}
	for _, e := range list.RevokedCertificateEntries {
		l.revoked[issued{string(list.RawIssuer), e.SerialNumber.Text(16)}] = true
	}
	if l.nextUpdate.IsZero() || list.NextUpdate.Before(l.nextUpdate) {
		l.nextUpdate = list.NextUpdate
	}
	return nil
}

// Revokes reports whether c is on a list of its issuer.
func (l RevocationLists) Revokes(c *x509.Certificate) bool {
	return l.revoked[issued{string(c.RawIssuer), serialOf(c)}]
}

// Len is the number of revoked certificates.
func (l RevocationLists) Len() int { return len(l.revoked) }

// NextUpdate is the earliest time at which one of the lists should have been replaced;
// zero without lists.
func (l RevocationLists) NextUpdate() time.Time { return l.nextUpdate }

// Revoked holds the names and certificates that fleet ids have revoked. Each fleet id
// replaces its own list only and never takes back what another one revoked. The zero value
// revokes no client.
type Revoked struct{ byFleetID map[string]list }

// list is the newest list of one fleet id.
type list struct {
	rev            int64
	names, serials map[string]bool
}

// maxFleets bounds how many fleet ids are remembered. Normally there is one, and two after
// a fleet was started again with a new database.
const maxFleets = 16

// Replace returns a copy of r in which the list in payload replaces the older one of its
// fleet id; r is not changed. If the list is malformed or older than the known one,
// Replace returns why, for the sender.
func (r *Revoked) Replace(payload []byte) (*Revoked, string) {
	if len(payload) == 0 {
		return nil, "an empty message changes nothing: publish a list with a higher rev instead"
	}
	received, problems := schema.Decode[schema.Revoked](payload)
	if errs := schema.Errors(problems); len(errs) > 0 {
		return nil, errs[0].String()
	}
	previous, known := r.byFleetID[received.FleetID]
	switch {
	case received.Rev < previous.rev:
		return nil, fmt.Sprintf("rev %d is older than the known rev %d", received.Rev, previous.rev)
	case !known && len(r.byFleetID) >= maxFleets:
		return nil, fmt.Sprintf("lists of %d fleet ids are known, which is the limit: restart the broker to drop the old ones", len(r.byFleetID))
	}
	next := &Revoked{byFleetID: maps.Clone(r.byFleetID)}
	if next.byFleetID == nil {
		next.byFleetID = map[string]list{}
	}
	newer := list{rev: received.Rev, names: map[string]bool{}, serials: map[string]bool{}}
	for _, n := range received.Names {
		newer.names[n] = true
	}
	for _, s := range received.Serials {
		newer.serials[s] = true
	}
	next.byFleetID[received.FleetID] = newer
	return next, ""
}

// Revokes reports whether the name is revoked, or the certificate with that serial number;
// serial is empty for a client without a certificate.
func (r *Revoked) Revokes(name, serial string) bool {
	for _, l := range r.byFleetID {
		if l.names[name] || serial != "" && l.serials[serial] {
			return true
		}
	}
	return false
}
