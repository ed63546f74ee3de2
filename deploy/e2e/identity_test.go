package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/ca"
	"troupe/fleetd/enrol"
	"troupe/fleetd/store"
	"troupe/fleetd/vault"
)

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
	s.awaitPresenceStatus("r7", "online")

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
	s.awaitPresenceStatus("r7", "lost", "offline")
	s.broker.log.await(t, "broker", "the robot to be refused", func(line string) bool {
		return strings.Contains(line, "refused") && strings.Contains(line, "r7") && !strings.Contains(line, "disconnected")
	})
	if out, err := s.runRobotd("renew", "--data", s.dataDir("r7")); err == nil || !strings.Contains(out, "revoked") {
		t.Errorf("a revoked robot renews: %v\n%s", err, out)
	}

	// The robot keeps running, and uses its new identity at the next attempt to connect.
	s.enrol("r7", "--again")
	s.awaitPresenceStatus("r7", "online")
	if i := mustRunJSON[api.Identity](s.world, "robot", "identity", "r7"); len(i.Certificates) != 3 || i.Revoked != 0 ||
		i.Certificates[2].Revoked == 0 {
		t.Errorf("after the new enrolment it has %+v", i)
	}
}

// A new broker refuses a revoked certificate before any fleetd is connected to it.
func TestRevokedCertificateIsRefusedByANewBroker(t *testing.T) {
	t.Parallel()
	s := newSecured(t)
	s.enrol("r7")
	s.mustRunCLI("robot", "revoke", "r7", "--why", "stolen")
	own, err := tls.LoadX509KeyPair(filepath.Join(s.dataDir("r7"), "identity", "cert.pem"),
		filepath.Join(s.dataDir("r7"), "identity", "key.pem"))
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

// revokedSerials returns the serial numbers on the CRL.
func (s *secured) revokedSerials() string {
	text, err := os.ReadFile(filepath.Join(s.keys, vault.CRLFile))
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
	s.awaitPresenceStatus("r7", "online")
	s.until("r7 to renew", func() bool {
		now, err := tls.LoadX509KeyPair(filepath.Join(s.dataDir("r7"), "identity", "cert.pem"),
			filepath.Join(s.dataDir("r7"), "identity", "key.pem"))
		return err == nil && now.Leaf.SerialNumber.Text(16) != old
	})
	s.robots["r7"].terminate()
	s.runEnrolledRobot("r7") // with the new certificate
	s.awaitPresenceStatus("r7", "online")
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
			Serial: ca.Serial(leaf), Robot: rid, How: enrol.ByToken, PEM: string(chain), IssuedAt: then, NotBefore: leaf.NotBefore,
			NotAfter: leaf.NotAfter,
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
