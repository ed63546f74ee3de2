//go:build !unix

package store

import "errors"

// lockFile refuses: without a lock two programs could share one file.
func lockFile(string) (*fileLock, error) {
	return nil, errors.New("fleetd has no file locks on this system; run it with postgres://")
}
