package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/deploy/natstest"
	"troupe/schema"
	"troupe/schema/testlog"
)

const natsUserLines = "fleetd fleetd\nop1 operator\nobs observer\nstop1 stop\nadmin admin\nr1 robot\nr2 robot\n"

// natsRules returns what broker acl --for nats prints for natsUserLines.
func natsRules(t *testing.T, more ...string) string {
	t.Helper()
	users := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(users, []byte(natsUserLines), 0o600); err != nil {
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

// A robot whose name the fleet revokes loses its connection and does not come back, and the others keep theirs. So it is
// after a restart, too, before the list arrives.
func TestRevokedRobotIsCutOffNATS(t *testing.T) {
	const ns, fleet = schema.DefaultNamespace, "2f1d7f5e-8c0b-4a39-9d6e-1f5f0f0a9b11"
	ca := brokertest.NewCA(t)
	ca.IssueServer(time.Hour)
	ca.SaveClient(ca.IssueClient(schema.RoleFleetd, "fleetd"), "own.pem", "own.key.pem")
	s := natstest.Start(t, natsRules(t), natsTLS(ca))
	users := filepath.Join(s.Folder, "users")
	write := func(text string) {
		if err := os.WriteFile(users, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dial := func(role schema.Role, name string) (*brokertest.Client, byte) {
		return brokertest.TryConnect(t, brokertest.OverTLS(s.Address, ca.TLS(ca.IssueClient(role, name))),
			brokertest.ConnectPacket{Name: name, ClientID: name})
	}
	follow := func(address string) (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		c := command()
		c.SetErr(testlog.Writer(t, "nats-users"))
		c.SetArgs([]string{"nats-users", "--users", users, "--out", s.UsersFile(), "--pid-file", s.PIDFile(), "--broker", "mqtts://" + address,
			"--ca", ca.Path("ca.pem"), "--cert", ca.Path("own.pem"), "--key", ca.Path("own.key.pem")})
		ended := make(chan error, 1)
		go func() { ended <- c.ExecuteContext(ctx) }()
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	reloaded := func() {
		s.Await(t, func(line string) bool { return strings.Contains(line, "Reloaded server configuration") })
	}
	revoke := func(by *brokertest.Client, rev int, names string) {
		by.Retain(ns.Topic(schema.TopicRevoked),
			fmt.Sprintf(`{"rev":%d,"fleet_id":%q,"names":[%s],"serials":[],"ts":"2026-01-31T09:30:00.000Z"}`, rev, fleet, names))
	}
	write(natsUserLines)
	stop := follow(s.Address)
	reloaded() // at the start
	fleetd, _ := dial(schema.RoleFleetd, "fleetd")
	r1, _ := dial(schema.RoleRobot, "r1")
	r2, _ := dial(schema.RoleRobot, "r2")
	for name, robot := range map[string]*brokertest.Client{"r1": r1, "r2": r2} {
		robot.Retain(ns.Topic(schema.TopicState, name), "{}")
		robot.Ping()
	}

	revoke(fleetd, 1, `"r1"`)
	reloaded()
	r1.Lost()
	if _, code := dial(schema.RoleRobot, "r1"); code == 0 {
		t.Error("the revoked robot came back")
	}
	r2.Ping()
	fleetd.Retain(ns.Topic(schema.TopicDesiredStory, "r2"), "{}") // kept after the removal of what r1 had retained
	fleetd.Subscribe(ns.Topic(schema.TopicDesiredStory, "+"), ns.Topic(schema.TopicState, "+"))
	fleetd.Expect(ns.Topic(schema.TopicDesiredStory, "r2"))
	fleetd.Expect(ns.Topic(schema.TopicState, "r2"))
	fleetd.Ping()
	if kept := fleetd.Inbox("#"); len(kept) != 0 {
		t.Errorf("nats-server still retains %v", kept)
	}

	write(natsUserLines + "r3 robot\n")
	reloaded()
	if _, code := dial(schema.RoleRobot, "r3"); code != 0 {
		t.Errorf("a robot that was added is refused with code %d", code)
	}
	stop()

	if err := os.WriteFile(s.UsersFile(), []byte(natsRules(t)), 0o600); err != nil { // all users
		t.Fatal(err)
	}
	nowhere, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer nowhere.Close()
	stop = follow(nowhere.Addr().String())
	reloaded()
	if _, code := dial(schema.RoleRobot, "r1"); code == 0 {
		t.Error("the revoked robot came back after a restart")
	}
	stop()

	stop = follow(s.Address)
	defer stop()
	reloaded()
	revoke(fleetd, 2, "")
	reloaded()
	if _, code := dial(schema.RoleRobot, "r1"); code != 0 {
		t.Errorf("a robot that is no longer revoked is refused with code %d", code)
	}
}

// nats-server goes on with what it had if a file of its configuration is wrong. A person who revokes a robot has to learn of it.
func TestRefusedReloadOfNATSIsLogged(t *testing.T) {
	s := natstest.Start(t, natsRules(t, "--open"), "")
	users := filepath.Join(s.Folder, "users")
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(users, natsUserLines)
	lines := make(chan string, 100)
	ctx, cancel := context.WithCancel(t.Context())
	c := command()
	c.SetErr(io.MultiWriter(testlog.Writer(t, "nats-users"), lineWriter(lines)))
	c.SetArgs([]string{"nats-users", "--users", users, "--out", s.UsersFile(), "--pid-file", s.PIDFile(), "--monitor", s.HTTP,
		"--broker", "mqtt://" + s.Address})
	ended := make(chan error, 1)
	go func() { ended <- c.ExecuteContext(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	await := func(text string) {
		t.Helper()
		timeout := time.After(30 * time.Second)
		for {
			select {
			case line := <-lines:
				if strings.Contains(line, text) {
					return
				}
			case <-timeout:
				t.Fatalf("nats-users did not log %q", text)
			}
		}
	}
	await("nats-server has read its configuration")
	config := filepath.Join(s.Folder, "nats.conf")
	good, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	write(config, string(good)+"no_such_setting: [\n")
	write(users, natsUserLines+"r3 robot\n")
	await("nats-server did not take its configuration")
	write(config, string(good))
	s.Reload(t)
	await("nats-server has read its configuration")
}

// lineWriter passes on what is written to it, a line at a time as loggers do.
type lineWriter chan<- string

func (w lineWriter) Write(b []byte) (int, error) {
	w <- string(b)
	return len(b), nil
}
