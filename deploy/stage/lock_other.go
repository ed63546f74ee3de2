//go:build !unix

package stage

import "errors"

// lock refuses: without a lock two stages could write the same robots' disks.
func lock(string) (unlock func() error, err error) {
	return nil, errors.New("this system has no file locks that we use")
}
