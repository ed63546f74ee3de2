//go:build !unix

package fileaccess

import "io/fs"

// May is true: files have no modes here that say it.
func (u User) May(fs.FileInfo, fs.FileMode) bool { return true }
