package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"troupe/deploy/mosquittotest"
	"troupe/fleetd/api"
	"troupe/fleetd/ca"
	"troupe/fleetd/enrol"
	"troupe/fleetd/store"
	"troupe/fleetd/store/pgtest"
	"troupe/fleetd/vault"
)

// secured is a fleet with certificates: no client has a password, and all
// connections use TLS.
type secured struct {
	*world
	keys         string // folder
	enrolAddress string // address of fleetd, the same after a restart
}

func newSecured(t *testing.T) *secured { return newSecuredIn(t, ownBroker) }

func newSecuredIn(t *testing.T, k variant) *secured {
	t.Helper()
	folder := t.TempDir()
	s := &secured{world: &world{t: t, variant: k, folder: folder, robots: map[string]*process{}, store: "sqlite:" + filepath.Join(folder, "fleet.db")}, keys: filepath.Join(folder, "ca")}
	if k.postgres {
		s.store = pgtest.Start(t)
	}
	s.mustRunCLI("ca", "init", "--dir", s.keys)
	for _, name := range []string{"broker", "fleetd"} {
		s.mustRunCLI("ca", "server", "--dir", s.keys, "--ip", "127.0.0.1", "--out", filepath.Join(folder, name))
	}
	if err := os.Rename(filepath.Join(s.keys, vault.RootKeyFile), filepath.Join(folder, "in-a-safe")); err != nil {
		t.Fatal(err)
	}
	s.ca = filepath.Join(s.keys, vault.RootFile)
	s.startBroker("127.0.0.1:0")
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.enrolAddress = free.Addr().String() // the same after a restart, because robots remember it
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	s.startFleetd()
	return s
}

func (s *secured) startBroker(at string) {
	s.t.Helper()
	if s.variant.mosquitto {
		s.address = s.startShippedMosquitto()
		return
	}
	s.broker = launch(s.t, "broker", program(s.t, "broker"), []string{
		"--mqtt", "", "--http", "", "--mqtts", at, "--tls-cert", filepath.Join(s.folder, "broker.pem"), "--tls-key", filepath.Join(s.folder, "broker.key.pem"),
		"--client-ca", filepath.Join(s.keys, vault.IssuersFile), "--crl", filepath.Join(s.keys, vault.ListFile),
	}, nil)
	s.address = s.broker.ready()["mqtts"]
}

// startShippedMosquitto starts a Mosquitto with the shipped configuration, which
// accepts robots and fleetd instances by their certificates, and returns the
// address for them.
func (s *secured) startShippedMosquitto() string {
	s.t.Helper()
	etc := filepath.Join(s.folder, "etc")
	users := filepath.Join(s.folder, "users")
	err := os.MkdirAll(filepath.Join(etc, "troupe"), 0o700)
	if err == nil {
		err = os.WriteFile(users, []byte("fleetd fleetd\nfleetd-b fleetd\nadmin admin\nr7 robot\nr8 robot\n"), 0o600)
	}
	var rules []byte
	if err == nil {
		rules, err = exec.Command(program(s.t, "broker"), "acl", "--for", "mosquitto", "--users", users).Output()
	}
	if err != nil {
		s.t.Fatalf("write rules for mosquitto: %v", err)
	}
	for name, text := range map[string][]byte{"troupe.acl": rules, "troupe.passwd": nil} {
		if err := os.WriteFile(filepath.Join(etc, name), text, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	for name, from := range map[string]string{
		"cert.pem": filepath.Join(s.folder, "broker.pem"), "key.pem": filepath.Join(s.folder, "broker.key.pem"),
		"ca.pem": filepath.Join(s.keys, vault.IssuersFile), "crl.pem": filepath.Join(s.keys, vault.ListFile),
	} {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(etc, "troupe", name), text, 0o600)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	robots, _ := mosquittotest.Shipped(s.t, etc)
	return robots
}

func (s *secured) startFleetd(more ...string) {
	s.t.Helper()
	s.fleetd = launch(s.t, "fleetd", program(s.t, "fleetd"), append([]string{
		"serve", "--http", "127.0.0.1:0", "--broker", "mqtts://" + s.address, "--database", s.store,
		"--ca", s.keys, "--http-tls-cert", filepath.Join(s.folder, "fleetd.pem"), "--http-tls-key", filepath.Join(s.folder, "fleetd.key.pem"),
		"--enrol", s.enrolAddress, "--spool", filepath.Join(s.folder, "fleetd.stops"),
	}, more...), nil)
	s.http = s.fleetd.ready()["http"]
}

func (s *secured) dataDir(rid string) string { return filepath.Join(s.folder, rid) }

// enrol makes a token and runs the enrol command on the robot, as a person does.
func (s *secured) enrol(rid string, more ...string) string {
	s.t.Helper()
	out, err := s.runRobotd(append(s.enrolArgs(rid), more...)...)
	if err != nil {
		s.t.Fatalf("enrol %s: %v: %s", rid, err, out)
	}
	return out
}

// enrolArgs returns the command that fleetd robot enrol prints for the robot, with
// the test's folder.
func (s *secured) enrolArgs(rid string) []string {
	s.t.Helper()
	out := s.mustRunCLI("robot", "enrol", rid)
	found := regexp.MustCompile(`(?m)^  robotd (enrol .*) --data \./data$`).FindStringSubmatch(out)
	if found == nil {
		s.t.Fatalf("no robotd enrol command in\n%s", out)
	}
	return append(strings.Fields(found[1]), "--data", s.dataDir(rid))
}

func (s *secured) runRobotd(args ...string) (string, error) {
	cmd := exec.Command(program(s.t, "robotd"), args...)
	cmd.SysProcAttr, cmd.Env = killWithParent(), processEnv()
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	err := onStarterThread(cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	return out.String(), err
}

// runEnrolledRobot starts a robot that knows its id and the broker from its
// identity.
func (s *secured) runEnrolledRobot(rid string) {
	s.t.Helper()
	s.robots[rid] = launch(s.t, rid, program(s.t, "robotd"), []string{"--data", s.dataDir(rid)}, nil)
	if r := s.robots[rid].ready(); r["robot"] != rid || r["broker"] != "mqtts://"+s.address {
		s.t.Errorf("the ready line of %s is %v", rid, r)
	}
}

// awaitView waits until fleetd shows the robot adopted and with one of these
// presence views.
func (s *secured) awaitView(rid string, views ...string) {
	s.t.Helper()
	s.until(rid+" to be "+strings.Join(views, " or "), func() bool {
		result := s.runCLI("robot", "get", rid, "-o", "json")
		var d api.Detail
		if result.code != 0 || json.Unmarshal([]byte(result.out), &d) != nil {
			return false
		}
		for _, view := range views {
			if d.Presence.View == view && d.Adopted {
				return true
			}
		}
		return false
	})
}

// A robot is enrolled, performs fleetd's story, is disconnected at once when it is
// revoked, and returns with a new token.
func TestRobotIsEnrolledRevokedAndEnrolledAgain(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	if out := s.enrol("r7"); !strings.Contains(out, "this is r7 now") || !strings.Contains(out, "robotd --data "+s.dataDir("r7")) {
		t.Errorf("enrol prints\n%s", out)
	}
	if out, err := s.runRobotd(s.enrolArgs("r7")...); err != nil || !strings.Contains(out, "nothing was requested") {
		t.Errorf("a second time: %v\n%s", err, out)
	}
	s.runEnrolledRobot("r7")
	s.awaitView("r7", "online")

	s.publishStory("tale", "tell", "nod")
	s.mustRunCLI("story", "assign", "tale", "r7", "--wait")

	if out, err := s.runRobotd("renew", "--data", s.dataDir("r7")); err != nil || !strings.Contains(out, "renewed") {
		t.Errorf("renew: %v\n%s", err, out)
	}
	if i := mustRunJSON[api.Identity](s.world, "robot", "identity", "r7"); len(i.Certificates) != 2 || i.Certificates[0].How != "renewal" {
		t.Errorf("it has %+v", i.Certificates)
	}

	s.mustRunCLI("robot", "revoke", "r7", "--why", "stolen")
	s.broker.log.await(t, "broker", "the robot to be cut off", func(line string) bool {
		return strings.Contains(line, "client disconnected") && strings.Contains(line, "client=r7 ")
	})
	s.awaitView("r7", "lost", "offline")
	s.broker.log.await(t, "broker", "the robot to be refused", func(line string) bool {
		return strings.Contains(line, "refused") && strings.Contains(line, "r7") && !strings.Contains(line, "disconnected")
	})
	if out, err := s.runRobotd("renew", "--data", s.dataDir("r7")); err == nil || !strings.Contains(out, "revoked") {
		t.Errorf("a revoked robot renews: %v\n%s", err, out)
	}

	// The robot keeps running, and uses its new identity at the next attempt to connect.
	s.enrol("r7", "--again")
	s.awaitView("r7", "online")
	if i := mustRunJSON[api.Identity](s.world, "robot", "identity", "r7"); len(i.Certificates) != 3 || i.Revoked != 0 || i.Certificates[2].Revoked == 0 {
		t.Errorf("after the new enrolment it has %+v", i)
	}
}

// A new broker refuses a revoked certificate before any fleetd is connected to it.
func TestRevokedCertificateIsRefusedByANewBroker(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	s.enrol("r7")
	s.mustRunCLI("robot", "revoke", "r7", "--why", "stolen")
	own, err := tls.LoadX509KeyPair(filepath.Join(s.dataDir("r7"), "identity", "cert.pem"), filepath.Join(s.dataDir("r7"), "identity", "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	serial := own.Leaf.SerialNumber.Text(16)
	s.until("the list to name it", func() bool { return strings.Contains(s.revokedSerials(), serial) })
	s.broker.kill()
	s.fleetd.kill()
	s.startBroker("127.0.0.1:0")
	s.launchRobot("r7")
	s.broker.log.await(t, "broker", "the robot to be refused", func(line string) bool { return strings.Contains(line, "refused") })
	if s.broker.log.contains("client connected client=r7") {
		t.Error("the revoked robot is connected")
	}
}

// revokedSerials returns the serial numbers on the revocation list.
func (s *secured) revokedSerials() string {
	text, err := os.ReadFile(filepath.Join(s.keys, vault.ListFile))
	if err != nil {
		s.t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	list, err := x509.ParseRevocationList(block.Bytes)
	if err != nil {
		s.t.Fatal(err)
	}
	var out []string
	for _, e := range list.RevokedCertificateEntries {
		out = append(out, e.SerialNumber.Text(16))
	}
	return strings.Join(out, " ")
}

func (s *secured) launchRobot(rid string) {
	s.robots[rid] = launch(s.t, rid, program(s.t, "robotd"), []string{"--data", s.dataDir(rid), "--broker", "mqtts://" + s.address}, nil)
}

// A robot with an old certificate renews it by itself as soon as it runs.
func TestRobotRenewsAnOldCertificateByItself(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	s.enrol("r7")
	s.fleetd.terminate()
	old := s.makeOldCertificate("r7", 70*24*time.Hour)
	s.startFleetd()
	s.runEnrolledRobot("r7")
	s.awaitView("r7", "online")
	s.until("r7 to renew", func() bool {
		now, err := tls.LoadX509KeyPair(filepath.Join(s.dataDir("r7"), "identity", "cert.pem"), filepath.Join(s.dataDir("r7"), "identity", "key.pem"))
		return err == nil && now.Leaf.SerialNumber.Text(16) != old
	})
	s.robots["r7"].terminate()
	s.runEnrolledRobot("r7") // with the new certificate
	s.awaitView("r7", "online")
}

// makeOldCertificate replaces a robot's certificate by one of that age, on the
// robot's disk and in fleetd's database.
func (s *secured) makeOldCertificate(rid string, age time.Duration) (serial string) {
	s.t.Helper()
	then := time.Now().Add(-age)
	v, err := vault.Open(s.keys, time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: rid}}, key)
	if err != nil {
		s.t.Fatal(err)
	}
	request, problem := ca.ReadRequest(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})), rid)
	if problem != nil {
		s.t.Fatal(problem)
	}
	leaf, err := v.Robot(request, then)
	if err != nil {
		s.t.Fatal(err)
	}
	text, err := ca.EncodeKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	chain := ca.EncodeCertificates(v.Chain(leaf)...)
	for file, body := range map[string][]byte{"cert.pem": chain, "key.pem": text} {
		if err := os.WriteFile(filepath.Join(s.dataDir(rid), "identity", file), body, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	db, err := store.Open(context.Background(), s.store, time.Now(), slog.New(slog.DiscardHandler))
	if err != nil {
		s.t.Fatal(err)
	}
	err = db.Tx(context.Background(), func(tx *store.Tx) error {
		return tx.AddCertificate(context.Background(), enrol.Certificate{
			Serial: ca.Serial(leaf), Robot: rid, How: enrol.ByToken, PEM: string(chain), IssuedAt: then, NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter,
		})
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		s.t.Fatal(err)
	}
	return ca.Serial(leaf)
}
