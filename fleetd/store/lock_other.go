//go:build !unix

package store

import "errors"

// lockFile refuses: without a lock two programs could share one file.
func lockFile(string) (*fileLock, error) {
	return nil, errors.New("this system has no file locks that we use; run fleetd with postgres://")
}
