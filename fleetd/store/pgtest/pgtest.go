// Package pgtest gives a test a PostgreSQL database of its own.
//
// The first Start of a test binary makes a private cluster from the machine's
// PostgreSQL programs; every Start makes a fresh database in it and drops it
// with the test. Nothing is shared with any other test binary or with a
// PostgreSQL that the machine runs: the cluster listens on a Unix socket in its
// own temporary folder and nowhere else.
//
// A machine without PostgreSQL fails the test, naming the package to install:
// a store that was tested on one of its two databases was not tested.
package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Used names the environment variable with the file to which each test binary
// adds a line when its cluster runs, so that CI can tell that PostgreSQL was
// really tested. Without the variable nothing is written.
const Used = "TROUPE_POSTGRES_USED"

// patience bounds one statement to the cluster, which is private and idle.
const patience = 30 * time.Second

// The cluster belongs to the process, since Go has no end of a test binary to
// hand it back at: cluster.go ties its life to the process's instead.
var (
	shared    = sync.OnceValues(startShared)
	databases atomic.Int64
)

// Start makes an empty database for this test and returns its URL. The
// database goes with the test, with whatever is still connected to it.
func Start(t testing.TB) (dsn string) {
	t.Helper()
	c, err := shared()
	if err != nil {
		t.Fatalf("start a private PostgreSQL: %v", err)
	}
	name := fmt.Sprintf("test_%d", databases.Add(1))
	if err := c.exec("CREATE DATABASE " + name); err != nil {
		t.Fatalf("create database %s: %v", name, err)
	}
	t.Cleanup(func() {
		if err := c.exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			t.Errorf("drop database %s: %v", name, err)
		}
	})
	return c.dsn(name)
}

func startShared() (*cluster, error) {
	programs, err := findPrograms(os.Getenv("PATH"), "/usr/lib/postgresql/*/bin")
	if err != nil {
		return nil, err
	}
	c, err := startCluster(programs)
	if err != nil {
		return nil, err
	}
	return c, noteUse(os.Getenv(Used))
}

func noteUse(path string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("note in $%s that PostgreSQL was used: %w", Used, err)
	}
	if _, err := fmt.Fprintln(f, os.Args[0]); err != nil {
		_ = f.Close() // the write's error says more
		return fmt.Errorf("note in $%s that PostgreSQL was used: %w", Used, err)
	}
	return f.Close()
}

func (c *cluster) dsn(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.User(superuser),
		Path:     "/" + database,
		RawQuery: url.Values{"host": {c.folder}}.Encode(),
	}
	return u.String()
}

func (c *cluster) exec(sql string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.dsn("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}
