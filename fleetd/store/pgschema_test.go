package store_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"troupe/fleetd/audit"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/store/pgtest"
	"troupe/fleetd/store/storetest"
)

// schemaOf is the address of a schema of a database, in either of the two ways in which people write it.
func schemaOf(address, schema string, option bool) string {
	if option {
		return address + "&options=-csearch_path%3D" + schema
	}
	return address + "&search_path=" + schema
}

// What a fleet keeps, its leader and its audit log work in a schema that does not exist yet, beside a fleet in the default one.
func TestFleetInASchemaOfPostgres(t *testing.T) {
	for name, run := range map[string]func(*testing.T, string){
		"restart": restartKeepsEverything, "leader": func(t *testing.T, address string) { onlyOneInstanceLeads(t, address) },
		"writers": concurrentWriters,
	} {
		t.Run(name, func(t *testing.T) {
			address := storetest.Postgres(t)
			storetest.Open(t, address)
			run(t, schemaOf(address, "museum", false))
		})
	}
}

// Fleets in the schemas of one database have each their own id, tables, leader and head of the audit log.
func TestFleetsInOneDatabaseShareNothing(t *testing.T) {
	address := pgtest.Start(t)
	addresses := map[string]string{"public": address, "museum": schemaOf(address, "museum", false), "Lobby Hall": schemaOf(address, `"Lobby%20Hall"`, false),
		"shop": schemaOf(address, "shop", true)}
	ids := map[string]string{}
	for schema, address := range addresses {
		s := storetest.Open(t, address)
		if s.Schema() != schema {
			t.Errorf("the tables are in %q, want %q", s.Schema(), schema)
		}
		if other, twice := ids[s.FleetID()]; twice {
			t.Errorf("%s and %s are one fleet", schema, other)
		}
		ids[s.FleetID()] = schema
		robots(t, s, "of-"+strings.ToLower(strings.Fields(schema)[0]))
		if all := must[[]store.Robot](t)(s.Robots(t.Context(), selector.All())); len(all) != 1 {
			t.Errorf("%s sees the robots %v", schema, all)
		}
		leads, _ := requestLead(t, s, "fleetd-a", 1)
		if leads == nil {
			t.Fatalf("%s has a leader already", schema)
		}
		if second, _ := requestLead(t, storetest.Open(t, address), "fleetd-b", 2); second != nil {
			t.Errorf("%s has two leaders", schema)
		}
		in, err := s.Target(t.Context())
		if err != nil || in.InUse != 2 {
			t.Errorf("%s: %d connections of fleetd, %v; want 2, and none of other fleets", schema, in.InUse, err)
		}
	}
}

// A transaction of one fleet that keeps the head of its audit log delays no other fleet.
func TestAuditOfAFleetWaitsForNoOtherFleet(t *testing.T) {
	address := storetest.Postgres(t)
	first, second := storetest.Open(t, address), storetest.Open(t, schemaOf(address, "museum", false))
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `SELECT pg_advisory_lock(107156823700480)`); err != nil { // chainLock
		t.Fatal(err)
	}
	note := func(s *store.Store, within time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		return s.Tx(ctx, func(tx *store.Tx) error { return tx.Note(ctx, at(1), audit.Note{What: "label"}) })
	}
	if err := note(first, 300*time.Millisecond); err == nil {
		t.Fatal("the fleet of the default schema does not wait: the test locks something else")
	}
	if err := note(second, time.Minute); err != nil {
		t.Fatalf("the other fleet waits, too: %v", err)
	}
}

// A name that was typed wrongly must not begin a new fleet in the schema that comes next.
func TestMissingSchemaBeforeAnotherOneIsRefused(t *testing.T) {
	address := storetest.Postgres(t)
	if _, err := open(t, schemaOf(address, "musuem,public", false)); err == nil ||
		!strings.Contains(err.Error(), "no schema musuem: name one schema only") {
		t.Fatalf("got %v", err)
	}
	s, err := open(t, schemaOf(address, "public,museum", false))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil || s.Schema() != store.DefaultSchema {
		t.Fatalf("the tables are in %s, %v", s.Schema(), err)
	}
}

// Locks are those of the first schema, so a fleet whose tables are in the second one would have two leaders.
func TestEmptySchemaBeforeThatOfAFleetIsRefused(t *testing.T) {
	address := storetest.Postgres(t)
	fleet := must[*store.Store](t)(open(t, address))
	if err := fleet.Close(); err != nil {
		t.Fatal(err)
	}
	conn := must[*pgx.Conn](t)(pgx.Connect(t.Context(), address))
	defer conn.Close(t.Context())
	user := conn.Config().User
	for _, schema := range []string{"fleet2", user} {
		if _, err := conn.Exec(t.Context(), "CREATE SCHEMA "+pgx.Identifier{schema}.Sanitize()); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct{ path, wayOut string }{
		{"fleet2,public", "?search_path=public for that fleet; a fleet of its own in fleet2 needs ?search_path=fleet2"},
		{`"$user",public`, "?search_path=public for that fleet; a fleet of its own in " + user},
		{"public,fleet2", ""},
		{"public", ""},
		{"fleet2", ""}, // it has a fleet of its own from now on
	} {
		path, wayOut := row.path, row.wayOut
		s, err := open(t, schemaOf(address, url.QueryEscape(path), false))
		if err == nil {
			err = s.Close()
		}
		if wayOut == "" && err != nil || wayOut != "" && (err == nil || !strings.Contains(err.Error(), wayOut)) {
			t.Errorf("search_path %s: got %v, want %q", path, err, wayOut)
		}
	}
}
