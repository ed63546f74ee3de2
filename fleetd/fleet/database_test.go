package fleet_test

import (
	"context"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"troupe/fleetd/api"
	"troupe/fleetd/fleet"
	"troupe/fleetd/store/pgtest"
	"troupe/fleetd/view"
)

// gate stands between a fleetd instance and its PostgreSQL: a database that can be lost.
type gate struct {
	t       *testing.T
	socket  string
	address string
	dsn     string

	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
	all      sync.WaitGroup
}

func newGate(t *testing.T) *gate { return gateTo(t, pgtest.Start(t)) }

// gateTo is a way to a database that another instance may reach by another one.
func gateTo(t *testing.T, dsn string) *gate {
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{t: t, socket: filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432"), address: "127.0.0.1:0"}
	g.raise()
	u.Host, u.RawQuery = g.address, "sslmode=disable"
	g.dsn = u.String()
	t.Cleanup(g.lower)
	return g
}

// raise lets connections through.
func (g *gate) raise() {
	l, err := net.Listen("tcp", g.address)
	if err != nil {
		g.t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.listener, g.address = l, l.Addr().String()
	g.all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			db, err := net.Dial("unix", g.socket)
			if err != nil {
				c.Close()
				continue
			}
			g.mu.Lock()
			g.open = append(g.open, c, db)
			g.mu.Unlock()
			for _, pair := range [][2]net.Conn{{c, db}, {db, c}} {
				g.all.Go(func() {
					_, _ = io.Copy(pair[0], pair[1]) // until one side closes
					pair[0].Close()
				})
			}
		}
	})
}

// lower cuts all connections and lets none through.
func (g *gate) lower() {
	g.mu.Lock()
	if g.listener != nil {
		g.listener.Close()
		g.listener = nil
	}
	for _, c := range g.open {
		c.Close()
	}
	g.open = nil
	g.mu.Unlock()
	g.all.Wait()
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
		w.Errorf("a stop without a database came to %+v", b)
	}
	var list struct{ Robots []view.Robot }
	w.must("GET", "/robots", nil, &list)
	if len(list.Robots) != 1 || list.Robots[0].Presence.View != "online" {
		w.Errorf("without a database the robots are %+v", list.Robots)
	}
}

func TestDatabaseThatStartsAfterFleetd(t *testing.T) {
	g := newGate(t)
	g.lower()
	w := realWorld(t, g.dsn)
	w.startFleetd()
	r := startUnknownRobot(w, "r1")
	withoutDatabase(w, func() int { return count(r.Received(), "safety/stop") })
	g.raise()
	w.until("the database is open", func() bool { return w.ask("GET", "/healthz", nil, nil) == nil })
	w.until("the robot is known", func() bool { d, _ := w.Robot("r1"); return d.Adopted })
	w.must("POST", "/commands", setMode("ato", "r1"), nil)
}

func TestDatabaseThatIsLostAndComesBack(t *testing.T) {
	g := newGate(t)
	w := realWorld(t, g.dsn)
	w.startFleetd()
	r := w.robot("r1")
	g.lower()
	w.until("fleetd says so", func() bool { return w.ask("GET", "/healthz", nil, nil) != nil })
	withoutDatabase(w, func() int { return count(r.Received(), "safety/stop") })
	g.raise()
	w.until("the database is back", func() bool { return w.ask("GET", "/healthz", nil, nil) == nil && w.Status().Database.OK })
	w.state(commandOf(w, "safety/stop"), "SUCCEEDED") // persisted later
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
		{"no broker", func(c *fleet.Config) { c.Dial = nil }, "--broker"},
		{"a broker that is no address", func(c *fleet.Config) { c.Dial, c.Broker = nil, "http://x" }, "http://x"},
		{"a name that cannot be", func(c *fleet.Config) { c.Name = "Fleetd One" }, "Fleetd One"},
		{"a name space that cannot be", func(c *fleet.Config) { c.Namespace = "a/b" }, "a/b"},
		{"an address that is taken", func(c *fleet.Config) { c.HTTP = taken.Addr().String() }, "in use"},
		{"an address that others reach", func(c *fleet.Config) { c.HTTP = "0.0.0.0:0" }, "--exposed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := b.config
			config.Database = "sqlite:" + filepath.Join(t.TempDir(), "fleet.db")
			c.change(&config)
			f, err := fleet.Start(context.Background(), config)
			if err == nil {
				f.Close()
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("it says %q, without %q", err, c.says)
			}
		})
	}
	exposed := b.config
	exposed.Database, exposed.HTTP, exposed.Exposed = "sqlite:"+filepath.Join(folder, "exposed.db"), "0.0.0.0:0", true
	e, err := fleet.Start(context.Background(), exposed)
	if err != nil {
		t.Fatalf("asked for in so many words: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
