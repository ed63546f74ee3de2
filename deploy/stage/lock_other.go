//go:build !unix

package stage

import "errors"

// lock fails: without file locks two stages could write the same robots' data.
func lock(string) (unlock func() error, err error) {
	return nil, errors.New("lock the data directory: not supported on this operating system")
}
