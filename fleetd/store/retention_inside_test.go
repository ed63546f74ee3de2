package store

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What is pruned each hour is found by an index: without one, every step would read
// a whole table while other writes wait.
func TestPruningReadsNoWholeTable(t *testing.T) {
	s, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "fleet.db"), time.Now(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for query, index := range map[string]string{oldAudit: "audit_by_time", oldEvents: "events_by_time", oldBatches: "batches_by_time"} {
		plan, err := list(t.Context(), s.reads, func(scan func(...any) error) (step string, err error) {
			var id, parent, unused int64
			return step, scan(&id, &parent, &unused, &step)
		}, "EXPLAIN QUERY PLAN "+query, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(plan, "\n"); !strings.Contains(text, index) || strings.Contains(text, "SCAN") || strings.Contains(text, "TEMP B-TREE") {
			t.Errorf("%s\nis carried out as\n%s", query, text)
		}
	}
}
