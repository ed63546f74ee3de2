package apply_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/ca"
	"troupe/fleetd/setup"
	"troupe/fleetd/setup/apply"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/vault"
	"troupe/schema"
	"troupe/schema/envfile"
)

// server is a computer that is set up in folders of a test.
type server struct {
	t       *testing.T
	folder  string
	answers setup.Answers
	on      apply.Computer
}

func newServer(t *testing.T) *server {
	s := &server{t: t, folder: t.TempDir(), on: apply.ThisComputer()}
	s.on.Unit = func(context.Context, string) (apply.Unit, bool) { return apply.Unit{}, false }
	var held []net.Listener // until each has its port, so that no two have the same one
	port := func() string {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, l)
		return l.Addr().String()
	}
	s.answers = setup.Answers{
		Name: "museum", Hosts: []string{"localhost", "127.0.0.1"}, Sites: []string{"lobby"}, Config: filepath.Join(s.folder, "etc"),
		Data: filepath.Join(s.folder, "lib"),
		HTTP: port(), Robots: port(), BrokerListen: port(), BrokerHTTP: port(), BrokerUsers: []string{"wall observer"},
	}.Complete()
	for _, l := range held {
		_ = l.Close()
	}
	if found := s.answers.Problems(); len(found) > 0 {
		t.Fatal(found)
	}
	return s
}

func (s *server) prepare(replace bool) (*apply.Work, []schema.Problem) {
	return apply.Prepare(s.t.Context(), s.answers, replace, s.on)
}

func (s *server) setUp(replace bool) (*apply.Work, apply.Secrets) {
	s.t.Helper()
	w, found := s.prepare(replace)
	if len(found) > 0 {
		s.t.Fatal(found)
	}
	secrets, err := w.Run(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return w, secrets
}

// refused prepares and expects problems at these answers, each with a way out, and that nothing was written.
func (s *server) refused(says string, pointers ...string) {
	s.t.Helper()
	before := s.files()
	_, found := s.prepare(false)
	var at []string
	text := ""
	for _, p := range found {
		at = append(at, p.Pointer)
		text += p.String() + "\n"
		if p.Hint == "" {
			s.t.Errorf("no way out: %v", p)
		}
	}
	if !slices.Equal(at, pointers) || !strings.Contains(text, says) {
		s.t.Errorf("want %q at %v, got\n%s", says, pointers, text)
	}
	if after := s.files(); fmt.Sprint(after) != fmt.Sprint(before) {
		s.t.Errorf("it changed files: before %v, after %v", before, after)
	}
}

// files are all files with their content, mode and time.
func (s *server) files() (all []string) {
	s.t.Helper()
	err := filepath.WalkDir(s.folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, fmt.Sprintf("%s %v %v %x", path, info.Mode(), info.ModTime().UnixNano(), text))
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

func (s *server) etc(name string) string { return filepath.Join(s.answers.Config, name) }

func (s *server) write(path, text string) {
	s.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) read(path string) string {
	s.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func TestSecondSetUpChangesNothing(t *testing.T) {
	for _, where := range []string{setup.Here, setup.Elsewhere} {
		s := newServer(t)
		if s.answers.Broker = where; where == setup.Elsewhere {
			s.answers.BrokerHost = "localhost"
		}
		w, secrets := s.setUp(false)
		if !w.Changes() || !w.First() || len(secrets.Passwords) != 2 || !strings.HasPrefix(secrets.Line, "robotd enrol --token TROUPE-r1-") {
			t.Fatalf("%v", secrets)
		}
		before := s.files()
		w, found := s.prepare(false)
		if w.Changes() || len(found) > 0 {
			t.Errorf("%s: it would change something: %v, %v", where, w.Outcomes, found)
		}
		if _, secrets = s.setUp(false); !secrets.Empty() {
			t.Errorf("%s: new secrets: %v", where, secrets)
		}
		if after := s.files(); !slices.Equal(before, after) {
			t.Errorf("%s: files changed", where)
		}
	}
}

func TestFilesHaveTheirRights(t *testing.T) {
	s := newServer(t)
	s.setUp(false)
	for name, want := range map[string]fs.FileMode{
		"fleetd.env": 0o640, "broker.env": 0o640, "broker.users": 0o640, "fleetd.key.pem": 0o600, "broker.key.pem": 0o600, "fleetd.pem": 0o644,
		"ca": 0o755, "ca/intermediate.key.pem": 0o600, "ca/root.key.pem": 0o600, "ca/crl.pem": 0o644, "../lib/fleetd": 0o700,
		"../lib/fleetd/fleet.db": 0o600,
	} {
		if info, err := os.Stat(s.etc(name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
}

// What a dry run compares is not made, on neither database.
func TestPreparingWritesNothing(t *testing.T) {
	s := newServer(t)
	if w, found := s.prepare(false); len(found) > 0 || !w.Changes() || len(s.files()) > 0 {
		t.Errorf("%v, %v", found, s.files())
	}
	s.answers.Database = storetest.Postgres(t)
	if w, found := s.prepare(false); len(found) > 0 || !w.Changes() {
		t.Errorf("%v", found)
	}
	if d, err := store.Inspect(t.Context(), s.answers.Database); err != nil || d.Users > 0 {
		t.Errorf("%v, %v", d, err)
	}
}

func TestAccountAndTokenAreInPostgres(t *testing.T) {
	s := newServer(t)
	s.answers.Database, s.answers.Admin = storetest.Postgres(t), "anna"
	_, secrets := s.setUp(false)
	if len(secrets.Passwords) != 2 || secrets.Passwords[0].Who != "the user anna" || secrets.Line == "" {
		t.Errorf("%v", secrets)
	}
	d, err := store.Inspect(t.Context(), s.answers.Database)
	if err != nil || d.Users != 1 || d.Version != d.Newest || d.Denied != "" || d.Now.IsZero() {
		t.Errorf("%+v, %v", d, err)
	}
	if w, found := s.prepare(false); len(found) > 0 || w.Changes() {
		t.Errorf("a second time: %v", found)
	}
}

func TestWhatStandsAndDiffersIsRefused(t *testing.T) {
	s := newServer(t)
	s.setUp(false)
	s.answers.PublicURL = "https://127.0.0.1:1"
	s.refused("PUBLIC_URL is", "/http/listen")
	s.answers.PublicURL = "https://" + s.answers.HTTP
	s.answers.Hosts = append(s.answers.Hosts, "fleet.example")
	s.refused("it is not valid for fleet.example", "/hosts", "/hosts", "/http/listen")
	s.answers.BrokerUsers = []string{"wall operator"}
	s.refused("has the role observer", "/hosts", "/hosts", "/broker/users/0", "/http/listen")
}

// The password of a database that fleetd had before is not shown, whatever the answers name now.
func TestPasswordThatStandsIsNotShown(t *testing.T) {
	s := newServer(t)
	s.setUp(false)
	read, err := envfile.Read(s.read(s.etc("fleetd.env")))
	if err != nil {
		t.Fatal(err)
	}
	s.write(s.etc("fleetd.env"), strings.Replace(s.read(s.etc("fleetd.env")), read["TROUPE_FLEETD_DATABASE"],
		"postgres://u:opensesame@db.example/troupe", 1))
	_, found := s.prepare(false)
	w, more := s.prepare(true)
	if said := fmt.Sprint(found, more, w.Outcomes); strings.Contains(said, "opensesame") ||
		!strings.Contains(said, "DATABASE is another one") {
		t.Error(said)
	}
}

func TestReplaceChangesOnlyWhatDiffers(t *testing.T) {
	s := newServer(t)
	s.setUp(false)
	root, env := s.read(s.etc("ca/root.pem")), s.read(s.etc("fleetd.env"))
	s.write(s.etc("fleetd.env"), env+"TROUPE_FLEETD_LOG_LEVEL=debug\n")
	s.answers.Hosts = append(s.answers.Hosts, "fleet.example")
	s.answers.PublicURL = "https://fleet.example"
	s.answers.BrokerUsers = append(s.answers.BrokerUsers, "guide operator")
	users := s.read(s.etc("broker.users"))
	w, secrets := s.setUp(true)
	if w.First() || !slices.Equal(w.Restarted(), []string{"fleetd"}) {
		t.Errorf("first: %t; services that restart: %v", w.First(), w.Restarted())
	}
	read, err := envfile.Read(s.read(s.etc("fleetd.env")))
	if err != nil || read["TROUPE_FLEETD_PUBLIC_URL"] != "https://fleet.example" || read["TROUPE_FLEETD_LOG_LEVEL"] != "debug" {
		t.Errorf("%v, %v", read, err)
	}
	if !strings.HasPrefix(s.read(s.etc("broker.users")), users) || len(secrets.Passwords) != 1 ||
		secrets.Passwords[0].Who != "the client guide of the broker" {
		t.Errorf("%v", secrets)
	}
	if s.read(s.etc("ca/root.pem")) != root {
		t.Error("the CA was replaced")
	}
	for _, name := range []string{"fleetd", "broker"} {
		pair, err := tls.LoadX509KeyPair(s.etc(name+".pem"), s.etc(name+".key.pem"))
		if err != nil || pair.Leaf.VerifyHostname("fleet.example") != nil {
			t.Errorf("%s: %v, %v", name, err, pair.Leaf.DNSNames)
		}
	}
}

func TestWhatIsInTheWayIsSaidBeforeAnythingIsMade(t *testing.T) {
	busy, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	other := newServer(t)
	other.setUp(false)
	for _, row := range []struct {
		name string
		do   func(s *server)
		says string
		at   []string
	}{
		{"a port in use", func(s *server) { s.answers.HTTP = busy.Addr().String() }, "is in use by another program", []string{"/http/listen"}},
		{"an address of another machine", func(s *server) { s.answers.Robots = "192.0.2.1:8443" }, "not an address of this machine",
			[]string{"/robots/listen"}},
		{"a database that is away", func(s *server) { s.answers.Database = "postgres://t@127.0.0.1:1/troupe" },
			"reach the database troupe", []string{"/database/address"}},
		{"no password", func(s *server) { s.answers.DatabasePasswordFile = s.folder + "/none" }, "no password in",
			[]string{"/database/password_file"}},
		{"a file for a folder", func(s *server) { s.answers.Data = s.folder + "/file"; s.write(s.answers.Data, "") }, "is a file",
			[]string{"/folders/data"}},
		{"a CA without its key", func(s *server) {
			s.answers.Config = other.folder + "/etc"
			if err := os.Rename(other.etc("ca/intermediate.key.pem"), other.etc("ca/away")); err != nil {
				t.Fatal(err)
			}
		}, "the existing CA cannot be used", []string{"/folders/config", "/broker/listen", "/broker/listen"}},
		{"settings that are none", func(s *server) {
			if err := os.MkdirAll(s.answers.Config, 0o755); err != nil {
				t.Fatal(err)
			}
			s.write(s.etc("fleetd.env"), "# mine\nTROUPE FLEETD\n")
		}, "line 2: write NAME=VALUE", []string{"/http/listen"}},
		{"a certificate that is none", func(s *server) {
			s.answers.Console, s.answers.Certificate, s.answers.Key = setup.GivenTLS, s.folder+"/c.pem", s.folder+"/k.pem"
			s.write(s.answers.Certificate, "none")
			s.write(s.answers.Key, "none")
		}, "name the files of a certificate", []string{"/tls/certificate"}},
		{"a database of a later release", func(s *server) {
			db := storetest.SQLiteAt(t, filepath.Join(s.folder, "later.db"))
			s.answers.Database = db
			raw, err := sql.Open("sqlite", strings.TrimPrefix(db, "sqlite:"))
			if err == nil {
				_, err = raw.ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`)
			}
			if err := errors.Join(err, raw.Close()); err != nil {
				t.Fatal(err)
			}
		}, "is of a newer fleetd", []string{"/database/address"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newServer(t)
			row.do(s)
			s.t = t
			_, found := s.prepare(false)
			var at []string
			text := ""
			for _, p := range found {
				at, text = append(at, p.Pointer), text+p.String()+"\n"
			}
			if !strings.Contains(text, row.says) || len(row.at) < 3 && !slices.Equal(at, row.at) {
				t.Errorf("%v\n%s", at, text)
			}
			if _, err := os.Stat(s.etc("broker.env")); err == nil && !strings.HasPrefix(s.etc(""), other.folder) {
				t.Error("it made something")
			}
		})
	}
}

// A second server of a fleet gets the CA of the first one: of another one its robots would accept nothing.
func TestSecondInstanceNeedsTheCAOfTheFirst(t *testing.T) {
	first, second := newServer(t), newServer(t)
	first.answers.Database = storetest.Postgres(t)
	first.setUp(false)
	second.answers.Database, second.answers.Instance = first.answers.Database, "fleetd-b"
	second.answers.Broker, second.answers.BrokerHost, second.answers.BrokerHTTP, second.answers.BrokerUsers = setup.Existing, "localhost",
		"", nil
	second.refused("whose CA is not in", "/database/address")
	err := os.CopyFS(second.etc("ca"), os.DirFS(first.etc("ca")))
	if err == nil {
		err = os.Chmod(second.etc("ca/"+vault.IntermediateKeyFile), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, secrets := second.setUp(false); !secrets.Empty() {
		t.Errorf("%v", secrets)
	}
	if _, err := os.Stat(second.etc("broker.env")); err == nil {
		t.Error("it has a broker of its own")
	}
}

// A CA that is not that of the robots in the database locks all of them out.
func TestCAOfAnotherFleetIsRefused(t *testing.T) {
	s := newServer(t)
	s.setUp(false)
	v, err := vault.Open(s.etc("ca"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	robot, err := v.Server([]string{"r1"}, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(s.answers.Data, "fleetd", "fleet.db"))
	if err == nil {
		_, err = db.ExecContext(t.Context(), `INSERT INTO certificates VALUES ('1', 'r1', 'token', $1, 1, 1, 1, 0, '', '')`,
			string(ca.EncodeCertificates(v.Chain(robot.Certificate)...)))
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if w, found := s.prepare(false); len(found) > 0 || w.Changes() {
		t.Fatalf("the CA of this fleet: %v", found)
	}
	err = os.RemoveAll(s.etc("ca"))
	if err == nil {
		err = vault.Make(s.etc("ca"), "museum", time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	s.refused("is of another fleet", "/folders/config")
}

// The unit of the package lets fleetd write to two folders, and hides the homes of people.
func TestFoldersThatAServiceCannotUseAreRefused(t *testing.T) {
	s := newServer(t)
	unit := apply.Unit{Settings: []string{"/etc/troupe/fleetd.env", "/etc/troupe/broker.env"},
		Writable: []string{"/etc/troupe/ca", "/var/lib/troupe/fleetd"}, Hidden: []string{"/root"}}
	s.on.Unit = func(context.Context, string) (apply.Unit, bool) { return unit, true }
	s.answers.Database = "sqlite:" + s.folder + "/db/fleet.db"
	s.refused("systemctl edit fleetd, which needs [Service] and ReadWritePaths="+s.answers.Data,
		"/folders/config", "/folders/data", "/database/address", "/folders/config")
	unit.Settings = []string{s.etc("fleetd.env"), s.etc("broker.env")}
	s.refused("the service fleetd may not write to "+s.etc("ca"), "/folders/data", "/database/address", "/folders/config")
	unit.Writable = []string{s.etc("ca"), s.answers.Data, s.folder + "/db"}
	if _, found := s.prepare(false); len(found) > 0 {
		t.Errorf("with a changed unit: %v", found)
	}
	unit.Hidden = []string{s.answers.Data}
	s.refused("which systemd hides from it", "/folders/data")
}

// What root has copied from another server is of no use to the services before it is theirs; the key of the root stays
// with root.
func TestWhatAServiceCannotUseIsGivenToIt(t *testing.T) {
	s := newServer(t)
	for _, folder := range []string{s.folder, filepath.Dir(s.folder)} {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.setUp(false)
	given := map[string]bool{}
	s.on.Root = true
	s.on.Lookup = func(name string) (*user.User, error) {
		return &user.User{Username: name, Uid: "4711", Gid: "4711"}, nil
	}
	s.on.Chown = func(path string, uid, _ int) error {
		rel, err := filepath.Rel(s.folder, path)
		given[rel] = uid == 4711
		return err
	}
	before := s.files()
	w, secrets := s.setUp(false)
	for _, want := range []string{"lib/fleetd", "etc/ca", "etc/ca/crl.pem", "etc/ca/intermediate.key.pem", "etc/fleetd.key.pem",
		"etc/broker.key.pem", "etc/broker.users"} {
		if !given[want] {
			t.Errorf("%s is not given to its service: %v", want, given)
		}
	}
	if _, is := given["etc/ca/"+vault.RootKeyFile]; is {
		t.Error("the key of the root is given away")
	}
	if !w.Changes() || !secrets.Empty() || !slices.Equal(before, s.files()) {
		t.Errorf("it makes more: %v, %v", w.Outcomes, secrets)
	}
	if err := os.Chmod(s.folder, 0o700); err != nil {
		t.Fatal(err)
	}
	s.refused("the user fleetd cannot enter "+s.folder, "/folders/data", "/folders/config", "/folders/config")
}

// A certificate that a person has is for browsers; robots get one of the fleet's CA.
func TestGivenCertificateIsForTheConsoleOnly(t *testing.T) {
	s := newServer(t)
	theirs := filepath.Join(s.folder, "theirs")
	if err := vault.Make(theirs, "others", time.Now()); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(theirs, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := v.Server([]string{"console.example"}, nil, time.Now())
	if err == nil {
		err = vault.SavePair(s.folder+"/c.pem", s.folder+"/k.pem", false, pair, v.Chain(pair.Certificate))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.answers.Console, s.answers.Certificate, s.answers.Key = setup.GivenTLS, s.folder+"/c.pem", s.folder+"/k.pem"
	s.refused("is not for localhost", "/tls/certificate")
	s.answers.PublicURL = "https://console.example"
	s.setUp(false)
	read, err := envfile.Read(s.read(s.etc("fleetd.env")))
	if err != nil || read["TROUPE_FLEETD_HTTP_TLS_CERT"] != s.answers.Certificate {
		t.Errorf("%v, %v", read, err)
	}
	robots, err := tls.LoadX509KeyPair(read["TROUPE_FLEETD_ENROL_TLS_CERT"], read["TROUPE_FLEETD_ENROL_TLS_KEY"])
	if err != nil {
		t.Fatal(err)
	}
	own, err := vault.Open(s.etc("ca"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(own.Root())
	between.AddCert(own.Issuers()[0])
	if _, err := robots.Leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, DNSName: "localhost"}); err != nil {
		t.Error(err)
	}
}

// A set-up that was interrupted goes on where it ended.
func TestInterruptedSetUpGoesOn(t *testing.T) {
	s := newServer(t)
	w, found := s.prepare(false)
	if len(found) > 0 {
		t.Fatal(found)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the database is the first that listens to it
	if _, err := w.Run(ctx); err == nil || !strings.Contains(err.Error(), "run the set-up again") {
		t.Fatalf("%v", err)
	}
	if _, secrets := s.setUp(false); len(secrets.Passwords) == 0 || secrets.Line == "" {
		t.Errorf("%v", secrets)
	}
}
