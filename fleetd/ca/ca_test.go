package ca_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/ca"
	"troupe/schema"
)

var morning = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

const day = 24 * time.Hour

func authority(t *testing.T, now time.Time) *ca.Authority {
	t.Helper()
	root, intermediate, err := ca.New("museum", now)
	if err != nil {
		t.Fatal(err)
	}
	a, err := ca.Open(root.Certificate, intermediate, now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func p256(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func request(t *testing.T, key crypto.Signer, template x509.CertificateRequest) string {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &template, key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

func named(name string) x509.CertificateRequest {
	return x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}
}

func robot(t *testing.T, a *ca.Authority, name string, now time.Time) *x509.Certificate {
	t.Helper()
	r, no := ca.ReadRequest(request(t, p256(t), named(name)), name)
	if no != nil {
		t.Fatal(no)
	}
	c, err := a.Robot(r, now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// check verifies a certificate as a TLS library does, which has the root and gets the
// rest of the chain from the peer.
func check(a *ca.Authority, leaf *x509.Certificate, usage x509.ExtKeyUsage, now time.Time) error {
	roots, shown := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(a.Root())
	for _, c := range a.Chain(leaf)[1:] {
		shown.AddCert(c)
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: shown, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage}})
	return err
}

func TestRobotCertificateIsValidForNinetyDays(t *testing.T) {
	a := authority(t, morning)
	c := robot(t, a, "r7", morning)
	if len(c.URIs) != 1 || c.URIs[0].String() != "urn:troupe:robot:r7" || c.Subject.CommonName != "r7" {
		t.Errorf("it names %v, %s", c.URIs, c.Subject)
	}
	if len(c.DNSNames)+len(c.IPAddresses)+len(c.EmailAddresses) > 0 || c.IsCA {
		t.Error("it has more names, or may sign")
	}
	for _, at := range []time.Duration{-30 * time.Minute, 0, 89 * day} {
		if err := check(a, c, x509.ExtKeyUsageClientAuth, morning.Add(at)); err != nil {
			t.Errorf("after %v: %v", at, err)
		}
	}
	for _, at := range []time.Duration{-2 * time.Hour, 91 * day} {
		if err := check(a, c, x509.ExtKeyUsageClientAuth, morning.Add(at)); err == nil {
			t.Errorf("after %v it is still valid", at)
		}
	}
	if err := check(a, c, x509.ExtKeyUsageServerAuth, morning); err == nil {
		t.Error("a robot's certificate is valid for a server")
	}
}

// A node of nats-server is a server for its clients and a client of the other nodes, and no robot or instance.
func TestNodeCertificateIsValidForBothSidesAndHasNoHolder(t *testing.T) {
	a := authority(t, morning)
	p, err := a.Node([]string{"n1.museum.example"}, []netip.Addr{netip.MustParseAddr("10.0.0.2")}, morning)
	if err != nil {
		t.Fatal(err)
	}
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		if err := check(a, p.Certificate, usage, morning); err != nil {
			t.Error(err)
		}
	}
	if _, err := a.Verify(p.Certificate, morning); err == nil {
		t.Error("a node's certificate has a holder")
	}
	if _, err := a.Node(nil, []netip.Addr{netip.MustParseAddr("10.0.0.2")}, morning); err == nil {
		t.Error("the certificate of a node without a name was issued")
	}
}

func TestServerCertificateIsNotValidForClients(t *testing.T) {
	a := authority(t, morning)
	p, err := a.Server([]string{"broker.museum.example"}, []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("::1")}, morning)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"broker.museum.example", "10.0.0.2", "::1"} {
		if err := p.Certificate.VerifyHostname(host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if err := check(a, p.Certificate, x509.ExtKeyUsageServerAuth, morning); err != nil {
		t.Error(err)
	}
	if err := check(a, p.Certificate, x509.ExtKeyUsageClientAuth, morning); err == nil {
		t.Error("a server's certificate is valid for a client")
	}
	if _, err := a.Verify(p.Certificate, morning); err == nil {
		t.Error("a server's certificate has a holder")
	}
	if _, err := a.Server(nil, nil, morning); err == nil {
		t.Error("a server certificate without names was issued")
	}
}

func TestVerifyReturnsHolder(t *testing.T) {
	a := authority(t, morning)
	fleetd, err := a.IssueInstance("fleetd", morning)
	if err != nil {
		t.Fatal(err)
	}
	r7 := robot(t, a, "r7", morning)
	for c, want := range map[*x509.Certificate]ca.Holder{
		fleetd.Certificate: {Role: schema.RoleFleetd, Name: "fleetd", Serial: ca.Serial(fleetd.Certificate)},
		r7:                 {Role: schema.RoleRobot, Name: "r7", Serial: ca.Serial(r7)},
	} {
		if got, err := a.Verify(c, morning); err != nil || got != want {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	if _, err := a.Verify(r7, morning.Add(91*day)); !errors.Is(err, ca.ErrExpired) {
		t.Errorf("after it expired: %v", err)
	}
	if _, err := authority(t, morning).Verify(r7, morning); !errors.Is(err, ca.ErrForeign) {
		t.Errorf("with another fleet's authority: %v", err)
	}
	if _, err := a.IssueInstance("Fleet Fleetd", morning); err == nil {
		t.Error("a name with a blank is accepted for a fleetd instance")
	}
}

func TestInvalidSigningRequestIsRefused(t *testing.T) {
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	weak, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	good := request(t, p256(t), named("r7"))
	forged, _ := pem.Decode([]byte(good))
	forged.Bytes[len(forged.Bytes)-1] ^= 1
	withDNS, withURN := named("r7"), named("r7")
	withDNS.DNSNames = []string{"broker"}
	withURN.URIs = []*url.URL{{Scheme: "urn", Opaque: "troupe:robot:r8"}}
	for name, c := range map[string]struct{ text, code string }{
		"nothing":         {"", ca.CodeUnreadable},
		"no PEM":          {"r7", ca.CodeUnreadable},
		"not a request":   {"-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n", ca.CodeUnreadable},
		"two requests":    {good + good, ca.CodeUnreadable},
		"RSA":             {request(t, weak, named("r7")), ca.CodeWeakKey},
		"P-384":           {request(t, p384, named("r7")), ca.CodeWeakKey},
		"Ed25519":         {request(t, other, named("r7")), ca.CodeWeakKey},
		"wrong signature": {string(pem.EncodeToMemory(forged)), ca.CodeNotProven},
		"another name":    {request(t, p256(t), named("r8")), ca.CodeWrongSubject},
		"no name":         {request(t, p256(t), named("")), ca.CodeWrongSubject},
		"a DNS name too":  {request(t, p256(t), withDNS), ca.CodeWrongSubject},
		"another URN":     {request(t, p256(t), withURN), ca.CodeWrongSubject},
	} {
		if _, no := ca.ReadRequest(c.text, "r7"); no == nil || no.Code != c.code || no.Hint == "" || no.Pointer != "/csr" {
			t.Errorf("%s: %+v, want %s", name, no, c.code)
		}
	}
	if _, no := ca.ReadRequest(good, "r7"); no != nil {
		t.Errorf("a good request is refused: %v", no)
	}
}

func TestCRLContainsRevokedCertificates(t *testing.T) {
	a := authority(t, morning)
	c := robot(t, a, "r7", morning)
	text, err := a.SignCRL([]ca.Revoked{{Serial: ca.Serial(c), At: morning}}, 4, morning.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	crl, err := x509.ParseRevocationList(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if err := crl.CheckSignatureFrom(a.Issuers()[0]); err != nil {
		t.Error(err)
	}
	if len(crl.RevokedCertificateEntries) != 1 || crl.RevokedCertificateEntries[0].SerialNumber.Cmp(c.SerialNumber) != 0 ||
		crl.Number.Int64() != 4 {
		t.Errorf("%+v", crl.RevokedCertificateEntries)
	}
	if crl.NextUpdate.Sub(morning) < ca.RobotLife {
		t.Error("the CRL expires before the certificates on it")
	}
	if _, err := a.SignCRL([]ca.Revoked{{Serial: "xyz"}}, 5, morning); err == nil {
		t.Error("an invalid serial number is accepted")
	}
}

func TestNoCertificateOutlivesItsIssuer(t *testing.T) {
	a := authority(t, morning)
	late := a.Issuers()[0].NotAfter.Add(-10 * day)
	if c := robot(t, a, "r7", late); c.NotAfter.After(a.Issuers()[0].NotAfter) {
		t.Errorf("it expires on %v, its issuer on %v", c.NotAfter, a.Issuers()[0].NotAfter)
	}
}

func TestOpenRefusesMismatchedAndExpiredCertificates(t *testing.T) {
	root, intermediate, err := ca.New("museum", morning)
	if err != nil {
		t.Fatal(err)
	}
	other, another, err := ca.New("museum", morning)
	if err != nil {
		t.Fatal(err)
	}
	for what, open := range map[string]func() error{
		"another root": func() error { _, err := ca.Open(other.Certificate, intermediate, morning); return err },
		"another key": func() error {
			_, err := ca.Open(root.Certificate, ca.Pair{Certificate: intermediate.Certificate, Key: another.Key}, morning)
			return err
		},
		"expired": func() error {
			_, err := ca.Open(root.Certificate, intermediate, morning.AddDate(11, 0, 0))
			return err
		},
	} {
		if open() == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	if root.Certificate.MaxPathLen != 1 || !intermediate.Certificate.MaxPathLenZero {
		t.Error("the path length is not limited")
	}
}

func TestKeySurvivesEncoding(t *testing.T) {
	key := p256(t)
	text, err := ca.EncodeKey(key)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ca.ReadKey(text); err != nil || !got.Equal(key) {
		t.Error(err)
	}
	for _, bad := range []string{"", "r7", strings.Replace(string(text), "PRIVATE", "PUBLIC", 2), string(text) + string(text)} {
		if _, err := ca.ReadKey([]byte(bad)); err == nil {
			t.Errorf("%q is parsed as a key", bad)
		}
	}
	if _, err := ca.ReadCertificate(text); err == nil {
		t.Error("a key is parsed as a certificate")
	}
}
