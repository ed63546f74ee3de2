package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/fleetd/view"
	"troupe/schema"
)

// Robots perform while fleetd is killed, its database is put back to a backup, and fleetd starts on it.
func TestRobotsGoOnAfterARestore(t *testing.T) {
	runIn(t, []variant{ownBroker, postgres}, func(w *world) {
		file := func(name, text string) string {
			path := filepath.Join(w.folder, name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				w.t.Fatal(err)
			}
			return path
		}
		passphrase, saved := file("passphrase", "correct horse battery\n"), filepath.Join(w.folder, "fleet.backup")
		w.startFleet("robot.yaml", "r1", "r2") // in ato they perform without fleetd, too
		w.publishStory("round", "nod", "smile")
		w.mustRunCLI("story", "assign", "round", "r1", "r2", "--wait")
		w.mustRunCLI("mode", "set", "ato", "r1", "r2", "--wait")
		w.awaitPerforming("r1")
		out := w.mustRunCLI("backup", saved, "--database", w.store, "--spool", filepath.Join(w.folder, "fleetd.stops"), "--passphrase-file",
			passphrase)
		expectContains(w.t, "backup", out, "whole", "robots: 2")
		expectContains(w.t, "backup list", w.mustRunCLI("backup", "list"), "made", saved)

		w.mustRunCLI("desired", "config", "low_battery=0.3", "r1", "--wait")
		w.mustRunCLI(append([]string{"act", "publish"}, fileFlags("greet.yaml")...)...)
		if s := w.runCLI("restore", saved, "--into", w.store, "--replace", "--passphrase-file", passphrase); s.code != 5 ||
			!strings.Contains(s.err, "fleetd") {
			w.t.Errorf("a restore under a running fleetd: status %d\n%s%s", s.code, s.out, s.err)
		}
		w.fleetd.kill()
		if s := w.runCLI("restore", saved, "--into", w.store, "--passphrase-file", passphrase); s.code != 5 ||
			!strings.Contains(s.err, "--replace") {
			w.t.Errorf("a restore over a fleet: status %d\n%s%s", s.code, s.out, s.err)
		}
		// PostgreSQL may need a moment to see that the killed fleetd is gone.
		w.until("the restore", func() bool {
			s := w.runCLI("restore", saved, "--into", w.store, "--replace", "--passphrase-file", passphrase)
			if s.code != 0 && s.code != 5 {
				w.t.Fatalf("restore: status %d\n%s%s", s.code, s.out, s.err)
			}
			return s.code == 0
		})
		for _, rid := range []string{"r1", "r2"} {
			w.awaitPerforming(rid)
		}

		w.startFleetd()
		w.until("fleetd to show what r1 holds beyond the copy", func() bool {
			out := w.mustRunCLI("alert", "list")
			return strings.Contains(out, "not_in_database") && strings.Contains(out, "r1")
		})
		if out := w.mustRunCLI("act", "list"); strings.Contains(out, "greet") {
			w.t.Errorf("an act from after the backup is there:\n%s", out)
		}
		expectContains(w.t, "backup list", w.mustRunCLI("backup", "list"), "restored", "made")
		for _, rid := range []string{"r1", "r2"} {
			w.awaitRobot(rid, "performing", func(r view.Robot) bool {
				return r.Auto == schema.AutoPerforming && r.Story != nil && r.Story.ID == "round"
			})
		}
		// Robots take what fleetd assigns now, although they have accepted higher revisions.
		w.mustRunCLI("desired", "config", "low_battery=0.2", "r1", "r2", "--wait")
	})
}
