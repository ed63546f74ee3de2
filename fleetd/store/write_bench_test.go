package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"troupe/fleetd/store"
	"troupe/fleetd/store/pgtest"
	"troupe/fleetd/store/storetest"
	"troupe/schema"
)

const benchRobots = 1000

var benchKinds = []schema.TopicKind{schema.TopicState, schema.TopicCaps, schema.TopicPresence, schema.TopicReportedStory,
	schema.TopicReportedConfig}

// benchDocuments is one document of 1 KiB of each kind of each robot.
func benchDocuments() []store.Document {
	var all []store.Document
	for r := range benchRobots {
		for _, kind := range benchKinds {
			all = append(all, store.Document{Robot: fmt.Sprintf("r%05d", r), Kind: kind, Body: bytes.Repeat([]byte("x"), 1024)})
		}
	}
	return all
}

func received(documents []store.Document, at time.Time) {
	for i := range documents {
		documents[i].ReceivedAt = at
	}
}

// benchRows measures save, which writes all documents as received at a time.
func benchRows(b *testing.B, save func(ctx context.Context, documents []store.Document) error) {
	documents := benchDocuments()
	now := storetest.Start
	b.ResetTimer()
	for b.Loop() {
		now = now.Add(time.Second)
		received(documents, now)
		if err := save(b.Context(), documents); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(documents))/b.Elapsed().Seconds(), "rows/s")
}

func benchStore(b *testing.B, address string) *store.Store {
	s := storetest.Open(b, address)
	transact(b, s, func(tx *store.Tx) error {
		for r := range benchRobots {
			if _, err := tx.AddRobot(b.Context(), fmt.Sprintf("r%05d", r), storetest.Start); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

// The sub-benchmark baseline is the driver without the store: it writes the same rows to the same table in
// one transaction.
func BenchmarkSaveDocuments(b *testing.B) {
	b.Run("postgres", func(b *testing.B) {
		address := pgtest.Start(b)
		s := benchStore(b, address)
		b.Run("store", func(b *testing.B) { benchRows(b, s.SaveDocuments) })
		b.Run("baseline", func(b *testing.B) {
			conn, err := pgx.Connect(b.Context(), address)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close(context.Background())
			benchRows(b, func(ctx context.Context, documents []store.Document) error { return bareUnnest(ctx, conn, documents) })
		})
	})
	b.Run("sqlite", func(b *testing.B) {
		b.Run("store", func(b *testing.B) {
			benchRows(b, benchStore(b, "sqlite:"+filepath.Join(b.TempDir(), "fleet.db")).SaveDocuments)
		})
		b.Run("baseline", func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "fleet.db")
			if err := benchStore(b, "sqlite:"+path).Close(); err != nil {
				b.Fatal(err)
			}
			db, err := sql.Open("sqlite", "file:"+path+
				"?_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=synchronous(FULL)&_txlock=immediate")
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			db.SetMaxOpenConns(1)
			benchRows(b, func(ctx context.Context, documents []store.Document) error { return barePrepared(ctx, db, documents) })
		})
	})
}

const onNewer = ` ON CONFLICT (robot, kind) DO UPDATE SET body = excluded.body, received_at = excluded.received_at
	WHERE documents.received_at <= excluded.received_at`

func bareUnnest(ctx context.Context, conn *pgx.Conn, documents []store.Document) error {
	var robots, kinds []string
	var bodies [][]byte
	var at []int64
	for _, d := range documents {
		robots, kinds, bodies, at = append(robots, d.Robot), append(kinds, string(d.Kind)), append(bodies, d.Body),
			append(at, d.ReceivedAt.UnixMicro())
	}
	_, err := conn.Exec(ctx, `INSERT INTO documents (robot, kind, body, received_at)
		SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[], $4::bigint[])`+onNewer, robots, kinds, bodies, at)
	return err
}

func barePrepared(ctx context.Context, db *sql.DB, documents []store.Document) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	statement, err := tx.PrepareContext(ctx, `INSERT INTO documents (robot, kind, body, received_at) VALUES ($1, $2, $3, $4)`+onNewer)
	if err != nil {
		return err
	}
	for _, d := range documents {
		if _, err := statement.ExecContext(ctx, d.Robot, string(d.Kind), d.Body, d.ReceivedAt.UnixMicro()); err != nil {
			return err
		}
	}
	return tx.Commit()
}
