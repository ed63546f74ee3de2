// Package identity keeps a robot's key and certificates in its data directory, and
// asks fleetd for them: once with a token, then each time with what it has.
//
//	DATA/identity/key.pem      the robot's key, for nobody but its owner
//	DATA/identity/cert.pem     its certificate, and who signed it
//	DATA/identity/ca.pem       whom it trusts
//	DATA/identity/fleetd.json    where it got them, and where its brokers are
//	DATA/time                  the fleet's time, as it was heard last
//
// The folder is a link to one in identity.d, and a new identity is a new folder
// that the link then leads to: key and certificate change together, and who looks
// at any time, also after a loss of power, finds the old ones or the new.
package identity

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"troupe/schema"
)

// The files.
const (
	linkName    = "identity"
	folderName  = "identity.d"
	keyFile     = "key.pem"
	chainFile   = "cert.pem"
	caFile      = "ca.pem"
	fleetdFile  = "fleetd.json"
	pendingFile = "pending.key.pem"
)

// ErrNone says that a robot was never enrolled, at least not with this data.
var ErrNone = errors.New("this robot has no identity yet")

// Fleetd is where an identity comes from.
type Fleetd struct {
	Server      string   `json:"server"`      // https://host:port
	Fingerprint []byte   `json:"fingerprint"` // SHA-256 of the certificate that it showed when it was asked first
	Brokers     []string `json:"brokers"`     // the preferred first
	// Whom the robot obeys and whose signatures it believes, as fleetd said when
	// it was asked first.
	FleetID   string   `json:"fleet_id,omitempty"`
	TrustKeys []string `json:"trust_keys,omitempty"`
}

// Identity is what a robot proves itself with.
type Identity struct {
	Robot       string
	Certificate tls.Certificate // with its leaf
	Roots       *x509.CertPool
	Fleetd      Fleetd

	ca []byte
}

// Leaf is the robot's own certificate.
func (i *Identity) Leaf() *x509.Certificate { return i.Certificate.Leaf }

// Serial is how fleetd calls the certificate.
func (i *Identity) Serial() string { return i.Leaf().SerialNumber.Text(16) }

// Load reads the identity that data holds, or answers ErrNone.
func Load(data string) (*Identity, error) {
	dir, before := filepath.Join(data, linkName), ""
	for {
		// The link may lead elsewhere from one file to the next.
		at, err := filepath.EvalSymlinks(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && before == "" && !leads(dir):
			return nil, ErrNone
		case err != nil:
			return nil, fmt.Errorf("open the identity: %w", err)
		}
		i, err := read(at)
		if errors.Is(err, fs.ErrNotExist) && at != before {
			before = at // it was replaced while we read
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("open the identity in %s: %w", dir, err)
		}
		return i, nil
	}
}

// leads reports whether there is a link at all, be it to nothing.
func leads(link string) bool {
	_, err := os.Lstat(link)
	return err == nil
}

func read(dir string) (*Identity, error) {
	var text [4][]byte
	for n, file := range []string{chainFile, keyFile, caFile, fleetdFile} {
		var err error
		if text[n], err = os.ReadFile(filepath.Join(dir, file)); err != nil && (file != fleetdFile || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
	}
	i, err := assemble(text[0], text[1], text[2])
	if err == nil && text[3] != nil {
		err = json.Unmarshal(text[3], &i.Fleetd)
	}
	return i, err
}

// assemble checks that what was given belongs together.
func assemble(chain, key, ca []byte) (*Identity, error) {
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, err
	}
	i := &Identity{Certificate: pair, Roots: x509.NewCertPool(), ca: ca}
	if !i.Roots.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s holds no certificate", caFile)
	}
	leaf := pair.Leaf
	if len(leaf.URIs) != 1 {
		return nil, errors.New("the certificate names nobody")
	}
	role, name, ok := schema.ParseIdentityURN(leaf.URIs[0].String())
	if !ok || role != schema.RoleRobot || name != leaf.Subject.CommonName {
		return nil, fmt.Errorf("the certificate is no robot's: it names %s", leaf.URIs[0])
	}
	i.Robot = name
	return i, nil
}

// check is that the certificate leads to whom the robot trusts. Its dates are the
// fleetd's affair: the robot's clock may be wrong.
func (i *Identity) check() error {
	between := x509.NewCertPool()
	for _, der := range i.Certificate.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(c)
		}
	}
	_, err := i.Leaf().Verify(x509.VerifyOptions{
		Roots: i.Roots, Intermediates: between, CurrentTime: i.Leaf().NotBefore.Add(time.Second), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err
}

// save makes this identity the one that data holds.
func save(data string, i *Identity, chain, key []byte) (err error) {
	folder := filepath.Join(data, folderName)
	unlock, err := lock(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	dir := filepath.Join(folder, i.Serial())
	if info, err := os.Lstat(filepath.Join(data, linkName)); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("%s was not made by robotd: move it away first", filepath.Join(data, linkName))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make a folder for the identity: %w", err)
	}
	fleetd, err := json.MarshalIndent(i.Fleetd, "", "  ")
	if err != nil {
		return err
	}
	for file, text := range map[string][]byte{keyFile: key, chainFile: chain, caFile: i.ca, fleetdFile: append(fleetd, '\n')} {
		mode := fs.FileMode(0o644)
		if file == keyFile {
			mode = 0o600
		}
		if err := write(filepath.Join(dir, file), text, mode); err != nil {
			return err
		}
	}
	if err := errors.Join(syncFolder(dir), syncFolder(folder)); err != nil {
		return err
	}
	if err := renameio.Symlink(filepath.Join(folderName, i.Serial()), filepath.Join(data, linkName)); err != nil {
		return fmt.Errorf("lead to the new identity: %w", err)
	}
	if err := syncFolder(data); err != nil {
		return err
	}
	return tidy(folder, i.Serial())
}

// tidy removes what came before and what a crash left behind: old keys are of no
// use to anybody but a thief.
func tidy(folder, keep string) error {
	all, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range all {
		if e.Name() != keep {
			errs = append(errs, os.RemoveAll(filepath.Join(folder, e.Name())))
		}
	}
	return errors.Join(errs...)
}

// pending is the key of an enrolment that began: the same one each time, so that
// fleetd gives the same answer if the first one was lost.
func pending(data string) (*ecdsa.PrivateKey, []byte, error) {
	folder := filepath.Join(data, folderName)
	path := filepath.Join(folder, pendingFile)
	text, err := os.ReadFile(path)
	if err == nil {
		if key, err := parseKey(text); err == nil {
			return key, text, nil
		}
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make a folder for the identity: %w", err)
	}
	key, text, err := makeKey()
	if err != nil {
		return nil, nil, err
	}
	if err := write(path, text, 0o600); err != nil {
		return nil, nil, err
	}
	return key, text, syncFolder(folder)
}

func write(path string, text []byte, mode fs.FileMode) error {
	if err := renameio.WriteFile(path, text, mode); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// syncFolder makes what happened in a folder safe from a loss of power.
func syncFolder(dir string) error {
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func parseKey(text []byte) (*ecdsa.PrivateKey, error) {
	block, rest := pem.Decode(text)
	if block == nil || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("no key in PEM")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("the key is not of ECDSA")
	}
	return ec, nil
}
