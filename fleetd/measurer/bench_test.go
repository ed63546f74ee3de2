package measurer

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"troupe/fleetd/measure"
	"troupe/fleetd/store"
	"troupe/fleetd/store/pgtest"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

func onBoth(b *testing.B, bench func(b *testing.B, address string)) {
	b.Run("sqlite", func(b *testing.B) { bench(b, storetest.SQLite(b)) })
	b.Run("postgres", func(b *testing.B) { bench(b, pgtest.Start(b)) })
}

// fleetOf opens a database with so many robots, and a measurer that leads.
func fleetOf(b *testing.B, address string, robots int) (*store.Store, *Measurer, []string) {
	b.Helper()
	db, err := store.Open(b.Context(), address, storetest.Start, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	var names []string
	for i := range robots {
		names = append(names, fmt.Sprintf("robot-%d", i))
		if _, err := db.AddRobot(b.Context(), names[i], storetest.Start); err != nil {
			b.Fatal(err)
		}
	}
	m := New(Deps{
		Now: time.Now, Leads: func() bool { return true }, AnotherLeads: func() bool { return false }, Adopted: func(string) bool { return true },
		Failed: func(what string, err error) { b.Error(what, err) },
	})
	return db, m, names
}

// report lets robots report for a minute what they report: 30 heartbeats and 6 states. No two values are the same for long, so
// that rows are as large as in a house.
func report(m *Measurer, names []string, minute time.Time, seq int64) {
	r := rand.New(rand.NewPCG(uint64(seq), 1))
	at := func(second float64) time.Time { return minute.Add(time.Duration(second * float64(time.Second))) }
	for _, robot := range names {
		late := 0.0
		for i := range 30 {
			late += math.Floor(2 * r.ExpFloat64())
			beat := schema.Heartbeat{Session: "s", Boot: "b", Seq: seq*30 + int64(i), MonoMS: (seq*30+int64(i))*2000 + int64(late)}
			m.Observe(measure.Beat{Robot: robot, Heartbeat: beat, RoundTrip: time.Duration(3e6 + 4e6*r.ExpFloat64())},
				at(2*float64(i)+0.02*r.Float64()))
		}
		state := &schema.State{Link: schema.StateLink{State: schema.LinkUp, BudgetMS: 5000}}
		state.Units = []schema.UnitState{{ID: "b", Kind: "battery", Detail: fmt.Sprintf("%d %%", 20+(seq/9)%80)}}
		for i := range 6 {
			m.Observe(measure.Report{Robot: robot, State: state}, at(10*float64(i)))
		}
	}
}

// writeAll writes what waits, as Run does over some seconds.
func writeAll(b *testing.B, m *Measurer, db *store.Store) {
	b.Helper()
	for m.count() > 0 {
		if !m.write(b.Context(), db) {
			b.FailNow()
		}
	}
}

// BenchmarkMinute is one minute of 1,000 robots, with a sixtieth of what becomes of an hour: measured is all that fleetd does
// for it, and floor writes rows of the same size in as many transactions and does nothing else. core-% is the wall-clock time of
// one minute as a share of a minute, which is more than its processor time.
func BenchmarkMinute(b *testing.B) {
	const robots, minutes = 1000, 60
	onBoth(b, func(b *testing.B, address string) {
		db, m, names := fleetOf(b, address, robots)
		hour := storetest.Start.Truncate(time.Hour)
		share := func(b *testing.B) {
			perMinute := b.Elapsed().Seconds() / float64(b.N*minutes)
			b.ReportMetric(perMinute/60*100, "core-%")
			b.ReportMetric(perMinute*1000, "ms/minute")
			b.ReportMetric(0, "ns/op")
		}
		b.Run("measured", func(b *testing.B) {
			for b.Loop() {
				for i := range minutes {
					minute := hour.Add(time.Duration(i) * time.Minute)
					report(m, names, minute, hour.Unix()/60+int64(i))
					m.tick(minute.Add(time.Minute))
					writeAll(b, m, db)
				}
				hour = hour.Add(time.Hour)
				if n, err := db.FoldMeasurements(b.Context(), hour, func() bool { return true }); err != nil || n != robots*minutes {
					b.Fatal(n, err)
				}
			}
			share(b)
		})
		b.Run("floor", func(b *testing.B) {
			raw := rawDB(b, address)
			execute(b, raw, `CREATE TABLE plain (minute BIGINT NOT NULL, robot TEXT NOT NULL, points BYTEA NOT NULL, PRIMARY KEY (minute, robot))`)
			points := make([]byte, 24)
			minute := int64(0)
			for b.Loop() {
				for range minutes {
					for from := 0; from < robots; from += rowsAtOnce {
						insertPlain(b, raw, minute, names[from:min(from+rowsAtOnce, robots)], points)
					}
					minute++
				}
			}
			share(b)
		})
	})
}

func insertPlain(b *testing.B, db *sql.DB, minute int64, names []string, points []byte) {
	b.Helper()
	tx, err := db.BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	var rows []string
	args := []any{minute, points}
	for i, name := range names {
		rows = append(rows, fmt.Sprintf("($1, $%d, $2)", i+3))
		args = append(args, name)
	}
	if _, err := tx.ExecContext(b.Context(), `INSERT INTO plain (minute, robot, points) VALUES `+strings.Join(rows, ", "), args...); err != nil {
		b.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}

func rawDB(b *testing.B, address string) *sql.DB {
	b.Helper()
	driver, source := "pgx", address
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		driver, source = "sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=synchronous(FULL)"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db
}

func execute(b *testing.B, db *sql.DB, query string) {
	b.Helper()
	if _, err := db.ExecContext(b.Context(), query); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSpace measures what a robot and day need on the disk, with indexes and what the database leaves free between rows.
// docs/monitor.md has its numbers.
func BenchmarkSpace(b *testing.B) {
	const robots, days = 20, 2
	onBoth(b, func(b *testing.B, address string) {
		for b.Loop() {
			db, m, names := fleetOf(b, address, robots)
			raw := rawDB(b, address)
			size := func(tables ...string) (bytes int64) {
				query := `SELECT SUM(pg_total_relation_size(name::regclass)) FROM unnest(string_to_array('` + strings.Join(tables, ",") + `', ',')) name`
				if strings.HasPrefix(address, "sqlite:") { // the whole file, without pages that are free
					query = `SELECT (p.page_count - f.freelist_count) * s.page_size FROM pragma_page_count() p, pragma_freelist_count() f, pragma_page_size() s`
				}
				if err := raw.QueryRowContext(context.Background(), query).Scan(&bytes); err != nil {
					b.Fatal(err)
				}
				return bytes
			}
			all := []string{"measurement_minutes", "measurement_hours", "measurement_days"}
			before := size(all...)
			start := storetest.Start.Truncate(24 * time.Hour)
			for i := range days * 24 * 60 {
				minute := start.Add(time.Duration(i) * time.Minute)
				report(m, names, minute, minute.Unix()/60)
				m.tick(minute.Add(time.Minute))
				if (i+1)%60 == 0 { // the rows are as many as with a write each minute, and the benchmark is shorter
					writeAll(b, m, db)
					if _, err := db.FoldMeasurements(b.Context(), minute.Add(time.Minute), func() bool { return true }); err != nil {
						b.Fatal(err)
					}
					if !strings.HasPrefix(address, "sqlite:") { // as autovacuum does when all minutes of an hour are deleted
						execute(b, raw, `VACUUM measurement_minutes`)
					}
				}
			}
			per := func(bytes int64) float64 { return float64(bytes) / 1024 / robots / days }
			b.ReportMetric(per(size(all...)-before), "KiB/robot-day")
			for _, table := range all[1:] {
				var bytes int64
				if err := raw.QueryRowContext(b.Context(), `SELECT COALESCE(SUM(LENGTH(points)), 0) FROM `+table).Scan(&bytes); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(per(bytes), strings.TrimPrefix(table, "measurement_")+"-KiB/robot-day")
			}
			b.ReportMetric(0, "ns/op")
		}
	})
}
