//go:build unix

package spool

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock keeps a second fleetd off the same file: each would lose what the other
// writes. The system releases it when the program ends.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the stops that wait: %w", err)
	}
	_ = f.Chmod(0o600) // of an earlier version; it fails where somebody else owns the file
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s", ErrInUse, path)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}
