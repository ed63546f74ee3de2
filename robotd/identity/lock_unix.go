//go:build unix

package identity

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock waits until no other process changes the identities in this folder, such as
// robotd renewing at the same time as a person.
func lock(folder string) (unlock func() error, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the identity: %w", err)
	}
	d, err := os.Open(filepath.Clean(folder))
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", folder, err), d.Close())
	}
	return d.Close, nil
}
