//go:build unix

package backup

import (
	"os"
	"syscall"
)

// tryLock locks a file until it is closed, however the program ends. It is false if another program has locked it.
func tryLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
