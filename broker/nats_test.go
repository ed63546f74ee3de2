package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/deploy/natstest"
	"troupe/schema"
)

const natsUsers = "fleetd fleetd\nop1 operator\nobs observer\nstop1 stop\nadmin admin\nr1 robot\nr2 robot\n"

// natsRules returns what broker acl --for nats prints for natsUsers.
func natsRules(t *testing.T, more ...string) string {
	t.Helper()
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte(natsUsers), 0o600); err != nil {
		t.Fatal(err)
	}
	c := command()
	out := &bytes.Buffer{}
	c.SetOut(out)
	c.SetArgs(append([]string{"acl", "--for", "nats", "--users", users}, more...))
	if err := c.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// nats-server acknowledges a refused message, as Mosquitto does. So the test sends an allowed message last: what the broker passed
// on arrives before that one.
func TestEachRolePublishesAndReadsOnNATSOnlyWhatItMay(t *testing.T) {
	const ns = schema.DefaultNamespace
	s := natstest.Start(t, natsRules(t, "--open"), "")
	connect := func(name string) *brokertest.Client {
		return brokertest.Connect(t, brokertest.TCP(s.Address), brokertest.ConnectPacket{Name: name, ClientID: name})
	}
	admin := connect("admin")
	admin.Subscribe("troupe/v1/#")
	r1, op1, obs, stop1 := connect("r1"), connect("op1"), connect("obs"), connect("stop1")

	r1.Publish(ns.Topic(schema.TopicCmd, "r2", "r1", "safety", "enable"), "")
	r1.Publish(ns.Topic(schema.TopicEvent, "r2"), "{}")
	r1.Retain(ns.Topic(schema.TopicState, "r2"), "{}")
	r1.Retain("$MQTT/rmsgs/"+ns.Topic(schema.TopicState, "r2"), "{}") // where the server keeps what is retained
	r1.Publish("$MQTT/msgs/"+ns.Topic(schema.TopicEvent, "r2"), "{}")
	obs.Publish(ns.Topic(schema.TopicCmd, "r1", "obs", "mode", "set"), "ato")
	obs.Publish(ns.Topic(schema.TopicEvent, "r1"), "{}")
	stop1.Publish(ns.Topic(schema.TopicCmd, "r1", "stop1", "mode", "set"), "ato")
	op1.Publish(ns.Topic(schema.TopicCmd, "r1", "fleetd", "mode", "set"), "ato")
	op1.Publish(ns.Topic(schema.TopicCmd, "r1", "op1", "sys", "adopt"), "x")
	op1.Publish(ns.Topic(schema.TopicCmd, "r1", "op1", "mode", "enable"), "follow")
	op1.Retain(ns.Topic(schema.TopicDesiredStory, "r1"), "{}")
	brokertest.Connect(t, brokertest.TCP(s.Address), brokertest.ConnectPacket{Name: "r2", ClientID: "r2",
		Will: &brokertest.Message{Topic: ns.Topic(schema.TopicPresence, "r1"), Payload: []byte("{}"), QoS: 1, Retain: true}}).Cut()

	for _, allowed := range []struct {
		by    *brokertest.Client
		topic string
	}{
		{op1, ns.Topic(schema.TopicCmd, "r1", "op1", "mode", "set")},
		{stop1, ns.Topic(schema.TopicCmd, "r1", "stop1", "safety", "stop")},
		{r1, ns.Topic(schema.TopicEvent, "r1")},
	} {
		allowed.by.Publish(allowed.topic, "{}")
		admin.Expect(allowed.topic)
	}
	r1.Retain(ns.Topic(schema.TopicState, "r1"), "{}")
	admin.Expect(ns.Topic(schema.TopicState, "r1"))
	if got := admin.Inbox("#"); len(got) != 0 {
		t.Errorf("the broker also passed on %v", got)
	}

	const refused = 0x80
	for _, c := range []struct {
		by     *brokertest.Client
		filter string
		want   byte
	}{
		{r1, ns.Topic(schema.TopicState, "r2"), refused},
		{r1, ns.Topic(schema.TopicCmd, "r2", "+", "+", "+"), refused},
		{r1, ns.Topic(schema.TopicCmd, "r1", "+", "+", "+"), 1},
		{r1, "#", refused},
		{r1, "$MQTT/#", refused},
		{r1, "$MQTT/sub/#", refused},
		{obs, ns.Topic(schema.TopicAck, "+", "op1"), refused},
		{obs, ns.Topic(schema.TopicState, "+"), 1},
		{obs, "troupe/v1/#", refused}, // our broker delivers what it may read of these
	} {
		if got := c.by.TrySubscribe(1, c.filter); !slices.Equal(got, []byte{c.want}) {
			t.Errorf("a subscription to %s: %v, want %d", c.filter, got, c.want)
		}
	}
	late := connect("fleetd")
	late.Subscribe("troupe/v1/#")
	late.Expect(ns.Topic(schema.TopicState, "r1"))
	late.Publish(ns.Topic(schema.TopicEvent, "r1"), "{}") // not retained by fleetd's right, and refused
	if kept := late.Inbox("#"); len(kept) != 0 {
		t.Errorf("the broker also retained %v", kept)
	}
}

// natsTLS returns the lines of the block mqtt for certificates of ca.
func natsTLS(ca *brokertest.CA) string {
	return fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify_and_map: true, timeout: 5 }",
		ca.Path("server.pem"), ca.Path("server.key.pem"), ca.Path("ca.pem"))
}

// The certificate alone says who a client is: the URI of a robot or a fleetd instance, the subject of another role.
func TestCertificateSaysWhoAClientOfNATSIs(t *testing.T) {
	const ns = schema.DefaultNamespace
	ca := brokertest.NewCA(t)
	ca.IssueServer(time.Hour)
	s := natstest.Start(t, natsRules(t), natsTLS(ca))
	dial := func(c tls.Certificate, claim string) (*brokertest.Client, byte) {
		return brokertest.TryConnect(t, brokertest.OverTLS(s.Address, ca.TLS(c)), brokertest.ConnectPacket{Name: claim, ClientID: "c_" + claim})
	}
	fleetd, code := dial(ca.IssueClient(schema.RoleFleetd, "fleetd"), "fleetd")
	if code != 0 {
		t.Fatalf("fleetd is refused with code %d", code)
	}
	fleetd.Subscribe("troupe/v1/#")
	r1, code := dial(ca.IssueClient(schema.RoleRobot, "r1"), "r2") // whatever name it gives
	if code != 0 {
		t.Fatalf("r1 is refused with code %d", code)
	}
	r1.Retain(ns.Topic(schema.TopicState, "r2"), "{}")
	r1.Retain(ns.Topic(schema.TopicState, "r1"), "{}")
	fleetd.Expect(ns.Topic(schema.TopicState, "r1"))
	if got := fleetd.Inbox("#"); len(got) != 0 {
		t.Errorf("r1 also published %v", got)
	}
	for what, c := range map[string]tls.Certificate{
		"a robot that is not listed":                 ca.IssueClient(schema.RoleRobot, "r9"),
		"a robot with the name of an operator":       ca.IssueClient(schema.RoleRobot, "op1"),
		"a robot with the name of a fleetd instance": ca.IssueClient(schema.RoleRobot, "fleetd"),
		"a fleetd instance with the name of a robot": ca.IssueClient(schema.RoleFleetd, "r1"),
		"a robot with the name of an administrator":  ca.IssueClient(schema.RoleRobot, "admin"),
	} {
		if _, code := dial(c, "op1"); code == 0 {
			t.Errorf("%s was accepted", what)
		}
	}
}
