//go:build unix

package spool

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock prevents a second fleetd from using the same file: each would lose stops of the
// other. The system releases the lock when the process ends.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock spool: %w", err)
	}
	_ = f.Chmod(0o600) // narrows an existing file; fails if another user owns it
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: %s", ErrInUse, path)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}
