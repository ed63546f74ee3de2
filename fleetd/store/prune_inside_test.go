package store

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Without an index, each call of the hourly pruning would read a whole table while other
// writes wait, and the leader looks for due schedules each second.
func TestRepeatedQueriesUseIndexes(t *testing.T) {
	s, err := Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "fleet.db"), time.Now(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for query, index := range map[string]string{oldEvents: "events_by_time", oldRoutineEvents: "events_routine",
		oldMeasuredHours: "measurement_hours_by_time", oldMeasuredDays: "measurement_days_by_time",
		oldBatches: "batches_by_time", oldScheduleRuns: "schedule_runs_by_time", dueSchedules: "schedules_due"} {
		plan, err := queryAll(t.Context(), s.reads, func(scan func(...any) error) (step string, err error) {
			var id, parent, unused int64
			return step, scan(&id, &parent, &unused, &step)
		}, "EXPLAIN QUERY PLAN "+query, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(plan, "\n"); !strings.Contains(text, index) || strings.Contains(text, "SCAN") ||
			strings.Contains(text, "TEMP B-TREE") {
			t.Errorf("%s\nhas the plan\n%s", query, text)
		}
	}
}
