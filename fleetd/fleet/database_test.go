package fleet_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/fleet"
	"troupe/fleetd/store/pgtest"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/view"
	"troupe/schema/bubble"
)

// onPostgres runs a test in fake time, with a broker, and a fleetd instance that the test
// starts and whose connection to PostgreSQL it can cut.
func onPostgres(t *testing.T, test func(w *world, g *pgtest.Cable), options ...func(*fleet.Config)) {
	t.Helper()
	dsn, spool := storetest.Postgres(t), filepath.Join(t.TempDir(), "stops")
	bubble.Test(t, func(t *testing.T) {
		g := pgtest.NewCable()
		w := &world{T: t, database: dsn}
		w.Cleanup(g.Cut) // the driver may still close connections that hung
		w.newBroker()
		w.Cleanup(g.Release) // before fleetd ends
		w.config = fleet.Config{
			Dial: w.dial, Database: dsn, DialDatabase: g.Dial, Listen: w.listen, Spool: spool, Dev: true, Logger: logger(t),
		}
		for _, o := range options {
			o(&w.config)
		}
		test(w, g)
	})
}

// withoutDatabase holds what a fleetd instance does while its database is away.
func withoutDatabase(w *world, stopped func() int) {
	w.Helper()
	if p := w.ask("GET", "/healthz", nil, nil); p == nil || !p.Of(api.KindDatabase) || p.Detail == "" {
		w.Errorf("without a database fleetd calls itself %v", p)
	}
	for method, path := range map[string]string{"GET": "/commands", "POST": "/assignments"} {
		var body any
		if method == "POST" {
			body = map[string]any{"story": "museum", "selector": map[string]any{"all": true}}
		}
		if p := w.ask(method, path, body, nil); p == nil || !p.Of(api.KindDatabase) {
			w.Errorf("%s %s without a database: %v", method, path, p)
		}
	}
	if p := w.ask("POST", "/commands", setMode("ato", "r1"), nil); p == nil || p.Of(api.KindInternal) {
		w.Errorf("a command without a database: %v", p)
	}
	before := stopped()
	var b api.Batch
	w.must("POST", "/commands", order("safety/stop", "r1"), &b, "Prefer", "wait=5")
	if b.Outcome != "succeeded" || !b.Unpersisted || stopped() != before+1 {
		w.Errorf("the answer to a stop without a database is %+v", b)
	}
	var list struct{ Robots []view.Robot }
	w.must("GET", "/robots", nil, &list)
	if len(list.Robots) != 1 || list.Robots[0].Presence.Status != "online" {
		w.Errorf("without a database the robots are %+v", list.Robots)
	}
}

func TestDatabaseThatStartsAfterFleetd(t *testing.T) {
	onPostgres(t, func(w *world, g *pgtest.Cable) {
		g.Cut()
		w.startFleetd()
		r := startUnknownRobot(w, "r1")
		withoutDatabase(w, func() int { return count(r.Received(), "safety/stop") })
		g.Mend()
		w.until("the database is open", func() bool { return w.ask("GET", "/healthz", nil, nil) == nil })
		w.until("the robot is known", func() bool { d, _ := w.Robot("r1"); return d.Adopted })
		w.must("POST", "/commands", setMode("ato", "r1"), nil)
	})
}

func TestDatabaseThatIsLostAndComesBack(t *testing.T) {
	onPostgres(t, func(w *world, g *pgtest.Cable) {
		w.startFleetd()
		r := w.robot("r1")
		g.Cut()
		w.until("fleetd says so", func() bool { return w.ask("GET", "/healthz", nil, nil) != nil })
		withoutDatabase(w, func() int { return count(r.Received(), "safety/stop") })
		g.Mend()
		w.until("the database is back", func() bool { return w.ask("GET", "/healthz", nil, nil) == nil && w.Status().Database.OK })
		w.state(commandOf(w, "safety/stop"), "SUCCEEDED") // persisted later
	})
}

func TestUnusableConfigurationFailsTheStart(t *testing.T) {
	b := realWorld(t, "")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	folder := t.TempDir()
	b.config.Spool = "" // each database has its own
	held := b.config
	held.Database = "sqlite:" + filepath.Join(folder, "held.db")
	f, err := fleet.Start(context.Background(), held)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range []struct {
		name   string
		change func(*fleet.Config)
		says   string
	}{
		{"no database", func(c *fleet.Config) { c.Database = "" }, "--database"},
		{"a database of another kind", func(c *fleet.Config) { c.Database = "mysql://x" }, "mysql"},
		{"a file that another instance uses", func(c *fleet.Config) { c.Database = held.Database }, "another program"},
		{"a file that cannot be", func(c *fleet.Config) { c.Database = "sqlite:/proc/nowhere/fleet.db" }, "folder"},
		{"a database whose address is none", func(c *fleet.Config) {
			c.Database = "postgres://app:p@s3cr/w#s3cr 1@127.0.0.1:5432/x"
		}, "write %40 for @"},
		{"a database with a setting that cannot be", func(c *fleet.Config) { c.Database = "postgres://app:e@s3cr@127.0.0.1:5432/x?sslmode=bogus" }, `"sslmode"`},
		{"no broker", func(c *fleet.Config) { c.Dial = nil }, "--broker"},
		{"a broker that is no address", func(c *fleet.Config) { c.Dial, c.Broker = nil, "http://x" }, "http://x"},
		{"a broker with a password", func(c *fleet.Config) { c.Dial, c.Broker = nil, "mqtt://app:p@s3cr/w@broker" }, "mqtt://..."},
		{"a broker that cannot be parsed", func(c *fleet.Config) { c.Dial, c.Broker = nil, "mqtt://app:s3cr@%" }, "mqtt://..."},
		{"a public address with a query", func(c *fleet.Config) { c.PublicURL = "https://fleet.example/x?y=1" }, "public-url"},
		{"a public address with a password", func(c *fleet.Config) { c.PublicURL = "https://app:s3cr@fleet.example/x" }, "public-url"},
		{"a name that cannot be", func(c *fleet.Config) { c.Name = "Fleetd One" }, "Fleetd One"},
		{"a name space that cannot be", func(c *fleet.Config) { c.Namespace = "a/b" }, "a/b"},
		{"an address that is taken", func(c *fleet.Config) { c.HTTP = taken.Addr().String() }, "in use"},
		{"an address that others reach", func(c *fleet.Config) { c.HTTP = "0.0.0.0:0" }, "--dev"},
		{"an address that others reach, without TLS", func(c *fleet.Config) { c.HTTP, c.Dev = "0.0.0.0:0", false }, "--http-tls-cert"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := b.config
			config.Database = storetest.SQLite(t)
			c.change(&config)
			f, err := fleet.Start(context.Background(), config)
			if err == nil {
				f.Close()
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %q, without %q", err, c.says)
			}
			if strings.Contains(err.Error(), "s3cr") {
				t.Errorf("it says a password: %q", err)
			}
		})
	}
	proxied := b.config
	proxied.Database, proxied.HTTP, proxied.Dev, proxied.BehindProxy = "sqlite:"+filepath.Join(folder, "proxied.db"), "0.0.0.0:0", false, true
	e, err := fleet.Start(context.Background(), proxied)
	if err != nil {
		t.Fatalf("asked for in so many words: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
