package doctor_test

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/link"
	"troupe/fleetd/ca"
	"troupe/fleetd/certificate"
	"troupe/fleetd/doctor"
	"troupe/fleetd/setup"
	"troupe/fleetd/setup/apply"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/vault"
	"troupe/schema"
	"troupe/schema/finding"
)

// patient is a server that was set up and has no fault, until a test puts one in. Its fleetd is only its addresses and its
// heartbeats.
type patient struct {
	t      *testing.T
	folder string
	c      doctor.Config
	on     doctor.Computer
	beats  []schema.FleetHeartbeat // each from an instance of its own; the first is fleetd
}

func newPatient(t *testing.T) *patient {
	t.Helper()
	p := &patient{t: t, folder: t.TempDir()}
	p.copyOf(healthy(t))
	http, robots, broker := freeAddress(t), freeAddress(t), freeAddress(t)
	p.c = doctor.Config{
		From: "a test", Name: "fleetd", Namespace: schema.DefaultNamespace, Database: "sqlite:" + p.folder + "/lib/fleetd/fleet.db",
		Spool: p.folder + "/lib/fleetd/fleetd.stops", HTTP: http, HTTPCert: p.etc("fleetd.pem"), HTTPKey: p.etc("fleetd.key.pem"),
		PublicURL: "https://localhost",
		Enrol:     robots, EnrolURL: "https://localhost", CA: p.etc("ca"), Brokers: []string{"mqtts://" + broker},
		Private:  []string{p.etc("fleetd.env")},
		OfOthers: []string{p.etc("broker.key.pem")},
	}
	p.on = doctor.ThisComputer()
	p.on.Synchronised = func() (bool, error) { return true, nil }
	p.on.Free = func(string) uint64 { return 4 << 30 }
	p.on.Listen = 150 * time.Millisecond
	p.beats = []schema.FleetHeartbeat{{Instance: schema.FleetInstance{Version: "v1", Leads: true, Database: true}}}
	p.serve(http)
	p.serve(robots)
	brokertest.Start(t, brokertest.WithCertificates(broker, p.etc("broker.pem"), p.etc("broker.key.pem"), p.etc("ca/ca.pem"),
		p.etc("ca/crl.pem")))
	return p
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// healthy is the folder of a server that was set up, of which each patient has a copy: migrations take most of the time.
func healthy(t *testing.T) string {
	t.Helper()
	once.Do(func() {
		p := &patient{t: t, folder: template}
		a := setup.Answers{
			Name: "museum", Hosts: []string{"localhost", "127.0.0.1"}, Config: p.folder + "/etc", Data: p.folder + "/lib",
			HTTP: freeAddress(t), Robots: freeAddress(t), BrokerListen: freeAddress(t), BrokerHTTP: freeAddress(t),
		}.Complete()
		on := apply.ThisComputer()
		on.Unit = func(context.Context, string) (apply.Unit, bool) { return apply.Unit{}, false }
		w, found := apply.Prepare(t.Context(), a, false, on)
		if len(found) > 0 {
			t.Fatal(found)
		}
		_, err := w.Run(t.Context())
		p.must(err)
		p.must(os.Remove(p.etc("ca/" + vault.RootKeyFile))) // it is in a safe
		db, err := store.Open(t.Context(), w.Plan.Database, time.Now(), slog.New(slog.DiscardHandler))
		p.must(err)
		p.must(db.Tx(t.Context(), func(tx *store.Tx) error {
			return tx.AddBackup(t.Context(), time.Now(), store.Backup{ID: "b1", Kind: store.BackupMade, At: time.Now(), File: "fleet.backup",
				By: "a test"})
		}))
		p.must(db.Close())
	})
	return template
}

var (
	once     sync.Once
	template string
)

func TestMain(m *testing.M) {
	var err error
	if template, err = os.MkdirTemp("", "doctor"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(template); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// copyOf copies a folder with the modes of its files.
func (p *patient) copyOf(from string) {
	p.t.Helper()
	p.must(filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(p.folder, rel), info.Mode().Perm())
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(p.folder, rel), text, info.Mode().Perm())
	}))
}

func (p *patient) etc(name string) string { return filepath.Join(p.folder, "etc", name) }

func (p *patient) sql(statement string) {
	p.t.Helper()
	db, err := sql.Open("sqlite", p.folder+"/lib/fleetd/fleet.db")
	if err == nil {
		_, err = db.ExecContext(p.t.Context(), statement)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		p.t.Fatal(err)
	}
}

// serve shows fleetd's certificate at an address.
func (p *patient) serve(at string) {
	p.t.Helper()
	pair, err := tls.LoadX509KeyPair(p.c.HTTPCert, p.c.HTTPKey)
	if err != nil {
		p.t.Fatal(err)
	}
	l, err := tls.Listen("tcp", at, &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		p.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).HandshakeContext(p.t.Context()) // the other side says whether it failed
			_ = conn.Close()
		}
	}()
	p.t.Cleanup(func() { _ = l.Close(); <-done })
}

// beat sends heartbeats until the test ends.
func (p *patient) beat() {
	v, err := vault.Open(p.etc("ca"), time.Now())
	if err != nil {
		p.t.Fatal(err)
	}
	for i, h := range p.beats {
		name := []string{"fleetd", "fleetd-b"}[i]
		identity := certificate.NewIdentity(certificate.IdentityDeps{Name: name, Vault: v, Now: time.Now, EnrolURL: func() string { return "" }})
		ctx, cancel := context.WithCancel(p.t.Context())
		l, err := link.Open(ctx, link.Config{URL: p.c.Brokers[0], TLS: identity.TLS, Name: name, ClientID: name,
			OnMessage: func(link.Message) {}, OnState: func(link.State) {}})
		if err == nil {
			err = l.WaitUp(ctx)
		}
		if err != nil {
			p.t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for seq := int64(1); ; seq++ {
				h := h
				h.TS, h.Session, h.Seq = h.TS+schema.TimeOf(time.Now()), "s", seq
				body, err := schema.Encode(h)
				if err == nil {
					_ = l.Publish(ctx, link.Message{Topic: schema.DefaultNamespace.Topic(schema.TopicFleetHeartbeat, name), Payload: body})
				}
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
				}
			}
		}()
		p.t.Cleanup(func() { cancel(); <-done; _ = l.Close(context.WithoutCancel(ctx)) })
	}
}

func (p *patient) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// certify replaces fleetd's certificate by one for other names.
func (p *patient) certify(now time.Time, names ...string) {
	v, err := vault.Open(p.etc("ca"), time.Now())
	p.must(err)
	pair, err := v.Server(names, nil, now)
	p.must(err)
	p.must(vault.SavePair(p.c.HTTPCert, p.c.HTTPKey, true, pair, v.Chain(pair.Certificate)))
}

// TestEachUsualMistakeIsFound makes one mistake after the other on a server that has no other.
func TestEachUsualMistakeIsFound(t *testing.T) {
	year := 365 * 24 * time.Hour
	for _, row := range []struct {
		name     string
		mistake  func(p *patient)
		part     string
		severity finding.Severity
		detail   string
		help     string
	}{
		{"none", func(*patient) {}, "", finding.OK, "", ""},
		{"a clock before the build", func(p *patient) { p.on.Built = time.Now().Add(time.Hour) }, "clock", finding.Fail, "was built at",
			"set the clock"},
		{"a clock that follows nothing", func(p *patient) { p.on.Synchronised = func() (bool, error) { return false, nil } }, "clock",
			finding.Warn, "follows no source", "timesyncd"},
		{"a full disk", func(p *patient) { p.on.Free = func(string) uint64 { return 1 << 20 } }, "disk", finding.Fail, "is full: 1 MiB",
			"make room"},
		{"little room", func(p *patient) { p.on.Free = func(string) uint64 { return 100 << 20 } }, "disk", finding.Warn,
			"100 MiB are free", "keep less"},
		{"settings that all can read", func(p *patient) { p.must(os.Chmod(p.etc("fleetd.env"), 0o644)) }, "files", finding.Fail,
			"may read or change", "chmod o="},
		{"no key", func(p *patient) { p.c.EnrolKey = p.etc("none") }, "files", finding.Fail, "no such file", "restore it"},
		{"no such user", func(p *patient) {
			p.c.User, p.on.Lookup = "nobody-here", func(string) (*user.User, error) { return nil, user.UnknownUserError("nobody-here") }
		}, "files", finding.Warn, "there is no user nobody-here", "install the package"},
		{"a database of another user", func(p *patient) {
			p.c.User, p.on.Lookup = "fleetd", func(string) (*user.User, error) { return &user.User{Uid: "4711", Gid: "4711"}, nil }
		}, "files", finding.Fail, "the user fleetd cannot read", "chown fleetd"},
		{"no keys", func(p *patient) { p.c.CA = "" }, "ca", finding.Warn, "enrols no robots", "fleetd setup"},
		{"a CA without its key", func(p *patient) { p.must(os.Remove(p.etc("ca/" + vault.IntermediateKeyFile))) }, "ca", finding.Fail,
			"no such file", "from a backup"},
		{"a CA that root has copied", func(p *patient) {
			p.c.User, p.on.Lookup = "fleetd", func(string) (*user.User, error) { return &user.User{Uid: "4711", Gid: "4711"}, nil }
		}, "ca", finding.Fail, "the user fleetd cannot write to", "chown fleetd"},
		{"a CA of another fleet", func(p *patient) {
			other := filepath.Join(p.folder, "other")
			p.must(vault.Make(other, "other", time.Now()))
			v, err := vault.Open(other, time.Now())
			p.must(err)
			pair, err := v.Server([]string{"r1"}, nil, time.Now())
			p.must(err)
			p.sql(fmt.Sprintf(`INSERT INTO certificates VALUES ('1', 'r1', 'token', '%s', 1, 1, 1, 0, '', '')`,
				ca.EncodeCertificates(v.Chain(pair.Certificate)...)))
		}, "ca", finding.Fail, "is of another fleet", "from a backup"},
		{"the root's key", func(p *patient) { p.must(os.WriteFile(p.etc("ca/"+vault.RootKeyFile), nil, 0o600)) }, "ca", finding.Warn,
			"still on this computer", "offline"},
		{"a certificate for another name", func(p *patient) { p.certify(time.Now(), "other.example") }, "certificate", finding.Fail,
			"is not for localhost", "--replace"},
		{"a certificate that has expired", func(p *patient) { p.certify(time.Now().Add(-2*year), "localhost") }, "certificate",
			finding.Fail, "expired", "--replace"},
		{"a certificate that ends soon", func(p *patient) { p.certify(time.Now().Add(-year-10*24*time.Hour), "localhost") }, "certificate",
			finding.Warn, "is valid until", "--replace"},
		{"a new certificate that is not served", func(p *patient) { p.certify(time.Now(), "localhost") }, "console", finding.Warn,
			"shows another certificate", "its log says"},
		{"a database that is away", func(p *patient) { p.c.Database = "postgres://t@127.0.0.1:1/troupe" }, "database", finding.Fail,
			"connection refused", "nothing listens there"},
		{"a database without a fleet", func(p *patient) { p.c.Database = "sqlite:" + p.folder + "/other.db" }, "database", finding.Warn,
			"has no fleet yet", "first start"},
		{"a database of a later release", func(p *patient) { p.sql(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`) }, "database", finding.Fail, "a newer fleetd has migrated it", "run that fleetd"},
		{"a database of an earlier release", func(p *patient) { p.sql(`DELETE FROM goose_db_version WHERE version_id > 20`) }, "database", finding.Warn, "this fleetd makes version", "migrates it"},
		{"no backup", func(p *patient) { p.sql(`DELETE FROM backups`) }, "backup", finding.Warn, "no backup was ever made", "fleetd backup"},
		{"an old backup", func(p *patient) { p.sql(`UPDATE backups SET at = at - 864000000000`) }, "backup", finding.Warn, "10 days old", "nightly"},
		{"no fleetd", func(p *patient) { p.c.HTTP = "127.0.0.1:1" }, "console", finding.Warn, "nothing is at 127.0.0.1:1", "systemctl start"},
		{"no broker", func(p *patient) { p.c.Brokers = []string{"mqtts://127.0.0.1:1"} }, "broker", finding.Fail, "connection refused",
			"nothing listens there"},
		{"a broker of another fleet", func(p *patient) {
			p.must(os.RemoveAll(p.etc("ca")))
			p.must(vault.Make(p.etc("ca"), "other", time.Now()))
			p.must(os.Remove(p.etc("ca/" + vault.RootKeyFile)))
		}, "broker", finding.Fail, "certificate signed by unknown authority", "not signed by the CA that fleetd trusts"},
		{"no heartbeats", func(p *patient) { p.beats = nil }, "instances", finding.Warn, "no fleetd sends heartbeats", "start fleetd"},
		{"two versions", func(p *patient) {
			p.beats = append(p.beats, schema.FleetHeartbeat{Instance: schema.FleetInstance{Version: "v2", Database: true}})
		}, "instances", finding.Warn, "fleetd v1 (leads), fleetd-b v2; they are not of the same version", "update the others"},
		{"an upgrade without a restart", func(p *patient) { p.c.Version = "v2" }, "instances", finding.Warn, "this program is v2",
			"restart the service"},
		{"nobody leads", func(p *patient) { p.beats[0].Instance.Leads = false }, "instances", finding.Warn, "0 of them lead", "see their logs"},
		{"a clock of another instance", func(p *patient) { p.beats[0].TS = schema.Time(3_600_000) }, "instances", finding.Fail,
			"differs from that of fleetd by 1h0m", "set the clock"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := newPatient(t)
			row.mistake(p)
			if row.name != "a broker of another fleet" && row.name != "no broker" && row.name != "a CA without its key" {
				p.beat()
			}
			found := doctor.Examine(t.Context(), p.c, nil, p.on)
			seen := row.part == ""
			for _, f := range found {
				switch {
				case f.Part == row.part && f.Severity == row.severity && strings.Contains(f.Detail, row.detail) && strings.Contains(f.Help, row.help):
					seen = true
				case row.part == "" && f.Severity != finding.OK:
					t.Errorf("a server without a fault: %v", f)
				}
				if (f.Help == "") != (f.Severity == finding.OK) {
					t.Errorf("help of %v", f)
				}
			}
			if !seen {
				t.Errorf("not found among %v", found)
			}
		})
	}
}

func TestBrokersEngineIsKnown(t *testing.T) {
	p := newPatient(t)
	p.beat()
	for _, f := range doctor.Examine(t.Context(), p.c, nil, p.on) {
		if f.Part == "broker" && !strings.Contains(f.Detail, "it is Troupe's broker; its certificate is valid until") {
			t.Errorf("%v", f)
		}
	}
}

func TestPostgresIsExamined(t *testing.T) {
	p := newPatient(t)
	p.beat()
	p.c.Database = storetest.Postgres(t)
	for _, f := range doctor.Examine(t.Context(), p.c, nil, p.on) {
		if f.Part == "database" && (f.Severity != finding.OK || !strings.Contains(f.Detail, "PostgreSQL")) {
			t.Errorf("%v", f)
		}
	}
}

func TestSettingsThatCannotBeReadAreAFinding(t *testing.T) {
	found := doctor.Examine(t.Context(), doctor.Config{}, errors.New("unknown setting TROUPE_FLEETD_HTPT"), doctor.ThisComputer())
	if !found.Fails() || found[0].Part != "settings" || len(found) != 2 {
		t.Errorf("%v", found)
	}
}
