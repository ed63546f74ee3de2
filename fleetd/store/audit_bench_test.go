package store_test

import (
	"path/filepath"
	"testing"

	"troupe/fleetd/audit"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/pgtest"
)

// The sub-benchmark baseline is the same transaction without an entry of the audit.
func BenchmarkAuditedTransaction(b *testing.B) {
	for name, address := range map[string]string{"sqlite": "sqlite:" + filepath.Join(b.TempDir(), "fleet.db"), "postgres": pgtest.Start(b)} {
		s := benchStore(b, address)
		for _, variant := range []string{"audited", "baseline"} {
			b.Run(name+"/"+variant, func(b *testing.B) {
				for b.Loop() {
					transact(b, s, func(tx *store.Tx) error {
						if _, err := tx.Robots(b.Context(), selector.IDs("r00001")); err != nil {
							return err
						}
						if err := tx.SetLabels(b.Context(), "r00001", map[string]string{"site": "a"}); err != nil {
							return err
						}
						if variant == "baseline" {
							return nil
						}
						return tx.Note(b.Context(), at(1), audit.Note{Who: "anna", What: "label", Target: "robot r00001", Why: "moved"})
					})
				}
			})
		}
	}
}
