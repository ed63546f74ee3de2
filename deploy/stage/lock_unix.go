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

// lock keeps a second stage off the same directory. The system releases it
// when the process ends, however it ends.
func lock(folder string) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(f.Name()) // words for a person
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &InUseError{Folder: folder, Process: strings.TrimSpace(string(holder))}
		}
		return nil, fmt.Errorf("lock the data directory %s: %w", folder, err)
	}
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(f, "%d\n", os.Getpid()) // words for a person
	}
	return f.Close, nil
}
