//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// lockFile keeps a second program from using the same SQLite file: both would act as the
// owner of the fleet. The system releases the lock when the program ends, however it ends;
// the file stays and names the last process.
func lockFile(path string) (*fileLock, error) {
	_, there, err := sizeOf(path)
	if err != nil {
		return nil, fmt.Errorf("open the lock file: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock file: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		text, _ := os.ReadFile(path) // best effort: only for the message
		holder, _, _ := strings.Cut(string(text), "\n")
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w (process %s); stop that process, use another file, or use postgres:// for several instances",
				ErrInUse, holder)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	l := &fileLock{File: f}
	if !there {
		l.mark = markNoFleet
	}
	text, err := os.ReadFile(path)
	if _, mark, _ := strings.Cut(string(text), "\n"); mark != "" {
		l.mark = strings.TrimSpace(mark)
	}
	if err == nil {
		err = l.write(l.mark)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write the lock file: %w", err), f.Close())
	}
	return l, nil
}
