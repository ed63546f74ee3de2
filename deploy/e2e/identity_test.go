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

	"troupe/broker/brokertest"
	"troupe/fleetd/api"
	"troupe/fleetd/ca"
	"troupe/fleetd/enrol"
	"troupe/fleetd/store"
	"troupe/fleetd/vault"
	"troupe/schema"
)

// secured is a fleet with certificates: nobody has a password, and nothing is said
// in the clear but to the broker's neighbours.
type secured struct {
	*world
	keys string // folder
	desk string // address of the desk, the same after a restart
}

func newSecured(t *testing.T) *secured {
	t.Helper()
	folder := t.TempDir()
	s := &secured{world: &world{t: t, folder: folder, robots: map[string]*process{}, store: "sqlite:" + filepath.Join(folder, "fleet.db")}, keys: filepath.Join(folder, "ca")}
	s.do("ca", "init", "--dir", s.keys)
	for _, name := range []string{"broker", "desk"} {
		s.do("ca", "server", "--dir", s.keys, "--ip", "127.0.0.1", "--out", filepath.Join(folder, name))
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
	s.desk = free.Addr().String() // robots remember it
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	s.startDesk()
	return s
}

func (s *secured) startBroker(at string) {
	s.t.Helper()
	s.broker = launch(s.t, "broker", program(s.t, "broker"), []string{
		"--mqtt", "", "--http", "", "--mqtts", at, "--tls-cert", filepath.Join(s.folder, "broker.pem"), "--tls-key", filepath.Join(s.folder, "broker.key.pem"),
		"--client-ca", filepath.Join(s.keys, vault.IssuersFile), "--crl", filepath.Join(s.keys, vault.ListFile),
	}, nil)
	s.address = s.broker.ready()["mqtts"]
}

func (s *secured) startDesk() {
	s.t.Helper()
	s.fleetd = launch(s.t, "fleetd", program(s.t, "fleetd"), []string{
		"serve", "--http", "127.0.0.1:0", "--broker", "mqtts://" + s.address, "--database", s.store,
		"--ca", s.keys, "--http-tls-cert", filepath.Join(s.folder, "desk.pem"), "--http-tls-key", filepath.Join(s.folder, "desk.key.pem"),
		"--enrol", s.desk, "--spool", filepath.Join(s.folder, "fleetd.stops"),
	}, nil)
	s.http = s.fleetd.ready()["http"]
}

func (s *secured) data(rid string) string { return filepath.Join(s.folder, rid) }

// enrols makes a token and types its line on the robot, as a person does.
func (s *secured) enrols(rid string, more ...string) string {
	s.t.Helper()
	out, err := s.robotd(append(s.line(rid), more...)...)
	if err != nil {
		s.t.Fatalf("enrol %s: %v: %s", rid, err, out)
	}
	return out
}

// line is what fleetd robot enrol says to type on the robot, but for the folder.
func (s *secured) line(rid string) []string {
	s.t.Helper()
	out := s.do("robot", "enrol", rid)
	found := regexp.MustCompile(`(?m)^  robotd (enrol .*) --data \./data$`).FindStringSubmatch(out)
	if found == nil {
		s.t.Fatalf("no line to type in\n%s", out)
	}
	return append(strings.Fields(found[1]), "--data", s.data(rid))
}

func (s *secured) robotd(args ...string) (string, error) {
	cmd := exec.Command(program(s.t, "robotd"), args...)
	cmd.SysProcAttr, cmd.Env = dieWithUs(), environment()
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	err := fromOneThread(cmd.Start)
	if err == nil {
		err = cmd.Wait()
	}
	return out.String(), err
}

// runs starts a robot that knows from its identity who it is and where to connect.
func (s *secured) runs(rid string) {
	s.t.Helper()
	s.robots[rid] = launch(s.t, rid, program(s.t, "robotd"), []string{"--data", s.data(rid)}, nil)
	if r := s.robots[rid].ready(); r["robot"] != rid || r["broker"] != "mqtts://"+s.address {
		s.t.Errorf("%s says that it is %v", rid, r)
	}
}

// seen waits until the desk sees a robot so.
func (s *secured) seen(rid string, views ...string) {
	s.t.Helper()
	s.until(rid+" to be "+strings.Join(views, " or "), func() bool {
		said := s.cli("robot", "get", rid, "-o", "json")
		var d api.Detail
		if said.code != 0 || json.Unmarshal([]byte(said.out), &d) != nil {
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

// A robot's life among certificates: it is enrolled, performs what the desk wishes,
// is cut off at once when it is revoked, and comes back with a new token.
func TestARobotIsEnrolledRevokedAndEnrolledAgain(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	if out := s.enrols("r7"); !strings.Contains(out, "this is r7 now") || !strings.Contains(out, "robotd --data "+s.data("r7")) {
		t.Errorf("enrol says\n%s", out)
	}
	if out, err := s.robotd(s.line("r7")...); err != nil || !strings.Contains(out, "nothing was asked") {
		t.Errorf("a second time: %v\n%s", err, out)
	}
	s.runs("r7")
	s.seen("r7", "online")

	s.publishes("tale", "tell", "nod")
	s.do("story", "assign", "tale", "r7", "--wait")

	if out, err := s.robotd("renew", "--data", s.data("r7")); err != nil || !strings.Contains(out, "renewed") {
		t.Errorf("renew: %v\n%s", err, out)
	}
	if i := asked[api.Identity](s.world, "robot", "identity", "r7"); len(i.Certificates) != 2 || i.Certificates[0].How != "renewal" {
		t.Errorf("it has %+v", i.Certificates)
	}

	s.do("robot", "revoke", "r7", "--why", "stolen")
	s.broker.log.await(t, "broker", "the robot to be cut off", func(line string) bool {
		return strings.Contains(line, "client disconnected") && strings.Contains(line, "client=r7 ")
	})
	s.seen("r7", "lost", "offline")
	s.broker.log.await(t, "broker", "the robot to be refused", func(line string) bool {
		return strings.Contains(line, "refused") && strings.Contains(line, "r7") && !strings.Contains(line, "disconnected")
	})
	if out, err := s.robotd("renew", "--data", s.data("r7")); err == nil || !strings.Contains(out, "revoked") {
		t.Errorf("a revoked robot renews: %v\n%s", err, out)
	}

	// The robot runs on, and shows its new identity when it tries the next time.
	s.enrols("r7", "--again")
	s.seen("r7", "online")
	if i := asked[api.Identity](s.world, "robot", "identity", "r7"); len(i.Certificates) != 3 || i.Revoked != 0 || i.Certificates[2].Revoked == 0 {
		t.Errorf("after it came back it has %+v", i)
	}
}

// What was revoked stays out of a broker that starts anew, before any desk can tell
// it.
func TestWhatWasRevokedStaysOutOfANewBroker(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	s.enrols("r7")
	s.do("robot", "revoke", "r7")
	own, err := tls.LoadX509KeyPair(filepath.Join(s.data("r7"), "identity", "cert.pem"), filepath.Join(s.data("r7"), "identity", "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	serial := own.Leaf.SerialNumber.Text(16)
	s.until("the list to name it", func() bool { return strings.Contains(s.list(), serial) })
	s.broker.kill()
	s.fleetd.kill()
	s.startBroker("127.0.0.1:0")
	s.launchRobot("r7")
	s.broker.log.await(t, "broker", "the robot to be refused", func(line string) bool { return strings.Contains(line, "refused") })
	if s.broker.log.holds("client connected client=r7") {
		t.Error("it is in")
	}
}

// list is what the list of the revoked names.
func (s *secured) list() string {
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
	s.robots[rid] = launch(s.t, rid, program(s.t, "robotd"), []string{"--data", s.data(rid), "--broker", "mqtts://" + s.address}, nil)
}

// A robot whose certificate is old renews by itself as soon as it runs.
func TestARobotRenewsAnOldCertificateByItself(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	s.enrols("r7")
	s.fleetd.terminate()
	old := s.ages("r7", 70*24*time.Hour)
	s.startDesk()
	s.runs("r7")
	s.seen("r7", "online")
	s.until("r7 to renew", func() bool {
		now, err := tls.LoadX509KeyPair(filepath.Join(s.data("r7"), "identity", "cert.pem"), filepath.Join(s.data("r7"), "identity", "key.pem"))
		return err == nil && now.Leaf.SerialNumber.Text(16) != old
	})
	s.robots["r7"].terminate()
	s.runs("r7") // with the new one
	s.seen("r7", "online")
}

// ages replaces a robot's certificate by one that is so old, on its disk and on the
// desk's record.
func (s *secured) ages(rid string, age time.Duration) (serial string) {
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
	request, no := ca.ReadRequest(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})), rid)
	if no != nil {
		s.t.Fatal(no)
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
		if err := os.WriteFile(filepath.Join(s.data(rid), "identity", file), body, 0o600); err != nil {
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

// A robot that is there is taken out of the fleet only when that is said, and then
// nothing of it is left at the broker; what is for all robots no longer waits for
// it.
func TestARobotThatIsThereLeavesTheFleetWhenAPersonSaysSo(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	for _, rid := range []string{"r7", "r8"} {
		s.enrols(rid)
		s.runs(rid)
		s.seen(rid, "online")
	}
	if no := s.cli("robot", "decommission", "r7"); no.code != 5 || !strings.Contains(no.err, "--yes") {
		t.Errorf("without a word: status %d: %s", no.code, no.err)
	}
	if out := s.do("robot", "decommission", "r7", "--yes", "--why", "worn out"); !strings.Contains(out, "r7 is out of the fleet") {
		t.Errorf("it says %s", out)
	}
	if out := s.do("robot", "list"); strings.Contains(out, "r7") || !strings.Contains(out, "r8") {
		t.Errorf("the list is\n%s", out)
	}
	if kept := s.kept("r7"); len(kept) > 0 {
		t.Errorf("the broker keeps %v", kept)
	}
	if kept := s.kept("r8"); len(kept) == 0 {
		t.Error("the other one's documents went with it")
	}
	if out := s.do("stop", "--all"); strings.Contains(out, "r7") {
		t.Errorf("a stop for all still waits for it\n%s", out)
	}
}

// kept are the retained topics of a robot, read as another desk would.
func (s *secured) kept(rid string) (topics []string) {
	s.t.Helper()
	v, err := vault.Open(s.keys, time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	pair, err := v.Service("fleetd2", time.Now())
	if err != nil {
		s.t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(v.Root())
	own := tls.Certificate{PrivateKey: pair.Key}
	for _, c := range v.Chain(pair.Certificate) {
		own.Certificate = append(own.Certificate, c.Raw)
	}
	c := brokertest.Connect(s.t, brokertest.OverTLS(s.address, &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{own}}),
		brokertest.Hello{Name: "fleetd2", ClientID: "fleetd2"})
	defer c.Close()
	c.Subscribe(on(rid, "#"))
	c.Ping()
	for _, m := range c.Inbox(on(rid, "#")) {
		if m.Retain {
			topics = append(topics, m.Topic)
		}
	}
	return topics
}

// Whoever dies in the middle: it goes on where it was, the presence first.
func TestADecommissionSurvivesTheDeskAndTheBroker(t *testing.T) {
	in(t, []kind{ours, postgres}, func(w *world) {
		w.startDesk()
		w.robotsIn(schema.ModeMnl, "", "r1")
		w.known("r1")
		w.robots["r1"].terminate()
		w.presence("r1", schema.PresenceOffline)
		w.sees("r1", "offline", func(r api.Robot) bool { return r.Presence.View == "offline" })
		w.loseBroker()
		w.sees("r1", "unknown", func(r api.Robot) bool { return r.Presence.View == "unknown" })
		if s := w.cli("robot", "decommission", "r1", "--why", "sold", "--wait", "1s"); s.code != 4 || !strings.Contains(s.out, "does not know whether it is still connected") {
			w.t.Errorf("without a broker: status %d\n%s%s", s.code, s.out, s.err)
		}
		w.fleetd.kill()
		mark := w.eye.mark() // it comes back by itself
		w.startBroker()
		w.startDesk()
		w.until("r1 to be out", func() bool {
			return asked[api.Decommission](w, "robot", "decommission", "r1", "--status").Step == "archived"
		})
		var order []string
		w.eye.await(w.t, "everything of r1 to be emptied", func() bool {
			order = nil
			for _, m := range w.eye.seen[mark:] {
				if strings.HasPrefix(m.Topic, on("r1", "")) && m.Payload == "" {
					order = append(order, strings.TrimPrefix(m.Topic, on("r1", "")))
				}
			}
			return strings.Contains(strings.Join(order, " "), "reported/story")
		})
		var own []string
		for _, topic := range order {
			if !strings.HasPrefix(topic, "desired/") {
				own = append(own, topic)
			} else if len(own) > 0 {
				w.t.Errorf("the wish %s goes after %v", topic, own)
			}
		}
		if own[0] != "presence" {
			w.t.Errorf("emptied in this order: %v", order)
		}
		if out := w.do("robot", "list"); !strings.Contains(out, "no robots") {
			w.t.Errorf("the list is\n%s", out)
		}
		w.robot("r1", "") // its name is refused until a person takes it back
		w.broker.log.await(w.t, "broker", "the robot to be refused", func(line string) bool {
			return strings.Contains(line, "refused") && strings.Contains(line, "r1")
		})
		w.cli("adopt", "r1")
		w.known("r1")
	})
}

// What a stock Mosquitto kept of a robot that this desk never knew is listed, and
// goes only when somebody says so.
func TestDocumentsWithoutARobotAreListedAndEmptiedOnRequest(t *testing.T) {
	in(t, []kind{ours, mosquitto}, func(w *world) {
		w.startDesk("--dev=false")
		w.robotsIn(schema.ModeMnl, "", "r9")
		w.sees("r9", "there", func(r api.Robot) bool { return r.Presence.View == "online" && !r.Adopted })
		if s := w.cli("robot", "orphans", "r9", "--delete"); s.code != 5 {
			w.t.Errorf("one that is there: status %d: %s", s.code, s.err)
		}
		w.robots["r9"].terminate()
		w.presence("r9", schema.PresenceOffline)
		w.sees("r9", "gone", func(r api.Robot) bool { return r.Presence.View == "offline" })
		if out := w.do("robot", "orphans"); !strings.Contains(out, "r9") || !strings.Contains(out, "presence") {
			w.t.Errorf("the list is\n%s", out)
		}
		w.do("robot", "orphans", "r9", "--delete")
		w.until("nothing to be left", func() bool { return strings.Contains(w.do("robot", "orphans"), "no documents without a robot") })
		if out := w.do("robot", "list"); !strings.Contains(out, "no robots") {
			w.t.Errorf("the list is\n%s", out)
		}
	})
}
