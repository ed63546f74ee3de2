package e2e

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	renderer "troupe/deploy/nats"
	"troupe/deploy/natstest"
	"troupe/schema"
)

// startNATS starts one node of NATS with JetStream and nothing retained, whose users need no password, as with broker --dev.
func (w *world) startNATS() {
	w.t.Helper()
	w.runNATS(w.usersFile(), "", "--open")
}

// runNATS starts one node with the rights of these users, and further lines of its block mqtt.
func (w *world) runNATS(users, mqtt string, flags ...string) {
	w.t.Helper()
	program, err := natstest.Program()
	if err != nil {
		w.t.Fatal(err)
	}
	folder, err := os.MkdirTemp(w.folder, "nats-")
	if err != nil {
		w.t.Fatal(err)
	}
	w.address = ""
	config := natstest.Configure(w.t, folder, w.rulesFor("nats", users, flags...), mqtt)
	w.broker = launch(w.t, "nats-server", program, []string{"-c", config}, nil)
	w.broker.log.await(w.t, "nats-server", "that it listens for MQTT", func(line string) bool {
		w.address = max(w.address, natstest.Address(line))
		return w.address != ""
	})
}

// startNATSCluster starts three nodes as deploy/nats/render writes them, whose clients and nodes have certificates. The address of the
// world is the list of all three.
func (w *world) startNATSCluster(users, certificate, key, ca string) {
	w.t.Helper()
	program, err := natstest.Program()
	if err != nil {
		w.t.Fatal(err)
	}
	free := func() (addresses []string) {
		for range 3 {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				w.t.Fatal(err)
			}
			defer l.Close()
			addresses = append(addresses, l.Addr().String())
		}
		return addresses
	}
	mqtt, cluster, rules := free(), free(), w.rulesFor("nats", users)
	var nodes []string
	for _, address := range cluster { // by name: an address is not compared with a certificate
		nodes = append(nodes, strings.Replace(address, "127.0.0.1", "localhost", 1))
	}
	for i, name := range []string{"n1", "n2", "n3"} {
		folder := filepath.Join(w.folder, name)
		var text bytes.Buffer
		err := renderer.WriteConfig(&text, renderer.Node{Name: name, MQTT: mqtt[i], Local: "127.0.0.1:-1", HTTP: "127.0.0.1:-1",
			Store: filepath.Join(folder, "store"),
			Users: "users.conf", Cluster: cluster[i], Nodes: nodes, Certificate: certificate, Key: key, CA: ca})
		err = errors.Join(err, os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "nats.conf"), text.Bytes(), 0o600),
			os.WriteFile(filepath.Join(folder, "users.conf"), []byte(rules), 0o600))
		if err != nil {
			w.t.Fatal(err)
		}
		w.nodes = append(w.nodes, launch(w.t, name, program, []string{"-c", filepath.Join(folder, "nats.conf")}, nil))
	}
	for i, n := range w.nodes {
		n.log.await(w.t, "nats-server", "that it listens for MQTT", func(line string) bool { return natstest.Address(line) == mqtt[i] })
	}
	w.address = strings.Join(mqtt, ",mqtts://")
}

// The configuration of docs/cluster.md: nodes that know each other, and clients, by certificates of the fleet's CA. The robot and
// fleetd get over the loss of a node.
func TestClusterOfNATSWithCertificates(t *testing.T) {
	t.Parallel()
	s := newSecuredIn(t, variant{nats: true, cluster: true})
	s.enrol("r7")
	s.robots["r7"] = launch(t, "r7", program(t, "robotd"), append([]string{"--data", s.dataDir("r7")}, s.engineFlag()...), nil)
	s.awaitPresenceStatus("r7", "online")
	s.mustRunCLI("safety", "enable", "r7", "--wait")
	s.nodes[0].kill()
	// Its status depends on whether the robot or fleetd was at that node, and is connected again; but each names the stop.
	if r := s.runCLI("stop", "--all", "--why", "drill"); !regexp.MustCompile(`stop-\d{6}-`).MatchString(r.out + r.err) {
		t.Fatalf("stop: %d %s", r.code, r.err)
	}
	s.until("r7 to hold the stop", func() bool {
		result := s.runCLI("robot", "get", "r7", "-o", "json")
		return result.code == 0 && strings.Contains(result.out, string(schema.SafetyDisabled)) && strings.Contains(result.out, `"stop-`)
	})
}
