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

// Lists are the certificates that their issuers revoked. The zero value is none.
type Lists struct {
	revoked map[issued]bool
	next    time.Time
}

type issued struct{ issuer, serial string }

// ParseLists reads lists of revoked certificates (one in DER, or any number in
// PEM) and believes those that one of issuers signed. One of somebody else is an
// error: the file is not what it was meant to be.
func ParseLists(file []byte, issuers []*x509.Certificate) (Lists, error) {
	l := Lists{revoked: map[issued]bool{}}
	if block, _ := pem.Decode(file); block == nil {
		return l, l.add(file, issuers)
	}
	for n := 1; ; n++ {
		var block *pem.Block
		if block, file = pem.Decode(file); block == nil {
			return l, nil
		}
		if block.Type != "X509 CRL" {
			return Lists{}, fmt.Errorf("block %d is a %s, not an X509 CRL", n, block.Type)
		}
		if err := l.add(block.Bytes, issuers); err != nil {
			return Lists{}, fmt.Errorf("block %d: %w", n, err)
		}
	}
}

func (l *Lists) add(der []byte, issuers []*x509.Certificate) error {
	list, err := x509.ParseRevocationList(der)
	if err != nil {
		return err
	}
	err = errors.New("nobody whose certificates are taken has signed it")
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
	if l.next.IsZero() || list.NextUpdate.Before(l.next) {
		l.next = list.NextUpdate
	}
	return nil
}

// Has reports whether a certificate is on a list of its issuer.
func (l Lists) Has(c *x509.Certificate) bool {
	return l.revoked[issued{string(c.RawIssuer), serialOf(c)}]
}

// Len is how many certificates are listed.
func (l Lists) Len() int { return len(l.revoked) }

// Next is when the first of the lists was to be renewed; zero without one.
func (l Lists) Next() time.Time { return l.next }

// Revoked is what fleetd instances say of whom the broker is to take no more. Each speaks for
// itself: what a fleet id says takes nothing back that another said. The zero
// value is nobody.
type Revoked struct{ by map[string]list }

// list is the newest of a fleet id.
type list struct {
	rev            int64
	names, serials map[string]bool
}

// maxFleets bounds how many are listened to. There is one; there are two
// after a fleet has begun anew with another database.
const maxFleets = 16

// Replace reads a newer list of a fleet id in the place of its older one; r
// stays as it is. The answer is what is wrong with it, for its sender: a list that
// cannot be read, or is older than what is known, changes nothing.
func (r *Revoked) Replace(payload []byte) (*Revoked, string) {
	if len(payload) == 0 {
		return nil, "whoever was revoked stays so: publish a list with a higher rev instead"
	}
	told, problems := schema.Decode[schema.Revoked](payload)
	if errs := schema.Errors(problems); len(errs) > 0 {
		return nil, errs[0].String()
	}
	older, known := r.by[told.FleetID]
	switch {
	case told.Rev < older.rev:
		return nil, fmt.Sprintf("rev %d is older than %d, which is known", told.Rev, older.rev)
	case !known && len(r.by) >= maxFleets:
		return nil, fmt.Sprintf("%d fleets have said whom they revoked, and no more are listened to; start the broker anew", len(r.by))
	}
	next := &Revoked{by: maps.Clone(r.by)}
	if next.by == nil {
		next.by = map[string]list{}
	}
	newer := list{rev: told.Rev, names: map[string]bool{}, serials: map[string]bool{}}
	for _, n := range told.Names {
		newer.names[n] = true
	}
	for _, s := range told.Serials {
		newer.serials[s] = true
	}
	next.by[told.FleetID] = newer
	return next, ""
}

// Has reports whether somebody of that name, or with a certificate of that serial
// number if he has one, is revoked.
func (r *Revoked) Has(name, serial string) bool {
	for _, l := range r.by {
		if l.names[name] || serial != "" && l.serials[serial] {
			return true
		}
	}
	return false
}
