//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// lockFile keeps a second program off the same SQLite file: two of them would
// both believe to own the fleet. The system releases the lock when the program
// ends, however it ends; the file itself stays, and says who had it last.
func lockFile(path string) (*fileLock, error) {
	_, there, err := sizeOf(path)
	if err != nil {
		return nil, fmt.Errorf("make the lock: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make the lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		text, _ := os.ReadFile(path) // best effort: only words for a person
		holder, _, _ := strings.Cut(string(text), "\n")
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w (process %s); stop it, or give this one its own file, or use postgres:// for several",
				ErrInUse, holder)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	l := &fileLock{File: f}
	if !there {
		l.mark = noFleetYet
	}
	text, err := os.ReadFile(path)
	if _, mark, _ := strings.Cut(string(text), "\n"); mark != "" {
		l.mark = strings.TrimSpace(mark)
	}
	if err == nil {
		err = l.write(l.mark)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("write the lock: %w", err), f.Close())
	}
	return l, nil
}
