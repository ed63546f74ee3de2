package apply

import (
	"os/user"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"troupe/fleetd/setup"
	"troupe/fleetd/vault"
)

// A CA that root copied from another server is fleetd's afterwards, as a new one is, but for the key of the root.
func TestCopiedAuthorityIsGivenToFleetd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ca")
	given := []string{}
	w := Work{now: time.Now(), owners: map[string]*user.User{setup.FleetdUser: {Uid: "4711", Gid: "4712"}},
		chown: func(path string, uid, gid int) error {
			if uid != 4711 || gid != 4712 {
				t.Errorf("%s is given to %d:%d", path, uid, gid)
			}
			given = append(given, filepath.Base(path))
			return nil
		}}
	w.Plan.Answers.Name = "museum"
	for _, state := range []State{New, Kept} {
		given = nil
		if err := w.makeAuthority(Outcome{setup.Step{Path: dir, Mode: 0o755, Owner: setup.FleetdUser}, state, ""}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"ca", vault.RootFile, vault.IntermediateFile, vault.IntermediateKeyFile, vault.CRLFile} {
			if !slices.Contains(given, name) {
				t.Errorf("%s: %s is not given away: %v", state, name, given)
			}
		}
		if slices.Contains(given, vault.RootKeyFile) {
			t.Errorf("%s: the key of the root is given away", state)
		}
	}
}
