// Package vault stores the keys and certificates of package ca in a folder. Files are
// written atomically; keys are readable only by their owner.
//
//	root.pem, root.key.pem                  the root; its key must be moved offline
//	intermediate.pem, intermediate.key.pem  the intermediate, which signs all other certificates
//	ca.pem                                  both certificates, for servers that verify clients
//	crl.pem                                 the CRL, for the same servers
//	issued/SERIAL.pem                       certificates of fleetd instances, so that they can be revoked
package vault

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"troupe/fleetd/atomicfile"
	"troupe/fleetd/ca"
)

// Names of files in the folder.
const (
	RootFile            = "root.pem"
	RootKeyFile         = "root.key.pem"
	IntermediateFile    = "intermediate.pem"
	IntermediateKeyFile = "intermediate.key.pem"
	IssuersFile         = "ca.pem"
	CRLFile             = "crl.pem"
	IssuedFolder        = "issued"
)

const (
	secret = 0o600
	public = 0o644
)

// ErrExists says that a file exists, or that a folder is not empty.
var ErrExists = errors.New("it exists already")

// Make makes the folder, with a root, an intermediate and an empty CRL, and
// renames it into place. The folder must not exist, or be empty.
func Make(dir, fleet string, now time.Time) (err error) {
	root, intermediate, err := ca.New(fleet, now)
	if err != nil {
		return err
	}
	authority, err := ca.Open(root.Certificate, intermediate, now)
	if err != nil {
		return err
	}
	list, err := authority.SignCRL(nil, 1, now)
	if err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	if held, err := os.ReadDir(dir); err == nil && len(held) > 0 {
		return fmt.Errorf("%s: %w", dir, ErrExists)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	staged, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-")
	if err != nil {
		return fmt.Errorf("make a folder beside %s: %w", dir, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(staged))
		}
	}()
	for file, p := range map[string]ca.Pair{RootFile: root, IntermediateFile: intermediate} {
		if err := writePair(filepath.Join(staged, file), filepath.Join(staged, keyOf[file]), p); err != nil {
			return err
		}
	}
	if err := write(filepath.Join(staged, IssuersFile), ca.EncodeCertificates(authority.Issuers()...), public); err != nil {
		return err
	}
	if err := write(filepath.Join(staged, CRLFile), list, public); err != nil {
		return err
	}
	if err := os.Chmod(staged, 0o755); err != nil { // the broker, another user, reads CRLFile and IssuersFile; keys have modes of their own
		return err
	}
	// Remove deletes only an empty folder; Rename needs the name to be free.
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", dir, ErrExists)
	}
	if err := os.Rename(staged, dir); err != nil {
		return fmt.Errorf("rename folder to %s: %w", dir, err)
	}
	return atomicfile.SyncFolder(filepath.Dir(dir))
}

var keyOf = map[string]string{RootFile: RootKeyFile, IntermediateFile: IntermediateKeyFile}

// Vault is an open folder of keys.
type Vault struct {
	dir string
	*ca.Authority
}

// Open reads a folder that Make made. It does not read the root's key.
func Open(dir string, now time.Time) (*Vault, error) {
	root, err := readCertificate(filepath.Join(dir, RootFile))
	if err != nil {
		return nil, err
	}
	intermediate, err := readCertificate(filepath.Join(dir, IntermediateFile))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, IntermediateKeyFile)
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s is readable by other users: chmod 600 it, and find out whether they read it", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := ca.ReadKey(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	a, err := ca.Open(root, ca.Pair{Certificate: intermediate, Key: key}, now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return &Vault{dir, a}, nil
}

// HasRootKey reports whether the root's key is still in the folder. A thief of the
// folder would then control the whole fleet.
func (v *Vault) HasRootKey() bool {
	_, err := os.Stat(filepath.Join(v.dir, RootKeyFile))
	return err == nil
}

// SaveCRL replaces the CRL.
func (v *Vault) SaveCRL(list []byte) error {
	return write(filepath.Join(v.dir, CRLFile), list, public)
}

// SaveIssued stores the certificate of a fleetd instance in the folder.
func (v *Vault) SaveIssued(c *x509.Certificate) error {
	dir := filepath.Join(v.dir, IssuedFolder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return write(filepath.Join(dir, ca.Serial(c)+".pem"), ca.EncodeCertificates(c), public)
}

// Issued returns the unexpired certificates that SaveIssued stored, except those in known. Invalid
// files, and certificates of other fleets, are returned as an error beside the others.
func (v *Vault) Issued(known map[string]bool, now time.Time) (fresh []*x509.Certificate, err error) {
	dir := filepath.Join(v.dir, IssuedFolder)
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var errs []error
	for _, f := range files {
		serial, ok := strings.CutSuffix(f.Name(), ".pem")
		if !ok || known[serial] {
			continue
		}
		c, err := readCertificate(filepath.Join(dir, f.Name()))
		if err == nil {
			_, err = v.Verify(c, now)
		}
		switch {
		case errors.Is(err, ca.ErrExpired):
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", filepath.Join(dir, f.Name()), err))
		default:
			fresh = append(fresh, c)
		}
	}
	return fresh, errors.Join(errs...)
}

// SavePair writes a certificate chain and its key. It overwrites existing files only with
// replace. It writes the key first: a server that reloads in between finds a mismatch and
// keeps the pair that it has.
func SavePair(certificate, key string, replace bool, p ca.Pair, chain []*x509.Certificate) error {
	if !replace {
		for _, file := range []string{certificate, key} {
			if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: %w", file, ErrExists)
			}
		}
	}
	text, err := ca.EncodeKey(p.Key)
	if err != nil {
		return err
	}
	if err := write(key, text, secret); err != nil {
		return err
	}
	return write(certificate, ca.EncodeCertificates(chain...), public)
}

func writePair(certificate, key string, p ca.Pair) error {
	return SavePair(certificate, key, false, p, []*x509.Certificate{p.Certificate})
}

// write replaces a file atomically and returns when it is synced.
func write(path string, text []byte, mode os.FileMode) error {
	if err := atomicfile.Write(path, text, mode); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func readCertificate(path string) (*x509.Certificate, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := ca.ReadCertificate(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}
