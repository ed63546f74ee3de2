package vault_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/fleetd/ca"
	"troupe/fleetd/vault"
)

var morning = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

func filled(t *testing.T) (string, *vault.Vault) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "keys", "ca")
	if err := vault.Make(dir, "museum", morning); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(dir, morning)
	if err != nil {
		t.Fatal(err)
	}
	return dir, v
}

func TestExistingFolderIsNotOverwritten(t *testing.T) {
	dir, v := filled(t)
	before, err := os.ReadFile(filepath.Join(dir, vault.RootFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := vault.Make(dir, "museum", morning); !errors.Is(err, vault.ErrExists) {
		t.Errorf("a second time: %v", err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, vault.RootFile)); err != nil || string(after) != string(before) {
		t.Error("the root was replaced")
	}
	beside, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(beside) != 1 {
		t.Errorf("it left %v, %v", beside, err)
	}
	if !v.HasRootKey() {
		t.Error("the root's key is not found")
	}
	empty := t.TempDir()
	if err := vault.Make(empty, "museum", morning); err != nil {
		t.Errorf("an empty folder is refused: %v", err)
	}
}

func TestFolderWithoutRootKeyCanSign(t *testing.T) {
	dir, _ := filled(t)
	if err := os.Remove(filepath.Join(dir, vault.RootKeyFile)); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(dir, morning)
	if err != nil {
		t.Fatal(err)
	}
	if v.HasRootKey() {
		t.Error("the removed root key is reported as present")
	}
	if _, err := v.IssueInstance("fleetd", morning); err != nil {
		t.Error(err)
	}
}

func TestKeysMustBePrivateToOwner(t *testing.T) {
	dir, _ := filled(t)
	for _, file := range []string{vault.RootKeyFile, vault.IntermediateKeyFile} {
		info, err := os.Stat(filepath.Join(dir, file))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the broker cannot read the list of revoked certificates: %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(filepath.Join(dir, vault.IntermediateKeyFile), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := vault.Open(dir, morning); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that is readable by others: %v", err)
	}
}

func TestSavedPairCanBeLoaded(t *testing.T) {
	dir, v := filled(t)
	p, err := v.Server([]string{"localhost"}, nil, morning)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key := filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key.pem")
	save := func(replace bool) error { return vault.SavePair(certificate, key, replace, p, v.Chain(p.Certificate)) }
	if err := save(false); err != nil {
		t.Fatal(err)
	}
	if err := save(false); !errors.Is(err, vault.ErrExists) {
		t.Errorf("a second time: %v", err)
	}
	if err := save(true); err != nil {
		t.Errorf("replaced: %v", err)
	}
	if pair, err := tls.LoadX509KeyPair(certificate, key); err != nil || len(pair.Certificate) != 2 {
		t.Errorf("%d certificates, %v", len(pair.Certificate), err)
	}
	before, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(folder, "not empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if p, err = v.Server([]string{"localhost"}, nil, morning); err != nil {
		t.Fatal(err)
	}
	err = vault.SavePair(certificate, folder, true, p, v.Chain(p.Certificate))
	if after, _ := os.ReadFile(certificate); err == nil || !bytes.Equal(before, after) {
		t.Errorf("a key that cannot be written: %v, and the certificate is replaced: %v", err, !bytes.Equal(before, after))
	}
}

func TestCRLIsReplaced(t *testing.T) {
	dir, v := filled(t)
	crl, err := v.SignCRL([]ca.Revoked{{Serial: "4f", At: morning}}, 2, morning)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.SaveCRL(crl); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, vault.CRLFile)); err != nil || string(got) != string(crl) {
		t.Errorf("%s, %v", got, err)
	}
}

func TestInvalidFolderIsRefused(t *testing.T) {
	dir, _ := filled(t)
	if _, err := vault.Open(t.TempDir(), morning); err == nil {
		t.Error("an empty folder is accepted")
	}
	if err := os.WriteFile(filepath.Join(dir, vault.IntermediateFile), []byte("nothing"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := vault.Open(dir, morning); err == nil || !strings.Contains(err.Error(), vault.IntermediateFile) {
		t.Errorf("a broken certificate: %v", err)
	}
}

// A file that somebody could read does not stay so when a secret is written over it.
func TestReplacedKeyIsForItsOwnerOnly(t *testing.T) {
	_, v := filled(t)
	pair, err := v.Server([]string{"localhost"}, nil, morning)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key.pem")
	if err := os.WriteFile(key, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := vault.SavePair(cert, key, true, pair, v.Chain(pair.Certificate)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key is %v, %v", info.Mode(), err)
	}
}

func TestInstancesThatStartAtOnceHaveOneSealKey(t *testing.T) {
	for range 50 {
		folder := t.TempDir()
		path := filepath.Join(folder, "key")
		sealed := make([][]byte, 8)
		var all sync.WaitGroup
		for i := range sealed {
			all.Go(func() {
				var err error
				if sealed[i], err = vault.FileSealer(path).Seal([]byte("text"), "crew"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for _, one := range sealed {
			if text, err := vault.FileSealer(path).Open(one, "crew"); err != nil || string(text) != "text" {
				t.Fatalf("%q, %v", text, err)
			}
		}
		if beside, err := os.ReadDir(folder); err != nil || len(beside) != 1 {
			t.Fatalf("they left %v, %v", beside, err)
		}
	}
}

func TestShortSealKeyIsRefusedAndStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	for _, text := range []string{"", "half of a key"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := vault.FileSealer(path).Seal([]byte("text"), "crew"); err == nil || !strings.Contains(err.Error(), "restore it") {
			t.Errorf("a key of %d bytes: %v", len(text), err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != text {
			t.Errorf("it is replaced by %q, %v", after, err)
		}
	}
}
