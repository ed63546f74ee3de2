//go:build unix

package fileaccess_test

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"troupe/fleetd/fileaccess"
)

// The files are those of the user who runs the test, so the users are this one, one of the same group, and another one.
func TestModeDecidesWhatAUserMay(t *testing.T) {
	dir := t.TempDir()
	for folder, mode := range map[string]os.FileMode{dir: 0o750, filepath.Dir(dir): 0o755} {
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "key.pem")
	if err := os.WriteFile(file, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	gid := strconv.Itoa(os.Getgid())
	for _, row := range []struct {
		who          string
		uid, gid     string
		reads, write bool
	}{
		{"group", "4711", gid, true, false},
		{"another", "4711", "4711", false, false},
		{"root", "0", "0", true, true},
	} {
		u, ok := fileaccess.Of(&user.User{Username: row.who, Uid: row.uid, Gid: row.gid})
		if !ok || u.May(info, fileaccess.Read) != row.reads || u.May(info, fileaccess.Read|fileaccess.Write) != row.write {
			t.Errorf("%s: reads %t, writes %t", row.who, u.May(info, fileaccess.Read), u.May(info, fileaccess.Write))
		}
		err := u.Reach(file)
		if other := row.who == "another"; other != (err != nil) || other && !strings.Contains(err.Error(), dir+" (mode 0750)") {
			t.Errorf("%s: %v", row.who, err)
		}
	}
}
