// Package vault keeps the keys and certificates of a fleet in a folder: what
// package ca makes is written there and read from there. Every file is there as a
// whole or not at all, keys for nobody but their owner.
//
//	root.pem, root.key.pem                  the root; its key is to be moved away
//	intermediate.pem, intermediate.key.pem  what signs from day to day
//	ca.pem                                  both certificates, for servers that judge clients
//	crl.pem                                 the list of the revoked, for the same servers
//	issued/SERIAL.pem                       certificates of fleetd instances, so that a fleetd instance knows what it can revoke
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

	"github.com/google/renameio/v2"

	"troupe/fleetd/ca"
)

// The files of the folder.
const (
	RootFile            = "root.pem"
	RootKeyFile         = "root.key.pem"
	IntermediateFile    = "intermediate.pem"
	IntermediateKeyFile = "intermediate.key.pem"
	IssuersFile         = "ca.pem"
	ListFile            = "crl.pem"
	IssuedFolder        = "issued"
)

const (
	secret = 0o600
	public = 0o644
)

// ErrExists says that a folder holds something already.
var ErrExists = errors.New("there is something already")

// Make fills a new folder with a root, an intermediate and an empty list. The
// folder appears as a whole: it may not exist before, or must be empty.
func Make(dir, fleet string, now time.Time) (err error) {
	root, intermediate, err := ca.New(fleet, now)
	if err != nil {
		return err
	}
	authority, err := ca.Open(root.Certificate, intermediate, now)
	if err != nil {
		return err
	}
	list, err := authority.List(nil, 1, now)
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
	if err := write(filepath.Join(staged, ListFile), list, public); err != nil {
		return err
	}
	// Only an empty folder can be removed; Go renames over none.
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", dir, ErrExists)
	}
	if err := os.Rename(staged, dir); err != nil {
		return fmt.Errorf("put %s in its place: %w", dir, err)
	}
	return syncFolder(filepath.Dir(dir))
}

var keyOf = map[string]string{RootFile: RootKeyFile, IntermediateFile: IntermediateKeyFile}

// Vault is an open folder.
type Vault struct {
	dir string
	*ca.Authority
}

// Open reads a folder that Make filled. The root's key is not read; whether it
// still lies there says RootKeyIsHere.
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
		return nil, fmt.Errorf("%s can be read by others than its owner: chmod 600 it, and ask whether it was", path)
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

// RootKeyIsHere reports whether whoever takes this folder takes the fleet.
func (v *Vault) RootKeyIsHere() bool {
	_, err := os.Stat(filepath.Join(v.dir, RootKeyFile))
	return err == nil
}

// SaveList replaces the list of the revoked.
func (v *Vault) SaveList(list []byte) error {
	return write(filepath.Join(v.dir, ListFile), list, public)
}

// Note keeps the certificate of a fleetd instance persisted, in the folder.
func (v *Vault) Note(c *x509.Certificate) error {
	dir := filepath.Join(v.dir, IssuedFolder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return write(filepath.Join(dir, ca.Serial(c)+".pem"), ca.EncodeCertificates(c), public)
}

// Noted are the certificates persisted whose serial numbers known does not have. A
// file that is none, or not of this fleet, is an error, and the others are there.
func (v *Vault) Noted(known map[string]bool, now time.Time) (fresh []*x509.Certificate, err error) {
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
		case errors.Is(err, ca.ErrEnded):
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", filepath.Join(dir, f.Name()), err))
		default:
			fresh = append(fresh, c)
		}
	}
	return fresh, errors.Join(errs...)
}

// SavePair writes a certificate, with those that stand behind it, and its key. An
// existing key is overwritten only when asked for. The key is written first: a
// server that looks in between finds a certificate that does not fit, and keeps
// the pair that it has.
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
	return errors.Join(write(key, text, secret), write(certificate, ca.EncodeCertificates(chain...), public))
}

func writePair(certificate, key string, p ca.Pair) error {
	return SavePair(certificate, key, false, p, []*x509.Certificate{p.Certificate})
}

// write replaces a file as a whole and returns when it is safe.
func write(path string, text []byte, mode os.FileMode) error {
	if err := renameio.WriteFile(path, text, mode); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes a renaming in a folder safe.
func syncFolder(dir string) error {
	d, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", dir, err)
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
