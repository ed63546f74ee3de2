//go:build unix

package doctor

import (
	"io/fs"
	"syscall"
)

// may reports whether fleetd's user has a permission of a file, as far as is known; bits are those of others.
func (x *examination) may(info fs.FileInfo, bits fs.FileMode) bool {
	stat, is := info.Sys().(*syscall.Stat_t)
	uid, gid, known := x.owner()
	switch {
	case !is || !known || uid == 0:
		return true
	case stat.Uid == uid:
		return info.Mode().Perm()&(bits<<6) == bits<<6
	case stat.Gid == gid:
		return info.Mode().Perm()&(bits<<3) == bits<<3
	}
	return info.Mode().Perm()&bits == bits
}
