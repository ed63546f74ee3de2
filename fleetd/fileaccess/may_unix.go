//go:build unix

package fileaccess

import (
	"io/fs"
	"slices"
	"syscall"
)

// May reports whether the user has all these permissions of a file.
func (u User) May(info fs.FileInfo, bits fs.FileMode) bool {
	stat, is := info.Sys().(*syscall.Stat_t)
	switch {
	case !is || u.uid == 0:
		return true
	case stat.Uid == u.uid:
		return info.Mode().Perm()&(bits<<6) == bits<<6
	case slices.Contains(u.groups, stat.Gid):
		return info.Mode().Perm()&(bits<<3) == bits<<3
	}
	return info.Mode().Perm()&bits == bits
}
