package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"troupe/broker/brokertest"
	"troupe/deploy/natstest"
	"troupe/schema"
)

// natsAccount returns what broker acl --for nats --own-account prints for a fleet with these users.
func natsAccount(t *testing.T, namespace, lines string) string {
	t.Helper()
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	c := command()
	out := &bytes.Buffer{}
	c.SetOut(out)
	c.SetArgs([]string{"acl", "--for", "nats", "--open", "--own-account", "--namespace", namespace, "--users", users})
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// Two fleets on one nats-server: nothing that one publishes, retains or latches reaches the other, and a client id of one is no
// session of the other.
func TestFleetsOnOneNATSShareNothing(t *testing.T) {
	const museum, lobby = schema.Namespace("museum"), schema.Namespace("lobby")
	accounts := natsAccount(t, "museum", "fleetd-m fleetd\nadmin-m admin\nr1 robot\n") + natsAccount(t, "lobby",
		"fleetd-l fleetd\nadmin-l admin\nr2 robot\n")
	s := natstest.Start(t, "accounts {\n"+accounts+"}\n", "")
	connect := func(name, id string) *brokertest.Client {
		return brokertest.Connect(t, brokertest.TCP(s.Address), brokertest.ConnectPacket{Name: name, ClientID: id})
	}
	fleetdM, fleetdL := connect("fleetd-m", "fleetd-m"), connect("fleetd-l", "fleetd-l")
	fleetdM.Subscribe(museum.Root() + "#")
	fleetdL.Subscribe(lobby.Root() + "#")
	for by, filter := range map[*brokertest.Client]string{fleetdM: lobby.Root() + "#", fleetdL: museum.Topic(schema.TopicState, "+"),
		connect("admin-l", "admin-l"): "#"} {
		if got := by.TrySubscribe(1, filter); !slices.Equal(got, []byte{0x80}) {
			t.Errorf("a subscription to %s: %v, want 128", filter, got)
		}
	}
	r1, r2 := connect("r1", "r1"), connect("r2", "same")
	other := connect("admin-m", "same") // ends no session of the other fleet
	for _, ns := range []schema.Namespace{museum, lobby} {
		fleetdL.Retain(ns.Topic(schema.TopicFleetStop), "{}")
		fleetdL.Publish(ns.Topic(schema.TopicFleetStopCmd, "fleetd-l"), "{}")
		r2.Retain(ns.Topic(schema.TopicState, "r2"), "{}")
	}
	fleetdL.Expect(lobby.Topic(schema.TopicState, "r2"))
	other.Retain(museum.Topic(schema.TopicFleetStop), `{"of":"museum"}`)
	r1.Retain(museum.Topic(schema.TopicState, "r1"), "{}")
	fleetdM.Expect(museum.Topic(schema.TopicFleetStop))
	fleetdM.Expect(museum.Topic(schema.TopicState, "r1"))
	if got := fleetdM.Inbox("#"); len(got) != 0 {
		t.Errorf("the other fleet also received %v", got)
	}
}
