// Package identity stores a robot's key and certificates in its data directory, and
// requests them from fleetd: first with a token, later with the present certificate.
//
//	DATA/identity/key.pem      the robot's key, readable only by its owner
//	DATA/identity/cert.pem     its certificate and those of the signers
//	DATA/identity/ca.pem       the root certificates that it trusts
//	DATA/identity/fleetd.json  the address of fleetd and of the brokers
//	DATA/time                  the newest time received from the fleet
//
// DATA/identity is a symbolic link to a folder in identity.d. A new identity is written
// to a new folder, and then the link is replaced. So key and certificate change
// together, and at any time, also after a loss of power, either the old or the new
// identity is complete.
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

// Names of files and folders.
const (
	linkName    = "identity"
	folderName  = "identity.d"
	keyFile     = "key.pem"
	chainFile   = "cert.pem"
	caFile      = "ca.pem"
	fleetdFile  = "fleetd.json"
	pendingFile = "pending.key.pem"
)

// ErrNone is returned by Load if the data directory contains no identity.
var ErrNone = errors.New("this robot has no identity yet")

// Fleetd is the fleetd that an identity comes from.
type Fleetd struct {
	Server      string   `json:"server"`      // https://host:port
	Fingerprint []byte   `json:"fingerprint"` // SHA-256 of the server certificate at the enrolment
	Brokers     []string `json:"brokers"`     // the preferred first
	// The fleet that the robot obeys and the keys whose signatures it trusts, as
	// fleetd sent them at the enrolment.
	FleetID   string   `json:"fleet_id,omitempty"`
	TrustKeys []string `json:"trust_keys,omitempty"`
}

// Identity authenticates a robot.
type Identity struct {
	Robot       string
	Certificate tls.Certificate // with Leaf set
	Roots       *x509.CertPool
	Fleetd      Fleetd

	ca []byte
}

// Leaf returns the robot's own certificate.
func (i *Identity) Leaf() *x509.Certificate { return i.Certificate.Leaf }

// Serial returns the certificate's serial number in fleetd's notation.
func (i *Identity) Serial() string { return i.Leaf().SerialNumber.Text(16) }

// Load reads the identity from data, or returns ErrNone.
func Load(data string) (*Identity, error) {
	dir, before := filepath.Join(data, linkName), ""
	for {
		// The link may be replaced between the reading of two files.
		at, err := filepath.EvalSymlinks(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && before == "" && !linkExists(dir):
			return nil, ErrNone
		case err != nil:
			return nil, fmt.Errorf("open the identity: %w", err)
		}
		i, err := readIdentity(at)
		if errors.Is(err, fs.ErrNotExist) && at != before {
			before = at // the identity was replaced meanwhile
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("open the identity in %s: %w", dir, err)
		}
		return i, nil
	}
}

// linkExists reports whether the link exists, even if its target does not.
func linkExists(link string) bool {
	_, err := os.Lstat(link)
	return err == nil
}

func readIdentity(dir string) (*Identity, error) {
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

// assemble builds an identity and checks that certificate, key and name belong together.
func assemble(chain, key, ca []byte) (*Identity, error) {
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return nil, err
	}
	i := &Identity{Certificate: pair, Roots: x509.NewCertPool(), ca: ca}
	if !i.Roots.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s contains no certificate", caFile)
	}
	leaf := pair.Leaf
	if len(leaf.URIs) != 1 {
		return nil, errors.New("the certificate does not have exactly one URI")
	}
	role, name, ok := schema.ParseIdentityURN(leaf.URIs[0].String())
	if !ok || role != schema.RoleRobot || name != leaf.Subject.CommonName {
		return nil, fmt.Errorf("the certificate is not that of a robot: it names %s", leaf.URIs[0])
	}
	i.Robot = name
	return i, nil
}

// checkChain checks that a trusted root has signed the certificate. fleetd checks the
// dates, because the robot's clock may be wrong.
func (i *Identity) checkChain() error {
	intermediates := x509.NewCertPool()
	for _, der := range i.Certificate.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil {
			intermediates.AddCert(c)
		}
	}
	_, err := i.Leaf().Verify(x509.VerifyOptions{
		Roots: i.Roots, Intermediates: intermediates, CurrentTime: i.Leaf().NotBefore.Add(time.Second),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return err
}

// save stores an identity as the present one.
func save(data string, i *Identity, chain, key []byte) (err error) {
	folder := filepath.Join(data, folderName)
	unlock, err := lock(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	dir := filepath.Join(folder, i.Serial())
	if info, err := os.Lstat(filepath.Join(data, linkName)); err == nil && info.Mode()&fs.ModeSymlink == 0 {
		return fmt.Errorf("%s was not created by robotd: move it away first", filepath.Join(data, linkName))
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
		if err := writeFile(filepath.Join(dir, file), text, mode); err != nil {
			return err
		}
	}
	if err := errors.Join(syncFolder(dir), syncFolder(folder)); err != nil {
		return err
	}
	if err := renameio.Symlink(filepath.Join(folderName, i.Serial()), filepath.Join(data, linkName)); err != nil {
		return fmt.Errorf("link to the new identity: %w", err)
	}
	if err := syncFolder(data); err != nil {
		return err
	}
	return removeOthers(folder, i.Serial())
}

// removeOthers removes older identities and what a crash left behind, because old keys
// are only useful to a thief.
func removeOthers(folder, keep string) error {
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

// pendingKey returns the key for an enrolment. Every attempt uses the same key, so that
// fleetd repeats its answer if the first one was lost.
func pendingKey(data string) (*ecdsa.PrivateKey, []byte, error) {
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
	if err := writeFile(path, text, 0o600); err != nil {
		return nil, nil, err
	}
	return key, text, syncFolder(folder)
}

func writeFile(path string, text []byte, mode fs.FileMode) error {
	if err := renameio.WriteFile(path, text, mode); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// syncFolder makes changes in a folder survive a loss of power.
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
		return nil, errors.New("the key file contains no single PEM block")
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	ec, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("the key is not an ECDSA key")
	}
	return ec, nil
}
