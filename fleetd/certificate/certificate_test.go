package certificate_test

import (
	"bytes"
	"crypto/x509"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/ca"
	"troupe/fleetd/certificate"
	"troupe/fleetd/vault"
)

// keys is a folder with the fleet's keys, and the files of an address.
type keys struct {
	*testing.T
	vault     *vault.Vault
	cert, key string
	written   int
}

func newKeys(t *testing.T) *keys {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ca")
	if err := vault.Make(dir, "test", time.Now()); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return &keys{T: t, vault: v, cert: filepath.Join(dir, "server.pem"), key: filepath.Join(dir, "server.key.pem")}
}

// touch gives the files another modification time than before: file systems are coarse.
func (k *keys) touch() {
	k.Helper()
	k.written++
	at := time.Now().Add(time.Duration(k.written) * time.Second)
	for _, file := range []string{k.cert, k.key} {
		if err := os.Chtimes(file, at, at); err != nil {
			k.Fatal(err)
		}
	}
}

// renew writes a certificate that was made at a time, and returns its serial number.
func (k *keys) renew(at time.Time) string {
	k.Helper()
	pair, err := k.vault.Server([]string{"localhost"}, nil, at)
	if err != nil {
		k.Fatal(err)
	}
	if err := vault.SavePair(k.cert, k.key, true, pair, k.vault.Chain(pair.Certificate)); err != nil {
		k.Fatal(err)
	}
	k.touch()
	return ca.Serial(pair.Certificate)
}

func TestChangedCertificateIsServedUnlessItIsBroken(t *testing.T) {
	k := newKeys(t)
	var log bytes.Buffer
	first := k.renew(time.Now())
	c, err := certificate.LoadServer(k.cert, k.key, slog.New(slog.NewTextHandler(&log, nil)), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	serves := func(want, what string) {
		t.Helper()
		for range 3 {
			pair, err := c.Config().GetCertificate(nil)
			if err != nil {
				t.Fatal(err)
			}
			leaf, err := x509.ParseCertificate(pair.Certificate[0])
			if err != nil || ca.Serial(leaf) != want {
				t.Fatalf("%s: %s is served, want %s", what, ca.Serial(leaf), want)
			}
		}
	}
	serves(first, "at first")
	second := k.renew(time.Now())
	serves(second, "after a change")
	k.renew(time.Now().AddDate(-20, 0, 0))
	serves(second, "with an expired certificate")
	k.renew(time.Now().AddDate(0, 0, 2))
	serves(second, "with one that is not valid yet")
	if err := os.WriteFile(k.cert, []byte("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k.touch()
	log.Reset()
	serves(second, "with a broken file")
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("a broken file is logged %d times:\n%s", n, log.String())
	}
	if err := os.Remove(k.key); err != nil {
		t.Fatal(err)
	}
	serves(second, "without a key")
	serves(k.renew(time.Now()), "after the repair")
}

func TestMissingCertificateFailsTheStart(t *testing.T) {
	k := newKeys(t)
	_, err := certificate.LoadServer(k.cert, k.key, slog.New(slog.DiscardHandler), time.Now)
	if err == nil || !strings.Contains(err.Error(), "fleetd ca server makes one") {
		t.Errorf("it says %v", err)
	}
}

func TestEachConnectionToTheBrokerHasItsOwnCertificate(t *testing.T) {
	k := newKeys(t)
	now := time.Now()
	i := certificate.NewIdentity(certificate.IdentityDeps{Name: "fleetd", Vault: k.vault, Now: func() time.Time { return now }})
	seen := map[string]bool{}
	for range 3 {
		how, err := i.TLS()
		if err != nil || len(how.Certificates) != 1 || how.RootCAs == nil {
			t.Fatalf("%+v, %v", how, err)
		}
		leaf := how.Certificates[0].Leaf
		if leaf.Subject.CommonName != "fleetd" || leaf.NotAfter.Before(now) {
			t.Errorf("the certificate is of %s until %v", leaf.Subject, leaf.NotAfter)
		}
		seen[ca.Serial(leaf)] = true
	}
	if len(seen) != 3 {
		t.Errorf("three connections have %d certificates", len(seen))
	}
	i = certificate.NewIdentity(certificate.IdentityDeps{Name: "fleetd", Password: "secret", Vault: k.vault, Now: time.Now})
	if how, err := i.TLS(); err != nil || len(how.Certificates) != 0 {
		t.Errorf("with a password it shows %d certificates, %v", len(how.Certificates), err)
	}
}

func TestIssuerSaysWhatIsMissing(t *testing.T) {
	k := newKeys(t)
	k.renew(time.Now())
	c, err := certificate.LoadServer(k.cert, k.key, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	with := func(url string) *certificate.Identity {
		return certificate.NewIdentity(certificate.IdentityDeps{Vault: k.vault, Server: c, RobotBrokers: []string{"mqtts://b"}, Now: time.Now,
			EnrolURL: func() string { return url }})
	}
	if _, err := certificate.NewIdentity(certificate.IdentityDeps{}).Issuer(); err == nil || !strings.Contains(err.Error(), "no keys") {
		t.Errorf("without keys: %v", err)
	}
	if _, err := with("").Issuer(); err == nil || !strings.Contains(err.Error(), "no address") {
		t.Errorf("without an address: %v", err)
	}
	if got, err := with("https://x").Issuer(); err != nil || got.URL != "https://x" || len(got.Brokers) != 1 || len(got.TrustKeys) != 0 {
		t.Errorf("it issues with %+v, %v", got, err)
	}
}
