package store

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

// pgSchema is the schema of a PostgreSQL database in which a fleet has its tables: the current one of its connections, which
// search_path in the database's address chooses. Other fleets may have other schemas of the same database.
type pgSchema struct {
	name    string // current_schema(); empty = none that search_path names exists
	missing string // the first schema of search_path, which does not exist yet
}

// DefaultSchema is where the tables are if nobody chose a schema.
const DefaultSchema = "public"

func readSchema(ctx context.Context, pool *pgxpool.Pool) (s pgSchema, err error) {
	var path, holder string // holder: the schema in which a query finds the fleet's tables; empty = none
	if err := pool.QueryRow(ctx, `SELECT COALESCE(current_schema(), ''), current_setting('search_path'), COALESCE((SELECT nspname
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass('goose_db_version')), '')`).
		Scan(&s.name, &path, &holder); err != nil {
		return s, fmt.Errorf("read the schema of the database: %w", err)
	}
	first, _, several := strings.Cut(path, ",")
	first = strings.TrimSpace(first)
	if quoted, ok := strings.CutPrefix(first, `"`); ok {
		first = strings.ReplaceAll(strings.TrimSuffix(quoted, `"`), `""`, `"`)
	} else {
		first = strings.ToLower(first)
	}
	switch {
	case holder != "" && holder != s.name: // with the locks of the current schema, there could be a second leader
		return s, fmt.Errorf("search_path is %s: a fleet's tables are in the schema %s, and new ones would be in %s: name one schema only, "+
			"as in ?search_path=%s for that fleet; a fleet of its own in %s needs ?search_path=%s", path, holder, s.name, holder, s.name, s.name)
	case first == s.name || first == "" || first == "$user":
	case several: // the tables may be in the second one, or a typing error would begin a new fleet there
		return s, fmt.Errorf("search_path is %s, and the database has no schema %s: name one schema only, that of the fleet", path, first)
	default:
		s.missing = first
	}
	return s, nil
}

// makeSchema makes the schema if there is none of its name.
func (p *pools) makeSchema(ctx context.Context) error {
	if p.schema.missing == "" {
		return nil
	}
	quoted := `"` + strings.ReplaceAll(p.schema.missing, `"`, `""`) + `"`
	if _, err := p.write.ExecContext(ctx, "CREATE SCHEMA IF NOT EXISTS "+quoted); err != nil && pgCode(err) != uniqueViolation {
		return fmt.Errorf("make the schema %s: %w; let the database's owner run CREATE SCHEMA %s AUTHORIZATION user", p.schema.missing,
			err, quoted)
	}
	return nil
}

// uniqueViolation is what an instance gets that makes the schema at the same moment as another.
const uniqueViolation = "23505"

// Schema is the schema of the PostgreSQL database with the fleet's tables; empty with SQLite.
func (s *Store) Schema() string { return s.pools.schema.inUse() }

// OtherFleets lists the other schemas of the PostgreSQL database in which there are fleets.
func (s *Store) OtherFleets(ctx context.Context) ([]string, error) {
	all, err := queryAll(ctx, s.reads, func(scan func(...any) error) (name string, err error) { return name, scan(&name) },
		`SELECT schemaname FROM pg_tables WHERE tablename = 'goose_db_version' AND schemaname <> current_schema() ORDER BY schemaname`)
	if err != nil {
		return nil, fmt.Errorf("list the fleets in other schemas: %w", err)
	}
	return all, nil
}

// inUse is the name of the schema, also before it exists.
func (s pgSchema) inUse() string {
	if s.missing != "" {
		return s.missing
	}
	return s.name
}

// placeIn adds the schema to the name of its database.
func (s pgSchema) placeIn(database string) string {
	if s.isDefault() {
		return database
	}
	return "schema " + s.inUse() + " of " + database
}

func (s pgSchema) isDefault() bool { return s.inUse() == DefaultSchema || s.inUse() == "" }

// lockNumber is the number of an advisory lock of one schema. PostgreSQL's numbers are those of the database, so without
// this the fleets of a database would share one leader. In the default schema it is what it was in earlier releases.
func (s pgSchema) lockNumber(number int64) int64 {
	if s.isDefault() {
		return number
	}
	return number ^ int64(s.hash())
}

// leadSuffix ends the application_name of the connections for the leader's lock. It is short, because PostgreSQL cuts the
// name after 63 bytes.
func (s pgSchema) leadSuffix() string {
	if s.isDefault() {
		return "-lead"
	}
	return fmt.Sprintf("-lead-%08x", uint32(s.hash()))
}

func (s pgSchema) hash() uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.inUse())) // never fails
	return h.Sum64()
}
