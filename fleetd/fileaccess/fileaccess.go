// Package fileaccess says what a system user may do with a file, by the mode and the owner of the file and of the
// folders above it. It knows nothing of access control lists.
package fileaccess

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
)

// User is a system user.
type User struct {
	Name   string
	uid    uint32
	groups []uint32 // the first one is that of the user
}

// Of returns the user; it is false for one without numeric ids.
func Of(u *user.User) (User, bool) {
	uid, noUID := strconv.ParseUint(u.Uid, 10, 32)
	gid, noGID := strconv.ParseUint(u.Gid, 10, 32)
	found := User{u.Username, uint32(uid), []uint32{uint32(gid)}}
	if more, err := u.GroupIds(); err == nil {
		for _, text := range more {
			if id, err := strconv.ParseUint(text, 10, 32); err == nil && !slices.Contains(found.groups, uint32(id)) {
				found.groups = append(found.groups, uint32(id))
			}
		}
	}
	return found, noUID == nil && noGID == nil
}

// What a user wants to do with a file or folder. Enter also means to open what is in the folder.
const (
	Read  fs.FileMode = 4
	Write fs.FileMode = 2
	Enter fs.FileMode = 1
)

// Reach says which folder above a path the user may not enter; nil if there is none.
func (u User) Reach(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && !u.May(info, Enter) {
			return fmt.Errorf("the user %s cannot enter %s (mode %04o)", u.Name, dir, info.Mode().Perm())
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
