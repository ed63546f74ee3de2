package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"testing"
	"time"
)

// issuer is a CA and signs its CRL.
type issuer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newIssuer(t testing.TB, name string) issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCRLSign | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return issuer{c, key}
}

func (i issuer) list(t testing.TB, next time.Time, serials ...int64) []byte {
	t.Helper()
	l := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), NextUpdate: next}
	for _, s := range serials {
		l.RevokedCertificateEntries = append(l.RevokedCertificateEntries,
			x509.RevocationListEntry{SerialNumber: big.NewInt(s), RevocationTime: l.ThisUpdate})
	}
	der, err := x509.CreateRevocationList(rand.Reader, l, i.cert, i.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func inPEM(kind string, ders ...[]byte) (out []byte) {
	for _, der := range ders {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})...)
	}
	return out
}

func TestRevocationListAppliesToItsIssuerOnly(t *testing.T) {
	one, two := newIssuer(t, "one"), newIssuer(t, "two")
	early, late := time.Date(2030, 2, 1, 0, 0, 0, 0, time.UTC), time.Date(2030, 3, 1, 0, 0, 0, 0, time.UTC)
	issuers := []*x509.Certificate{one.cert, two.cert}
	of := func(i issuer, serial int64) *x509.Certificate {
		return &x509.Certificate{RawIssuer: i.cert.RawSubject, SerialNumber: big.NewInt(serial)}
	}
	both, err := ParseRevocationLists(inPEM("X509 CRL", one.list(t, late, 7, 8), two.list(t, early, 9)), issuers)
	if err != nil {
		t.Fatal(err)
	}
	if both.Len() != 3 || !both.NextUpdate().Equal(early) {
		t.Errorf("%d revoked, next update %v", both.Len(), both.NextUpdate())
	}
	for c, want := range map[*x509.Certificate]bool{of(one, 7): true, of(one, 8): true, of(two, 9): true, of(two, 7): false,
		of(one, 9): false} {
		if got := both.Revokes(c); got != want {
			t.Errorf("%v of %x: revoked %v", c.SerialNumber, c.RawIssuer, got)
		}
	}
	der, err := ParseRevocationLists(one.list(t, late, 7), issuers)
	if err != nil || !der.Revokes(of(one, 7)) {
		t.Errorf("in DER: %v", err)
	}
	if (RevocationLists{}).Revokes(of(one, 7)) || !(RevocationLists{}).NextUpdate().IsZero() {
		t.Error("the zero value revokes certificates")
	}
}

func TestRevocationListWithoutValidSignatureIsRefused(t *testing.T) {
	ours, unknown, namesake := newIssuer(t, "one"), newIssuer(t, "unknown"), newIssuer(t, "one")
	until := time.Date(2030, 2, 1, 0, 0, 0, 0, time.UTC)
	good := ours.list(t, until, 7)
	for why, file := range map[string][]byte{
		"of an unknown CA":                    inPEM("X509 CRL", unknown.list(t, until, 7)),
		"of a CA with the same name":          inPEM("X509 CRL", namesake.list(t, until, 7)),
		"ours and of a CA with the same name": inPEM("X509 CRL", good, namesake.list(t, until, 7)),
		"a certificate":                       inPEM("CERTIFICATE", ours.cert.Raw),
		"an empty file":                       nil,
		"neither PEM nor DER":                 []byte("nonsense"),
		"a signature with one changed byte":   slices.Concat(good[:len(good)-1], []byte{good[len(good)-1] ^ 1}),
	} {
		if l, err := ParseRevocationLists(file, []*x509.Certificate{ours.cert}); err == nil ||
			l.Len() > 0 && why != "ours and of a CA with the same name" {
			t.Errorf("%s: %v, %d revoked", why, err, l.Len())
		}
	}
}

func FuzzParseRevocationLists(f *testing.F) {
	ours := newIssuer(f, "one")
	f.Add(ours.list(f, time.Date(2030, 2, 1, 0, 0, 0, 0, time.UTC), 7))
	f.Add(inPEM("X509 CRL", ours.list(f, time.Date(2030, 2, 1, 0, 0, 0, 0, time.UTC), 7)))
	otherCA := newIssuer(f, "one")
	f.Fuzz(func(t *testing.T, file []byte) {
		if l, err := ParseRevocationLists(file, []*x509.Certificate{otherCA.cert}); err == nil && l.Len() > 0 {
			t.Fatalf("accepted a list of %d certificates without a valid signature", l.Len())
		}
	})
}

func TestNewerListReplacesOnlyThatOfItsFleetID(t *testing.T) {
	list := func(rev, fleetID, names, serials string) []byte {
		return []byte(`{"rev":` + rev + `,"fleet_id":"` + fleetID + `","names":[` + names + `],"serials":[` + serials +
			`],"ts":"2030-01-01T00:00:00.000Z"}`)
	}
	first, why := (&Revoked{}).Replace(list("3", "a", `"r1"`, `"ab"`))
	if why != "" || !first.Revokes("r1", "") || !first.Revokes("r2", "ab") || first.Revokes("r2", "") || first.Revokes("ab", "r1") {
		t.Fatalf("first: %q, %+v", why, first)
	}
	same, why := first.Replace(list("3", "a", `"r1"`, `"ab"`))
	if why != "" || !same.Revokes("r1", "") {
		t.Errorf("the same list again, as at each connect of fleetd: %q", why)
	}
	second, why := first.Replace(list("4", "a", `"r2"`, ""))
	if why != "" || second.Revokes("r1", "") || second.Revokes("x", "ab") || !second.Revokes("r2", "") || !first.Revokes("r1", "") {
		t.Errorf("second: %q, %+v", why, second)
	}
	other, why := second.Replace(list("1", "b", `"r3"`, `"cd"`))
	if why != "" || !other.Revokes("r3", "") || !other.Revokes("r2", "") || !other.Revokes("x", "cd") {
		t.Errorf("list of another fleet, with revs of its own: %q, %+v", why, other)
	}
	if back, why := other.Replace(list("5", "a", "", "")); why != "" || back.Revokes("r2", "") || !back.Revokes("r3", "") {
		t.Errorf("a fleet takes its own list back: %q, %+v", why, back)
	}
	if back, why := other.Replace(list("2", "a", "", "")); why == "" || back != nil {
		t.Error("an older list is accepted after one of another fleet")
	}
	many, n := second, 1
	for ; n < 100 && why == ""; n++ {
		var next *Revoked
		if next, why = many.Replace(list("1", fmt.Sprint("x", n), `"r9"`, "")); why == "" {
			many = next
		}
	}
	if why == "" || !many.Revokes("r2", "") {
		t.Errorf("the lists of %d fleets are accepted, or the first one is dropped for them", n)
	}
	for what, payload := range map[string][]byte{
		"older": list("2", "a", "", ""), "empty": nil, "not JSON": []byte("x"), "no rev": list("0", "a", "", ""),
		"no fleet id":     list("9", "", "", ""),
		"an invalid name": list("9", "a", `"R1"`, ""),
	} {
		if next, why := second.Replace(payload); why == "" || next != nil {
			t.Errorf("%s: accepted", what)
		}
	}
}
