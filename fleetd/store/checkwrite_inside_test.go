package store

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"troupe/fleetd/store/pgtest"
)

func TestCheckWriteFailsOnAReadOnlyDatabase(t *testing.T) {
	for name, c := range map[string]struct {
		start    func(t *testing.T) (address string)
		readOnly string
	}{
		"sqlite": {
			func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "fleet.db") },
			"PRAGMA query_only = 1",
		},
		"postgres": {
			func(t *testing.T) string { return pgtest.Start(t) },
			"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), c.start(t), time.Now(), slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.CheckWrite(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.pools.write.SetMaxOpenConns(1)
			if _, err := s.pools.write.ExecContext(t.Context(), c.readOnly); err != nil {
				t.Fatal(err)
			}
			if err := s.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := s.CheckWrite(t.Context()); err == nil {
				t.Error("a read-only database passes")
			}
		})
	}
}
