package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite" // the driver sqlite

	"troupe/deploy/launch"
	"troupe/fleetd/store"
	"troupe/schema"
)

var documentBenches = []bench{{
	Name:  "documents",
	What:  "1,000 robots' documents of 1 KiB, 5,000 in all, into each database, every commit synced to the disk",
	Floor: "the driver writes the same rows to the same table in one transaction that is synced as well",
	Run:   writeDocuments,
}}

const (
	documentRobots = 1000
	documentBytes  = 1024
	// slowestStore is how many times as long as the bare rows the store may take: half of their rate.
	slowestStore = 2
)

// documentKinds are the documents that robots publish most often.
var documentKinds = []schema.TopicKind{schema.TopicState, schema.TopicCaps, schema.TopicPresence, schema.TopicReportedStory,
	schema.TopicReportedConfig}

// writeDocuments lets fleetd's store and the bare drivers write the same documents in turn.
func writeDocuments(ctx context.Context, r *run) error {
	address, server, err := r.startPostgres()
	if err != nil {
		return err
	}
	rows, err := r.openRows(ctx, address)
	if err != nil {
		return err
	}
	kept, err := r.openStore(ctx, address, documentRobots)
	if err != nil {
		return err
	}
	inFile, err := r.openStore(ctx, "sqlite:"+r.path("store.db"), documentRobots)
	if err != nil {
		return err
	}
	bare, err := r.openStore(ctx, "sqlite:"+r.path("rows.db"), documentRobots)
	if err == nil {
		err = bare.Close() // it has the tables and the robots now
	}
	if err != nil {
		return err
	}
	file, err := openRowsFile(ctx, r.path("rows.db"))
	if err != nil {
		return err
	}
	r.atEnd(func() { _ = file.Close() }) // its data is removed
	at := time.Now()
	saves := func(save func(context.Context, []store.Document) error) func(context.Context) (sample, error) {
		return func(ctx context.Context) (sample, error) {
			at = at.Add(time.Second) // a document replaces an older one only
			documents := someDocuments(at)
			began := time.Now()
			err := save(ctx, documents)
			return sample{took: time.Since(began)}, err
		}
	}
	servers := []*launch.Program{server}
	err = r.alternate(ctx, turns{warm: 1, rounds: r.size(6, 3), samples: 1},
		arm{name: "SQLite, bare rows", sample: saves(func(ctx context.Context, d []store.Document) error {
			return writeRowsOneByOne(ctx, file, d)
		})},
		arm{name: "SQLite, fleetd's store", of: "SQLite, bare rows", goal: slowestStore, sample: saves(inFile.SaveDocuments)},
		arm{name: "Postgres, bare rows", programs: servers,
			sample: saves(func(ctx context.Context, d []store.Document) error { return writeRowsAtOnce(ctx, rows, d) })},
		arm{name: "Postgres, fleetd's store", of: "Postgres, bare rows", goal: slowestStore, programs: servers,
			sample: saves(kept.SaveDocuments)},
	)
	for i := range r.found.Arms {
		if a := &r.found.Arms[i]; a.Latency != nil {
			a.Values = append(a.Values, Value{"rows", "1/s", documentRobots * float64(len(documentKinds)) / (a.P50 / 1e6)})
		}
	}
	return err
}

// someDocuments is a document of each kind of each robot.
func someDocuments(at time.Time) (all []store.Document) {
	body := bytes.Repeat([]byte("x"), documentBytes)
	for n := range documentRobots {
		for _, kind := range documentKinds {
			all = append(all, store.Document{Robot: robotName(n), Kind: kind, Body: body, ReceivedAt: at})
		}
	}
	return all
}

func robotName(n int) string { return fmt.Sprintf("s%d", n+1) }

// openStore opens a database as fleetd does, with the robots in it.
func (r *run) openStore(ctx context.Context, address string, robots int) (*store.Store, error) {
	s, err := store.Open(ctx, address, time.Now(), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	r.atEnd(func() { _ = s.Close() }) // its data is removed
	return s, s.Tx(ctx, func(tx *store.Tx) error {
		for n := range robots {
			if _, err := tx.AddRobot(ctx, robotName(n), time.Now()); err != nil {
				return err
			}
		}
		return nil
	})
}

// openRowsFile opens an SQLite file with the driver alone, and the settings that fleetd's store has.
func openRowsFile(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+path+
		"?_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	const full = 2
	var synchronous int
	if err := db.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&synchronous); err != nil || synchronous != full {
		return nil, errors.Join(err, db.Close(), fmt.Errorf("the floor does not sync its commits: synchronous is %d", synchronous))
	}
	return db, nil
}

// openRows connects to a PostgreSQL server with the driver alone. It refuses one that does not sync its commits.
func (r *run) openRows(ctx context.Context, address string) (*pgx.Conn, error) {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	r.atEnd(func() { _ = conn.Close(context.WithoutCancel(ctx)) }) // the server ends
	for _, name := range []string{"fsync", "synchronous_commit"} {
		var value string
		if err := conn.QueryRow(ctx, "SHOW "+name).Scan(&value); err != nil || value != "on" {
			return nil, errors.Join(err, fmt.Errorf("PostgreSQL does not sync its commits: %s is %s", name, value))
		}
	}
	return conn, nil
}

const replaceOlder = ` ON CONFLICT (robot, kind) DO UPDATE SET body = excluded.body, received_at = excluded.received_at
	WHERE documents.received_at <= excluded.received_at`

// writeRowsAtOnce writes all rows in one statement, which is the fastest way with PostgreSQL.
func writeRowsAtOnce(ctx context.Context, conn *pgx.Conn, documents []store.Document) error {
	var robots, kinds []string
	var bodies [][]byte
	var at []int64
	for _, d := range documents {
		robots, kinds, bodies, at = append(robots, d.Robot), append(kinds, string(d.Kind)), append(bodies, d.Body),
			append(at, d.ReceivedAt.UnixMicro())
	}
	_, err := conn.Exec(ctx, `INSERT INTO documents (robot, kind, body, received_at)
		SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[], $4::bigint[])`+replaceOlder, robots, kinds, bodies, at)
	return err
}

// writeRowsOneByOne writes the rows with one prepared statement in one transaction, which is the fastest way with SQLite.
func writeRowsOneByOne(ctx context.Context, db *sql.DB, documents []store.Document) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	statement, err := tx.PrepareContext(ctx, `INSERT INTO documents (robot, kind, body, received_at) VALUES ($1, $2, $3, $4)`+replaceOlder)
	if err != nil {
		return err
	}
	defer statement.Close()
	for _, d := range documents {
		if _, err := statement.ExecContext(ctx, d.Robot, string(d.Kind), d.Body, d.ReceivedAt.UnixMicro()); err != nil {
			return err
		}
	}
	return tx.Commit()
}
