package identity

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func files(t *testing.T, dir string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEnrolStoresIdentity(t *testing.T) {
	d, data := newFakeFleetd(t), filepath.Join(t.TempDir(), "data")
	if _, err := Load(data); !errors.Is(err, ErrNone) {
		t.Errorf("before: %v", err)
	}
	got := d.must(d.enrol(data))
	kept := d.must(Load(data))
	if kept.Robot != "r7" || kept.Serial() != got.Serial() || kept.Fleetd.Server != d.URL || kept.Fleetd.Brokers[0] != "mqtts://broker:8883" {
		t.Errorf("%+v", kept)
	}
	if kept.Fleetd.FleetID != "db-enrol" || len(kept.Fleetd.TrustKeys) != 1 || kept.Fleetd.TrustKeys[0] != "desired:enrol" {
		t.Errorf("fleet id and trust keys: %+v", kept.Fleetd)
	}
	for _, file := range []string{keyFile, chainFile, caFile, fleetdFile} {
		info, err := os.Stat(filepath.Join(data, "identity", file))
		if err != nil {
			t.Fatal(err)
		}
		if private := info.Mode().Perm()&0o077 == 0; private != (file == keyFile) {
			t.Errorf("%s has the mode %v", file, info.Mode())
		}
	}
	if n := len(files(t, data)); n != 5 {
		t.Errorf("files: %v", files(t, data))
	}
}

func TestEnrolSendsNothingToAnotherServer(t *testing.T) {
	d, other, data := newFakeFleetd(t), newFakeFleetd(t), t.TempDir()
	_, err := Enrol(t.Context(), Enrolment{Data: data, Server: other.URL, Token: d.token("r7")})
	if !errors.Is(err, ErrNotFleetd) {
		t.Errorf("another instance: %v", err)
	}
	if len(other.asked) > 0 {
		t.Error("the other server received the token")
	}
	if _, err := Load(data); !errors.Is(err, ErrNone) {
		t.Errorf("after: %v", err)
	}
	for _, server := range []string{"http://127.0.0.1", "fleetd", ""} {
		if _, err := Enrol(t.Context(), Enrolment{Data: data, Server: server, Token: d.token("r7")}); err == nil {
			t.Errorf("%q is accepted as an address", server)
		}
	}
}

func TestRepeatedEnrolmentUsesSameKey(t *testing.T) {
	d, data := newFakeFleetd(t), t.TempDir()
	d.with(func() { d.refuse = &Refusal{Status: 503, Title: "Too much at once", Detail: "busy", Hint: "try again"} })
	_, err := d.enrol(data)
	var no *Refusal
	if !errors.As(err, &no) || no.Error() != "busy; try again" {
		t.Errorf("%v", err)
	}
	d.with(func() { d.refuse = nil })
	d.must(d.enrol(data))
	if len(d.asked) != 2 || d.asked[0] != d.asked[1] {
		t.Error("the second attempt used another key, which fleetd would have to refuse")
	}
	d.must(d.enrol(data))
	if d.asked[2] == d.asked[1] {
		t.Error("a new enrolment uses the old key")
	}
}

func TestRenewalUsesNewKeyAndPresentCertificate(t *testing.T) {
	d, data := newFakeFleetd(t), t.TempDir()
	first := d.must(d.enrol(data))
	second := d.must(Renew(t.Context(), data, time.Now))
	third := d.must(Renew(t.Context(), data, time.Now))
	if third.Fleetd.FleetID != "db-enrol" || third.Fleetd.TrustKeys[0] != "desired:enrol" {
		t.Errorf("a renewal changed fleet id or trust keys: %+v", third.Fleetd)
	}
	if d.asked[0] == d.asked[1] || d.asked[1] == d.asked[2] {
		t.Error("a renewal kept the old key")
	}
	if len(d.shown) != 2 || d.shown[0] != first.Serial() || d.shown[1] != second.Serial() {
		t.Errorf("client certificates %v, want %s %s", d.shown, first.Serial(), second.Serial())
	}
	if kept := d.must(Load(data)); kept.Serial() != third.Serial() || string(kept.ca) != d.rootPEM {
		t.Errorf("the stored identity is %s", kept.Serial())
	}
	if n := len(files(t, data)); n != 5 {
		t.Errorf("old keys were not removed: %v", files(t, data))
	}
}

// At a renewal fleetd may have another certificate than at the enrolment if the fleet
// has signed it for that name.
func TestRenewalTrustsOnlyTheFleet(t *testing.T) {
	d, data := newFakeFleetd(t), t.TempDir()
	i := d.must(d.enrol(data))
	trust := func(fingerprint byte) error {
		i.Fleetd.Fingerprint = append([]byte{fingerprint}, i.Fleetd.Fingerprint[1:]...)
		text, key := filepath.Join(data, "identity", chainFile), filepath.Join(data, "identity", keyFile)
		chain, err := os.ReadFile(text)
		if err != nil {
			t.Fatal(err)
		}
		private, err := os.ReadFile(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := save(data, i, chain, private); err != nil {
			t.Fatal(err)
		}
		i, err = Renew(t.Context(), data, time.Now)
		if err != nil {
			i = d.must(Load(data))
		}
		return err
	}
	if err := trust(i.Fleetd.Fingerprint[0] ^ 1); err != nil {
		t.Errorf("another certificate of the fleet: %v", err)
	}
	other := newFakeFleetd(t)
	i.Fleetd.Server = other.URL
	if err := trust(0); err == nil {
		t.Error("the fleetd of another fleet is accepted")
	}
	if len(other.asked) > 0 {
		t.Error("the fleetd of another fleet received the request")
	}
	i.Fleetd.Server = strings.Replace(d.URL, "127.0.0.1", "localhost", 1)
	if err := trust(0); err == nil {
		t.Error("a certificate for another name is accepted")
	}
}

func TestWrongCertificateIsRejected(t *testing.T) {
	for what, change := range map[string]func(*x509.Certificate){
		"another robot's":     func(c *x509.Certificate) { c.URIs[0].Opaque = "troupe:robot:r8" },
		"without a URI":       func(c *x509.Certificate) { c.URIs = nil },
		"a fleetd instance's": func(c *x509.Certificate) { c.URIs[0].Opaque = "troupe:fleetd:r7" },
		"with two URIs":       func(c *x509.Certificate) { c.URIs = append(c.URIs, &url.URL{Scheme: "urn", Opaque: "x:y"}) },
		"with another name":   func(c *x509.Certificate) { c.Subject.CommonName, c.URIs[0].Opaque = "r8", "troupe:robot:r8" },
		"a server's":          func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} },
	} {
		d, data := newFakeFleetd(t), t.TempDir()
		first := d.must(d.enrol(data))
		d.with(func() { d.change = change })
		if _, err := Renew(t.Context(), data, time.Now); err == nil {
			t.Errorf("a certificate %s is accepted", what)
		}
		if kept := d.must(Load(data)); kept.Serial() != first.Serial() {
			t.Errorf("after a certificate %s the robot has lost its own", what)
		}
	}
}

// A robot without a clock battery starts in 1970. It must reach its broker all the same.
func TestClockIsAtLeastStartOfCertificate(t *testing.T) {
	d, data := newFakeFleetd(t), t.TempDir()
	i := d.must(d.enrol(data))
	for _, now := range []time.Time{time.Unix(0, 0), time.Now()} {
		c := i.TLS(func() time.Time { return now })
		conn, err := tls.Dial("tcp", strings.TrimPrefix(d.URL, "https://"), c)
		if err != nil {
			t.Errorf("at %v: %v", now, err)
			continue
		}
		conn.Close()
	}
	if _, err := Renew(t.Context(), data, func() time.Time { return time.Unix(0, 0) }); err != nil {
		t.Error(err)
	}
}

func TestFleetTimeAfterCertificateIsIgnored(t *testing.T) {
	d, data := newFakeFleetd(t), t.TempDir()
	i := d.must(d.enrol(data))
	for at, accepted := range map[time.Time]bool{i.Leaf().NotAfter.Add(-time.Hour): true, i.Leaf().NotAfter: false,
		time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC): false} {
		if err := SaveFleetTime(data, at); err != nil {
			t.Fatal(err)
		}
		if got, err := LoadFleetTime(data); accepted != (err == nil) || accepted != got.Equal(at) {
			t.Errorf("%v: %v, %v", at, got, err)
		}
	}
}

func TestManuallyCreatedFolderIsUsedAndNotReplaced(t *testing.T) {
	d, made, data := newFakeFleetd(t), t.TempDir(), t.TempDir()
	d.must(d.enrol(made))
	if err := os.CopyFS(filepath.Join(data, "identity"), os.DirFS(filepath.Join(made, "identity"))); err != nil {
		t.Fatal(err)
	}
	i := d.must(Load(data))
	if _, err := Renew(t.Context(), data, time.Now); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("%v", err)
	}
	if again := d.must(Load(data)); again.Serial() != i.Serial() {
		t.Error("the identity was replaced")
	}
}
