package server_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema"
)

type clientInfo struct {
	ClientID, Name, Role, Robot, Address, Transport string
	Since                                           time.Time
	Certificate                                     *struct {
		Serial string
		Ends   time.Time
	}
	Subscriptions, Pending, Unacknowledged, Dropped int
}

func clientsOf(t *testing.T, b *brokertest.Broker) map[string]clientInfo {
	t.Helper()
	resp, err := http.Get("http://" + b.HTTPAddr() + "/clients")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list []map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	by := map[string]clientInfo{}
	for _, one := range list {
		for key, v := range one {
			one[strings.ReplaceAll(key, "_", "")] = v
		}
		text, _ := json.Marshal(one)
		var c clientInfo
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatal(err)
		}
		by[c.ClientID] = c
	}
	return by
}

func TestClientsListsConnections(t *testing.T) {
	ca := brokertest.NewCA(t)
	before := time.Now().Add(-time.Second)
	b := start(t, ca.Configure, func(c *server.Config) { c.HTTP, c.WriteTimeout, c.MaxQueued = "127.0.0.1:0", time.Hour, 64 })
	own := ca.IssueClient(schema.RoleRobot, "r1")
	robot, _ := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "r1"}, own)
	robot.Subscribe(r1+"cmd/#", "troupe/v1/fleet/stop")
	b.Client(t, "console-r1")
	fleetd := b.Client(t, "fleetd")
	connectStalled(t, b, 300)
	story := strings.Repeat("x", 8<<10)
	// until the queue stays full
	for stalled := (clientInfo{}); stalled.Dropped == 0 || stalled.Pending < 32; stalled = clientsOf(t, b)["admin"] {
		fleetd.Retain(r1+"desired/story", story)
	}

	by := clientsOf(t, b)
	if len(by) != 4 {
		t.Errorf("%d clients: %+v", len(by), by)
	}
	if c := by["r1"]; c.Name != "r1" || c.Role != "robot" || c.Transport != "mqtts" || !strings.HasPrefix(c.Address, "127.0.0.1:") ||
		c.Subscriptions != 2 || c.Dropped != 0 ||
		c.Certificate == nil || c.Certificate.Serial != own.Leaf.SerialNumber.Text(16) || !c.Certificate.Ends.Equal(own.Leaf.NotAfter) ||
		c.Since.Before(before) || c.Since.After(time.Now()) {
		t.Errorf("the robot: %+v", c)
	}
	if c := by["console-r1"]; c.Name != "console-r1" || c.Role != "console" || c.Robot != "r1" || c.Transport != "in-process" ||
		c.Certificate != nil {
		t.Errorf("the console: %+v", c)
	}
	if c := by["admin"]; c.Transport != "mqtt" || c.Subscriptions != 1 || c.Pending < 32 || c.Unacknowledged < 32 || c.Dropped < 1 {
		t.Errorf("the client that does not read: %+v", c)
	}
	robot.Close()
	brokertest.Eventually(t, "the robot is gone", func() bool { _, there := clientsOf(t, b)["r1"]; return !there })
	if resp, err := http.Post("http://"+b.HTTPAddr()+"/clients", "", nil); err != nil || resp.Body.Close() != nil ||
		resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %v, %v", resp, err)
	}
}
