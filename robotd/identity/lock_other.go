//go:build !unix

package identity

import "os"

// lock does nothing where the system has no such lock: one robotd at a time.
func lock(folder string) (unlock func() error, err error) {
	return func() error { return nil }, os.MkdirAll(folder, 0o700)
}
