package nats_test

import (
	"bytes"
	"strings"
	"testing"

	"troupe/deploy/nats"
	"troupe/schema/golden"
)

func clustered() nats.Node {
	return nats.Node{Name: "n2", MQTT: "0.0.0.0:8883", Store: "/var/lib/nats", Users: "users.conf", Cluster: "10.0.0.2:6222",
		Nodes: []string{"n1.example:6222", "n2.example:6222", "n3.example:6222"}, Certificate: "/etc/nats/server.pem",
		Key: "/etc/nats/server.key", CA: "/etc/nats/ca.pem"}
}

func TestConfigurationOfOneNodeAndOfThree(t *testing.T) {
	one := clustered()
	one.Name, one.Cluster, one.Nodes = "n1", "", nil
	for name, n := range map[string]nats.Node{"one": one, "three": clustered()} {
		var b bytes.Buffer
		if err := nats.WriteConfig(&b, n); err != nil {
			t.Fatal(err)
		}
		golden.Compare(t, "testdata/"+name+".conf", b.String())
	}
}

// With two nodes neither goes on alone, and a node without certificates would let every client be everybody.
func TestConfigurationWithMissingPartsIsRefused(t *testing.T) {
	for want, change := range map[string]func(*nats.Node){
		"want 3, of which any 2 go on":      func(n *nats.Node) { n.Nodes = n.Nodes[:2] },
		"the list of all nodes, or neither": func(n *nats.Node) { n.Nodes = nil },
		"want name:port":                    func(n *nats.Node) { n.Nodes[0] = "10.0.0.1:6222" },
		"its key and the CA, or none":       func(n *nats.Node) { n.CA = "" },
	} {
		n := clustered()
		change(&n)
		if err := nats.WriteConfig(&bytes.Buffer{}, n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}
