package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// A Pair is a PostgreSQL primary and a standby that has each commit before it is acknowledged.
type Pair struct {
	URL              string // of an empty database, at the one of the two that accepts writes
	primary, standby *cluster
}

// Both sync every commit. The standby, once promoted, waits for no other.
const (
	settingsOfPrimary = "fsync = on\nsynchronous_commit = on\nshared_buffers = 64MB\nsynchronous_standby_names = '*'"
	settingsOfStandby = "fsync = on\nsynchronous_commit = on\nshared_buffers = 64MB\nsynchronous_standby_names = ''"
)

// StartPair starts a primary and its standby. They end with this process at the latest.
func StartPair() (*Pair, error) {
	programs, err := findPrograms("", "/usr/lib/postgresql/*/bin") // what is in PATH may lack pg_basebackup
	if err != nil {
		return nil, err
	}
	primary, err := startCluster(programs, settingsOfPrimary, "")
	if err != nil {
		return nil, err
	}
	standby, err := startCluster(programs, settingsOfStandby, primary.folder)
	if err != nil {
		primary.stop()
		return nil, err
	}
	u := url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/postgres",
		RawQuery: url.Values{"host": {primary.folder + "," + standby.folder}, "target_session_attrs": {"read-write"},
			"connect_timeout": {"2"}}.Encode()}
	return &Pair{u.String(), primary, standby}, nil
}

// KillPrimary ends the primary as a power cut does.
func (p *Pair) KillPrimary() error {
	pid, err := p.primary.pid()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill the primary: %w", err)
	}
	return nil
}

// Promote makes the standby a primary, as the tool that watches over a pair does.
func (p *Pair) Promote(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, p.standby.dsn("postgres"))
	if err != nil {
		return fmt.Errorf("promote the standby: %w", err)
	}
	defer conn.Close(ctx)
	var promoted bool
	if err := conn.QueryRow(ctx, "SELECT pg_promote(true, 30)").Scan(&promoted); err != nil || !promoted {
		return fmt.Errorf("promote the standby: %v, %w", promoted, err)
	}
	return nil
}

// Close ends both and removes their data.
func (p *Pair) Close() {
	p.standby.stop()
	p.primary.stop()
}
