//go:build unix

package stage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// lock keeps a second stage from using the same directory. The system releases the
// lock when the process ends, also when it is killed.
func lock(folder string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(f.Name()) // shown to people only
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &InUseError{Folder: folder, Process: strings.TrimSpace(string(holder))}
		}
		return nil, fmt.Errorf("lock the data directory %s: %w", folder, err)
	}
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(f, "%d\n", os.Getpid()) // shown to people only
	}
	return f.Close, nil
}
