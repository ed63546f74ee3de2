package identity

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/schema"
)

// fakeFleetd is a server that signs every certificate request.
type fakeFleetd struct {
	*httptest.Server
	t    testing.TB
	root *x509.Certificate
	key  *ecdsa.PrivateKey

	mu      sync.Mutex
	serial  int64
	asked   []string // public keys of the requests, in order
	shown   []string // serial numbers of the client certificates
	refuse  *Refusal
	change  func(*x509.Certificate)
	begin   time.Time // start of the certificates that it signs
	rootPEM string
}

func newFakeFleetd(t testing.TB) *fakeFleetd {
	t.Helper()
	key, _, err := makeKey()
	if err != nil {
		t.Fatal(err)
	}
	d := &fakeFleetd{t: t, key: key, begin: time.Now().Add(-time.Hour)}
	d.root = d.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "root"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, &key.PublicKey)
	d.rootPEM = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: d.root.Raw}))
	d.Server = httptest.NewUnstartedServer(http.HandlerFunc(d.answer))
	serverKey, _, err := makeKey()
	if err != nil {
		t.Fatal(err)
	}
	server := d.sign(&x509.Certificate{Subject: pkix.Name{CommonName: "fleetd"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, &serverKey.PublicKey)
	d.TLS = &tls.Config{MinVersion: tls.VersionTLS13, ClientAuth: tls.RequestClientCert,
		Certificates: []tls.Certificate{{Certificate: [][]byte{server.Raw}, PrivateKey: serverKey}}}
	d.StartTLS()
	t.Cleanup(d.Close)
	return d
}

func (d *fakeFleetd) sign(c *x509.Certificate, key *ecdsa.PublicKey) *x509.Certificate {
	d.t.Helper()
	d.serial++
	c.SerialNumber, c.NotBefore, c.NotAfter = big.NewInt(d.serial), d.begin, d.begin.Add(90*24*time.Hour)
	parent := d.root
	if parent == nil {
		parent = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key, d.key)
	if err != nil {
		d.t.Error(err)
		return nil
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		d.t.Error(err)
	}
	return signed
}

func (d *fakeFleetd) answer(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var body schema.EnrolRequest // a renewal has the same fields, without a token
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		d.t.Error(err)
	}
	block, _ := pem.Decode([]byte(body.CSR))
	csr, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		d.t.Error(err)
		return
	}
	der, err := x509.MarshalPKIXPublicKey(csr.PublicKey)
	if err != nil {
		d.t.Error(err)
	}
	d.asked = append(d.asked, string(der))
	if len(r.TLS.PeerCertificates) > 0 {
		d.shown = append(d.shown, r.TLS.PeerCertificates[0].SerialNumber.Text(16))
	}
	if d.refuse != nil {
		w.WriteHeader(d.refuse.Status)
		_ = json.NewEncoder(w).Encode(d.refuse)
		return
	}
	c := &x509.Certificate{
		Subject: csr.Subject, URIs: []*url.URL{{Scheme: "urn", Opaque: "troupe:robot:" + csr.Subject.CommonName}},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if d.change != nil {
		d.change(c)
	}
	signed := d.sign(c, csr.PublicKey.(*ecdsa.PublicKey))
	_ = json.NewEncoder(w).Encode(schema.Enrolled{
		TS: schema.TimeOf(time.Now()), Robot: csr.Subject.CommonName, Expires: schema.TimeOf(signed.NotAfter),
		Brokers: []string{"mqtts://broker:8883"},
		FleetID: "db-" + strings.TrimPrefix(r.URL.Path, "/api/v1/"), TrustKeys: []string{"desired:" + strings.TrimPrefix(r.URL.Path, "/api/v1/")},
		Certificate: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed.Raw})), CA: d.rootPEM,
	})
}

// with changes fields of the server under its lock.
func (d *fakeFleetd) with(do func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	do()
}

func (d *fakeFleetd) token(robot string) schema.EnrolmentToken {
	return schema.EnrolmentToken{Robot: robot, Secret: [16]byte{1, 2, 3}, Fingerprint: sha256.Sum256(d.Certificate().Raw)}
}

func (d *fakeFleetd) enrol(data string) (*Identity, error) {
	return Enrol(d.t.Context(), Enrolment{Data: data, Server: d.URL, Token: d.token("r7")})
}

func (d *fakeFleetd) must(i *Identity, err error) *Identity {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
	return i
}
