package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"troupe/deploy/mosquittotest"
	"troupe/fleetd/store/storetest"
	"troupe/fleetd/vault"
	"troupe/fleetd/view"
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
	s := &secured{world: &world{t: t, variant: k, folder: folder, robots: map[string]*process{},
		store: storetest.SQLiteAt(t, filepath.Join(folder, "fleet.db"))}, keys: filepath.Join(folder, "ca")}
	if k.postgres {
		s.store = storetest.Postgres(t)
	}
	s.mustRunCLI("ca", "init", "--dir", s.keys)
	for _, name := range []string{"broker", "fleetd"} {
		s.mustRunCLI("ca", "server", "--dir", s.keys, "--ip", "127.0.0.1", "--out", filepath.Join(folder, name))
	}
	if k.cluster {
		s.mustRunCLI("ca", "server", "--node", "--dir", s.keys, "--ip", "127.0.0.1", "--dns", "localhost", "--out", filepath.Join(folder, "node"))
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
	switch {
	case s.variant.mosquitto:
		s.address = s.startShippedMosquitto()
		return
	case s.variant.cluster:
		s.startNATSCluster("fleetd fleetd\nr7 robot\n", filepath.Join(s.folder, "node.pem"), filepath.Join(s.folder, "node.key.pem"),
			filepath.Join(s.keys, vault.IssuersFile))
		return
	case s.variant.nats:
		// The certificate of the recorder is that of a fleetd instance with the name admin.
		s.runNATS("fleetd fleetd\nfleetd-b fleetd\nadmin fleetd\nr7 robot\nr8 robot\n", fmt.Sprintf(
			"tls { cert_file: %q, key_file: %q, ca_file: %q, verify_and_map: true, timeout: 5 }", filepath.Join(s.folder, "broker.pem"),
			filepath.Join(s.folder, "broker.key.pem"), filepath.Join(s.keys, vault.IssuersFile)))
		return
	}
	s.broker = launch(s.t, "broker", program(s.t, "broker"), []string{
		"--mqtt", "", "--http", "", "--mqtts", at, "--tls-cert", filepath.Join(s.folder, "broker.pem"), "--tls-key",
		filepath.Join(s.folder, "broker.key.pem"),
		"--client-ca", filepath.Join(s.keys, vault.IssuersFile), "--crl", filepath.Join(s.keys, vault.CRLFile),
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
		"ca.pem": filepath.Join(s.keys, vault.IssuersFile), "crl.pem": filepath.Join(s.keys, vault.CRLFile),
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
	}, append(s.engineFlag(), more...)...), nil)
	s.http = s.fleetd.ready()["http"]
	if s.token == "" {
		s.signIn()
	}
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
func (s *secured) enrolArgs(rid string, flags ...string) []string {
	s.t.Helper()
	out := s.mustRunCLI(append([]string{"robot", "enrol", rid}, flags...)...)
	found := regexp.MustCompile(`(?m)^  robotd (enrol .*)$`).FindStringSubmatch(out)
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
	s.robots[rid] = launch(s.t, rid, program(s.t, "robotd"), append([]string{"--data", s.dataDir(rid)}, s.engineFlag()...), nil)
	if r := s.robots[rid].ready(); r["robot"] != rid || r["broker"] != "mqtts://"+s.address {
		s.t.Errorf("the ready line of %s is %v", rid, r)
	}
}

// awaitPresenceStatus waits until fleetd shows the robot adopted and with one of these
// presence statuses.
func (s *secured) awaitPresenceStatus(rid string, statuses ...string) {
	s.t.Helper()
	s.until(rid+" to be "+strings.Join(statuses, " or "), func() bool {
		result := s.runCLI("robot", "get", rid, "-o", "json")
		var d view.Detail
		if result.code != 0 || json.Unmarshal([]byte(result.out), &d) != nil {
			return false
		}
		for _, status := range statuses {
			if d.Presence.Status == status && d.Adopted {
				return true
			}
		}
		return false
	})
}
