// Package pgtest gives a test a PostgreSQL database of its own.
//
// The first Start of a test binary creates a private cluster with the PostgreSQL programs of
// the machine. Each Start creates a database in it, which is dropped after the test. Test
// binaries share nothing with each other or with a PostgreSQL server of the machine: the
// cluster listens only on a Unix socket in its own temporary folder.
//
// Without PostgreSQL on the machine the test fails and names the package to install, because
// the store must be tested on both of its databases.
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

// Used is the environment variable that names a file. Each test binary whose cluster runs
// appends a line to it, so that CI can check that PostgreSQL was tested. Without the variable
// nothing is written.
const Used = "TROUPE_POSTGRES_USED"

// statementTimeout bounds one statement of this package.
const statementTimeout = 30 * time.Second

// The cluster belongs to the process: a Go test binary has no hook at its end, so a
// supervisor stops the cluster when the process ends (see cluster.go).
var (
	shared    = sync.OnceValues(startShared)
	databases atomic.Int64
)

// Start creates an empty database for this test and returns its URL. The database is dropped
// after the test, even if there are open connections to it.
func Start(t testing.TB) (dsn string) {
	t.Helper()
	return create(t, "template1")
}

// A Template is a database that is filled once in a test binary, and copied for each test.
type Template struct {
	Name string
	Fill func(dsn string) error // has to close its connections
	once sync.Once
	err  error
}

// Start is the Start of this package, with a copy of the template.
func (m *Template) Start(t testing.TB) (dsn string) {
	t.Helper()
	m.once.Do(func() {
		var c *cluster
		if c, m.err = shared(); m.err != nil {
			return
		}
		if m.err = c.exec("CREATE DATABASE " + m.Name); m.err == nil {
			m.err = m.Fill(c.dsn(m.Name))
		}
	})
	if m.err != nil {
		t.Fatalf("fill the template database %s: %v", m.Name, m.err)
	}
	return create(t, m.Name)
}

func create(t testing.TB, template string) (dsn string) {
	t.Helper()
	c, err := shared()
	if err != nil {
		t.Fatalf("start a private PostgreSQL: %v", err)
	}
	name := fmt.Sprintf("test_%d", databases.Add(1))
	if err := c.exec("CREATE DATABASE " + name + " TEMPLATE " + template); err != nil {
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
	c, err := startWith(forTests)
	if err != nil {
		return nil, err
	}
	return c, recordUse(os.Getenv(Used))
}

func startWith(settings string) (*cluster, error) {
	programs, err := findPrograms(os.Getenv("PATH"), "/usr/lib/postgresql/*/bin")
	if err != nil {
		return nil, err
	}
	return startCluster(programs, settings, "")
}

// A Server is a private PostgreSQL for measurements, with an empty database.
type Server struct {
	URL   string // of the database
	PID   int    // of the server; its sessions are child processes
	Close func() // stops the server and removes its data; it ends with this process at the latest
}

// StartDurable starts a server of its own that syncs every commit to the disk.
func StartDurable() (Server, error) {
	c, err := startWith(durable)
	if err != nil {
		return Server{}, err
	}
	pid, err := c.pid()
	if err != nil {
		c.stop()
		return Server{}, err
	}
	return Server{URL: c.dsn("postgres"), PID: pid, Close: c.stop}, nil
}

func recordUse(path string) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("record in $%s that PostgreSQL was used: %w", Used, err)
	}
	if _, err := fmt.Fprintln(f, os.Args[0]); err != nil {
		_ = f.Close() // the error of the write matters more
		return fmt.Errorf("record in $%s that PostgreSQL was used: %w", Used, err)
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
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.dsn("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}
