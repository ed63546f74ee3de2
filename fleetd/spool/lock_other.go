//go:build !unix

package spool

import "os"

// lock does nothing where there are no such locks.
func lock(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) }
