package store_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"troupe/fleetd/audit"
	"troupe/fleetd/store"
	"troupe/fleetd/store/pgtest"
	"troupe/fleetd/store/storetest"
)

func open(t *testing.T, address string) (*store.Store, error) {
	t.Helper()
	return store.Open(t.Context(), address, storetest.Start, slog.New(slog.DiscardHandler))
}

func TestSecondInstanceOnOneSQLiteFileIsRefused(t *testing.T) {
	address := "sqlite:" + filepath.Join(t.TempDir(), "deep", "fleet 1?.db")
	first := storetest.Open(t, address)
	_, err := open(t, address)
	if !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), "fleet 1?.db") {
		t.Fatalf("the second fleetd: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatalf("closed twice: %v", err)
	}
	if second := storetest.Open(t, address); second.FleetID() != first.FleetID() {
		t.Fatal("the next instance opened another fleet")
	}
}

func TestRelativeSQLitePathIsUsed(t *testing.T) {
	t.Chdir(t.TempDir())
	storetest.Open(t, "sqlite:fleet.db")
	if _, err := os.Stat("fleet.db"); err != nil {
		t.Fatal(err)
	}
}

func TestConcurrentStartsOnPostgresShareTheFleetID(t *testing.T) {
	address := pgtest.Start(t)
	instances := make([]*store.Store, 4)
	var wg sync.WaitGroup
	for i := range instances {
		wg.Go(func() {
			s, err := open(t, address)
			if err != nil {
				t.Error(err)
				return
			}
			instances[i] = s
		})
	}
	wg.Wait()
	for _, s := range instances {
		if s == nil {
			continue
		}
		if s.FleetID() != instances[0].FleetID() {
			t.Errorf("fleets %s and %s", s.FleetID(), instances[0].FleetID())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestErrorsNeverContainThePassword(t *testing.T) {
	for _, address := range []string{
		"postgres://fleet:s3cr%40t@127.0.0.1:1/fleet?connect_timeout=1",
		"postgres://fleet:s3cr%40t@127.0.0.1:port/fleet",
		"postgres://fleet:s3cr%40t@[/fleet",
		"postgres://fleet:s3cr@t@127.0.0.1:1/fleet?sslmode=perhaps",
		"postgres://127.0.0.1:1/fleet?user=fleet&password=s3cr%40t&pool_max_conns=many",
		"mysql://fleet:s3cr@t@127.0.0.1/fleet",
		"s3cr@t",
		"postgres://fleet:p@s3cr/w#s3cr 1@127.0.0.1:1/fleet",
		"postgres://fleet:e@s3cr77!@127.0.0.1:1/fleet?sslmode=perhaps",
		"postgres://fleet:1?x=s3cr@127.0.0.1:1/fleet",
		"postgres://fleet:s3cr@ab c@127.0.0.1:1/fleet",
		"postgres://fleet:p@127.0.0.1:1/fleet?connect_timeout=1",
	} {
		_, err := open(t, address)
		if err == nil {
			t.Fatalf("%s was opened", address)
		}
		if strings.Contains(err.Error(), "s3cr") {
			t.Errorf("the error contains the password: %v", err)
		}
		if strings.Contains(err.Error(), "xxxxx") {
			t.Errorf("the error shows where the password was: %v", err)
		}
	}
}

func TestUnknownDatabaseAddressIsRefused(t *testing.T) {
	for address, want := range map[string]string{
		"":                              "write sqlite:PATH, or a postgres:// address",
		"fleet.db":                      "write sqlite:PATH, or a postgres:// address",
		"sqlite:":                       "write sqlite:PATH",
		"sqlite::memory:":               "write sqlite:PATH",
		"sqlite:/proc/nowhere/fleet.db": "make the database's folder",
	} {
		if _, err := open(t, address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", address, err, want)
		}
	}
}

// Open does not wait long for a database that cannot be reached.
func TestUnreachableDatabaseIsReportedSoon(t *testing.T) {
	began := time.Now()
	if _, err := open(t, "postgres://fleet@127.0.0.1:1/fleet"); err == nil || !strings.Contains(err.Error(), "reach the database") {
		t.Fatalf("got %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Fatalf("it took %v", took)
	}
}

// When the server ends the connection of the leader, as in a restart, the leader notices at
// once, not only at the next round trip.
func TestTerminatedLeadConnectionToPostgresIsNoticedAtOnce(t *testing.T) {
	address := pgtest.Start(t)
	s := storetest.Open(t, address)
	l, _, err := s.TryLead(t.Context(), "fleetd-a", storetest.Start)
	if err != nil || l == nil {
		t.Fatalf("%v, %v", l, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- l.Hold(t.Context(), 24*time.Hour, time.Second) }()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(),
		`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'troupe-fleetd-lead'`); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, store.ErrLeadLost) {
		t.Fatalf("got %v", err)
	}
	l.Drop()
	var next *store.LeaderLock
	for next == nil { // until the server releases the lock
		if next, _, err = s.TryLead(t.Context(), "fleetd-b", storetest.Start); err != nil {
			t.Fatal(err)
		}
	}
	if err := next.Resign(t.Context(), storetest.Start); err != nil {
		t.Fatal(err)
	}
}

// The operating system keeps the connection of a leader that hangs. The leader loses the lead
// all the same.
func TestHangingLeaderOnPostgresLosesTheLead(t *testing.T) {
	s := storetest.Open(t, pgtest.Start(t))
	hanging, _, err := s.TryLead(t.Context(), "fleetd-a", storetest.Start)
	if err != nil || hanging == nil {
		t.Fatalf("%v, %v", hanging, err)
	}
	began := time.Now()
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	var next *store.LeaderLock
	for ; next == nil; <-again.C {
		if next, _, err = s.TryLead(t.Context(), "fleetd-b", storetest.Start); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took > 7*time.Second {
		t.Errorf("the hanging leader kept the lead for %v", took)
	}
	if err := hanging.Hold(t.Context(), time.Millisecond, time.Minute); !errors.Is(err, store.ErrLeadLost) {
		t.Errorf("the hanging leader still leads: %v", err)
	}
	hanging.Drop()
	if err := next.Resign(t.Context(), storetest.Start); err != nil {
		t.Fatal(err)
	}
}

// An instance that hangs while some of its transactions hold locks and others wait for them delays the
// writes of other instances, and nothing else of them.
func TestHungInstanceOnPostgresDelaysOthersByAtMost3s(t *testing.T) {
	address := storetest.Postgres(t)
	other, cable := storetest.Open(t, address), pgtest.NewCable()
	hung, err := store.OpenOver(t.Context(), address, storetest.Start, slog.New(slog.DiscardHandler), cable.Dial)
	if err != nil {
		t.Fatal(err)
	}
	defer hung.Close()
	robots(t, other, "r1", "r2")
	write := func(s *store.Store, robot string) error {
		return s.Tx(t.Context(), func(tx *store.Tx) error {
			if err := tx.SetLabels(t.Context(), robot, map[string]string{"site": "museum"}); err != nil {
				return err
			}
			return tx.Note(t.Context(), storetest.Start, audit.Note{Source: audit.Source{Via: audit.ViaFleetd}, What: "label", Target: robot})
		})
	}
	var writers sync.WaitGroup
	defer writers.Wait()
	defer cable.Release()
	cable.HoldAt("pg_advisory_xact_lock") // the head of the audit log
	for range 4 {
		writers.Go(func() { _ = write(hung, "r1") })
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for !cable.Held() { // from then on no answer reaches any of them, whatever it waits for
		<-look.C
	}
	for range 3 {
		began := time.Now()
		if err := write(other, "r2"); err != nil {
			t.Errorf("a write of another instance: %v", err)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("a write of another instance took %v", took)
		}
	}
}
