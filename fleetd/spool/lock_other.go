//go:build !unix

package spool

import "os"

// lock only opens the file: there is no flock on this system.
func lock(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) }
