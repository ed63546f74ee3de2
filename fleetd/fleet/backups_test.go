package fleet_test

import (
	"strings"
	"testing"
	"time"

	"troupe/fleetd/fleet"
	"troupe/fleetd/store"
)

// backupMade records a backup as fleetd backup does, beside the running fleetd.
func (w *world) backupMade(id string) {
	w.Helper()
	db, err := w.Store()
	if err == nil {
		err = db.Tx(w.Context(), func(tx *store.Tx) error {
			return tx.AddBackup(w.Context(), time.Now(), store.Backup{ID: id, Kind: store.BackupMade, At: time.Now(), File: "/" + id,
				By: "anna@server", Migration: 34})
		})
	}
	if err != nil {
		w.Fatal(err)
	}
}

func TestAlertOfOldBackups(t *testing.T) {
	old := func(w *world) string {
		var list struct {
			Alerts []struct{ Type, Detail string }
		}
		w.must("GET", "/alerts", nil, &list)
		for _, a := range list.Alerts {
			if a.Type == "backup_old" {
				return a.Detail
			}
		}
		return ""
	}
	within := func(c *fleet.Config) { c.BackupAge.Max = time.Minute }
	t.Run("begins once a backup was made", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.sleep(2 * time.Minute)
			if got := old(w); got != "" {
				w.Errorf("without a backup the alert says %q", got)
			}
			w.backupMade("b1")
			w.sleep(50 * time.Second)
			if got := old(w); got != "" {
				w.Errorf("after 50 s the alert says %q", got)
			}
			w.sleep(20 * time.Second)
			if got := old(w); !strings.Contains(got, "the newest backup is of ") {
				w.Errorf("after 70 s the alert says %q", got)
			}
			w.backupMade("b2")
			if got := old(w); got != "" {
				w.Errorf("after the next backup the alert says %q", got)
			}
			var list struct {
				Backups []struct{ ID, File string }
			}
			w.must("GET", "/backups", nil, &list)
			if len(list.Backups) != 2 || list.Backups[0].ID != "b2" || list.Backups[1].File != "/b1" {
				w.Errorf("the backups are %+v", list.Backups)
			}
		}, within)
	})
	t.Run("begins without one if one is expected", func(t *testing.T) {
		inWorld(t, func(w *world) {
			w.sleep(70 * time.Second)
			if got := old(w); !strings.Contains(got, "no backup was made") {
				w.Errorf("the alert says %q", got)
			}
		}, within, func(c *fleet.Config) { c.BackupAge.Expected = true })
	})
}
