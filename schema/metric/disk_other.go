//go:build !linux

package metric

import "errors"

// Disk needs Linux.
func Disk(string) (free, size int64, err error) { return 0, 0, errors.ErrUnsupported }
