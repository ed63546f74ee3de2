package server_test

import (
	"crypto/tls"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema"
	"troupe/schema/argon2id"
)

// will is the presence "lost" of a robot as its will.
func will(name string) func(*brokertest.ConnectPacket) {
	return brokertest.WithWill(brokertest.Message{
		Topic: "troupe/v1/robots/" + name + "/presence", QoS: 1, Retain: true,
		Payload: fmt.Appendf(nil, `{"state":"lost","session":"s-%s","boot":"b","software":"lies"}`, name),
	})
}

// expectRevokedPresence waits for the presence that the broker publishes for a kicked robot.
func expectRevokedPresence(t *testing.T, watcher *brokertest.Client, name string) {
	t.Helper()
	m := watcher.Expect("troupe/v1/robots/" + name + "/presence")
	p, problems := schema.DecodeStrict[schema.Presence](m.Payload)
	want := schema.Presence{State: schema.PresenceLost, Session: "s-" + name, Boot: "b", Reason: "revoked"}
	if len(problems) > 0 || p != want {
		t.Errorf("presence %s, want %+v", m.Payload, want)
	}
}

func TestRevokedCertificateIsCutAndRefused(t *testing.T) {
	ca := brokertest.NewCA(t)
	b := brokertest.Start(t, ca.Configure)
	own, others := ca.IssueClient(schema.RoleRobot, "r1"), ca.IssueClient(schema.RoleRobot, "r2")
	hello := brokertest.ConnectPacket{ClientID: "r1"}
	will("r1")(&hello)
	robot, _ := byTLS(t, b, ca, hello, own)
	other, _ := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "r2"}, others)
	watcher := b.Client(t, "obs")
	watcher.Subscribe(r1 + "presence")

	ca.Revoke(own)
	robot.Lost()
	expectRevokedPresence(t, watcher, "r1")
	if _, code := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "r1"}, own); code != 5 {
		t.Errorf("reconnects: code %d", code)
	}
	other.Ping()
	if got, code := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "r1"}, ca.IssueClient(schema.RoleRobot, "r1")); code != 0 {
		t.Errorf("with a new certificate: code %d", code)
	} else {
		got.Close()
	}
	if n := b.Status()["clients_kicked"]; n != 1 {
		t.Errorf("%d kicked", n)
	}
}

func revokedList(rev int, names, serials string) string {
	return fmt.Sprintf(`{"rev":%d,"fleet_id":"db-1","names":[%s],"serials":[%s],"ts":"2026-01-01T00:00:00.000Z"}`, rev, names, serials)
}

func TestRevocationListOfFleetdTakesEffectAtOnce(t *testing.T) {
	const topic = "troupe/v1/fleet/revoked"
	ca := brokertest.NewCA(t)
	b := brokertest.Start(t, ca.Configure)
	own := ca.IssueClient(schema.RoleRobot, "r1")
	robot, _ := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "r1"}, own)
	named := b.Client(t, "r2", will("r2"))
	blobs := b.Client(t, "r2", brokertest.WithID("r2.blob"))
	stays := b.Client(t, "r3")
	watcher := b.Client(t, "obs")
	watcher.Subscribe("troupe/v1/robots/r2/presence")
	fleetd := b.Client(t, "fleetd")

	fleetd.Retain(topic, revokedList(7, `"r2"`, fmt.Sprintf("%q", own.Leaf.SerialNumber.Text(16))))
	robot.Lost()
	named.Lost()
	blobs.Lost()
	expectRevokedPresence(t, watcher, "r2")
	stays.Ping()
	fleetd.Ping()
	if _, code := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "r1"}, own); code != 5 {
		t.Errorf("r1 reconnects: code %d", code)
	}
	if _, code := brokertest.TryConnect(t, b.Dial, brokertest.ConnectPacket{Name: "r2", ClientID: "r2"}); code != 5 {
		t.Errorf("r2 reconnects: code %d", code)
	}

	for why, list := range map[string]string{
		"older": revokedList(6, "", ""), "not JSON": "{", "empty": "", "no rev": revokedList(0, "", ""),
	} {
		fleetd.Retain(topic, list)
		if _, code := brokertest.TryConnect(t, b.Dial, brokertest.ConnectPacket{Name: "r2", ClientID: "r2"}); code != 5 {
			t.Errorf("after a list that is %s: code %d", why, code)
		}
	}
	unknown := b.Client(t, "op1")
	unknown.Retain(topic, revokedList(9, `"r3"`, ""))
	stays.Ping()

	fleetd.Retain(topic, revokedList(8, "", ""))
	b.Client(t, "r2").Ping()
}

// The revocation, a command and DISCONNECT come in one segment, so the broker has read all of them when
// it processes the first.
func TestPacketsReadBeforeTheRevocationHaveNoEffect(t *testing.T) {
	ca := brokertest.NewCA(t)
	b := brokertest.Start(t, ca.Configure)
	stolen := ca.IssueClient(schema.RoleFleetd, "fleetd-b")
	hello := brokertest.ConnectPacket{ClientID: "fleetd-b"}
	brokertest.WithWill(brokertest.Message{
		Topic: "troupe/v1/fleet/presence", QoS: 1, Retain: true, Payload: []byte(`{"state":"lost","session":"s-b"}`),
	})(&hello)
	thief, code := byTLS(t, b, ca, hello, stolen)
	if code != 0 {
		t.Fatalf("code %d", code)
	}
	robot, watcher := b.Client(t, "r1"), b.Client(t, "obs")
	robot.Subscribe(r1 + "cmd/#")
	watcher.Subscribe("troupe/v1/fleet/presence")

	retained, live := 3, 0 // of packets
	revocation := packets(1, "", "troupe/v1/fleet/revoked", revokedList(1, "", fmt.Sprintf("%q", stolen.Leaf.SerialNumber.Text(16))))[retained]
	command := packets(1, "", r1+"cmd/fleetd-b/safety/enable", "{}")[live]
	disconnect := brokertest.Packet(0xe0, nil)
	if err := thief.Raw(slices.Concat(revocation, command, disconnect)); err != nil {
		t.Fatal(err)
	}
	thief.Lost()
	m := watcher.Expect("troupe/v1/fleet/presence")
	if p, problems := schema.DecodeStrict[schema.Presence](m.Payload); len(problems) > 0 || p.Reason != "revoked" {
		t.Errorf("presence %s", m.Payload)
	}
	robot.Ping()
	if got := robot.Inbox(r1 + "cmd/#"); len(got) > 0 {
		t.Errorf("the robot received %v", got)
	}
}

func TestRemovedUserIsCutAtOnce(t *testing.T) {
	t.Parallel()
	hash := func(password string) string {
		return argon2id.HashPassword(password, [argon2id.SaltBytes]byte{3}).String()
	}
	ca := brokertest.NewCA(t)
	var log logBuffer
	b := brokertest.Start(t, log.into, usersOf(ca, "r1 robot\nr2 robot "+hash("a")+"\nr3 robot\nr4 robot\n"))
	connect := func(name, password string) *brokertest.Client {
		return brokertest.Connect(t, b.Dial, brokertest.ConnectPacket{Name: name, ClientID: name, Password: password})
	}
	removed, changed, promoted, stays := connect("r1", ""), connect("r2", "a"), connect("r3", ""), connect("r4", "")

	ca.Write("users", []byte("r4 robot\nr1 king\n"))
	brokertest.Eventually(t, "the log of the refused file", func() bool { return log.holds("changed file refused") })
	ca.Write("users", []byte("# being written\n"))
	brokertest.Eventually(t, "the log of the empty file", func() bool { return log.holds("the file has no users any more") })
	removed.Ping() // an invalid file changes nothing
	stays.Ping()
	ca.Write("users", []byte("r2 robot "+hash("b")+"\nr3 operator\nr4 robot\n"))
	removed.Lost()
	changed.Lost()
	promoted.Lost()
	stays.Ping()
	if _, code := brokertest.TryConnect(t, b.Dial, brokertest.ConnectPacket{Name: "r2", ClientID: "r2", Password: "a"}); code != 4 {
		t.Errorf("the old password: code %d", code)
	}
	connect("r2", "b")
}

func TestReplacedCADisconnectsItsRobots(t *testing.T) {
	ca, next := brokertest.NewCA(t), brokertest.NewCA(t)
	b := brokertest.Start(t, ca.Configure, func(c *server.Config) { c.Files.CRL = "" })
	robot, _ := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "r1"}, ca.IssueClient(schema.RoleRobot, "r1"))
	read := func(a *brokertest.CA) string {
		text, err := os.ReadFile(a.Path("ca.pem"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	old := read(ca)
	ca.Write("ca.pem", []byte(old+read(next))) // both, while robots get new ones
	brokertest.Eventually(t, "the next CA", func() bool {
		config := ca.TLS(next.IssueClient(schema.RoleRobot, "r2"))
		c, code := brokertest.TryConnect(t, brokertest.OverTLS(b.AddrOf("mqtts"), config), brokertest.ConnectPacket{ClientID: "r2"})
		if c != nil {
			c.Close()
		}
		return code == 0
	})
	robot.Ping()
	ca.Write("ca.pem", []byte(strings.TrimPrefix(read(ca), old)))
	robot.Lost()
}

func TestFleetdCannotBeRevokedByName(t *testing.T) {
	const topic = "troupe/v1/fleet/revoked"
	ca := brokertest.NewCA(t)
	b := brokertest.Start(t, ca.Configure)
	stolen := ca.IssueClient(schema.RoleFleetd, "fleetd-b")
	fleetd, admin := b.Client(t, "fleetd"), b.Client(t, "admin")
	thief, code := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "fleetd-b"}, stolen)
	if code != 0 {
		t.Fatalf("code %d", code)
	}
	fleetd.Retain(topic, revokedList(1, `"fleetd","admin","fleetd-b"`, ""))
	fleetd.Ping()
	admin.Ping()
	thief.Ping()
	fleetd.Close()
	b.Client(t, "fleetd").Retain(topic, revokedList(2, `"fleetd"`, fmt.Sprintf("%q", stolen.Leaf.SerialNumber.Text(16))))
	thief.Lost() // by its certificate, not by its name
	if _, code := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "fleetd-b"}, stolen); code != 5 {
		t.Errorf("reconnects: code %d", code)
	}
}

// A broker that can no longer read its files, because it has no file descriptors or they
// were moved, keeps their previous contents.
func TestUnreadableFilesChangeNothing(t *testing.T) {
	ca := brokertest.NewCA(t)
	var log logBuffer
	reload := make(chan os.Signal, 1)
	b := brokertest.Start(t, log.into, usersOf(ca, "op1 operator "+argon2id.HashPassword("a", [argon2id.SaltBytes]byte{3}).String()+"\n"),
		ca.Configure, func(c *server.Config) { c.Reload = reload })
	good, bad := ca.IssueClient(schema.RoleRobot, "r1"), ca.IssueClient(schema.RoleRobot, "r2")
	refused := func(h brokertest.ConnectPacket, own ...tls.Certificate) bool {
		c, code := byTLS(t, b, ca, h, own...)
		if c != nil {
			c.Close()
		}
		return code != 0
	}
	ca.Revoke(bad)
	brokertest.Eventually(t, "the new CRL", func() bool { return refused(brokertest.ConnectPacket{ClientID: "r2"}, bad) })
	for _, file := range []string{"users", "ca.pem", "crl.pem", "server.pem", "server.key.pem"} {
		if err := os.Remove(ca.Path(file)); err != nil {
			t.Fatal(err)
		}
	}
	reload <- syscall.SIGHUP
	brokertest.Eventually(t, "the log of the missing files", func() bool { return log.holds("no such file") })
	for _, c := range []struct {
		who     string
		hello   brokertest.ConnectPacket
		own     []tls.Certificate
		refused bool
	}{
		{"a revoked robot", brokertest.ConnectPacket{ClientID: "r2"}, []tls.Certificate{bad}, true},
		{"a robot without a certificate", brokertest.ConnectPacket{Name: "r1", ClientID: "r1"}, nil, true},
		{"a robot with a certificate of another CA", brokertest.ConnectPacket{ClientID: "r1"},
			[]tls.Certificate{brokertest.NewCA(t).IssueClient(schema.RoleRobot, "r1")}, true},
		{"a person without the password", brokertest.ConnectPacket{Name: "op1", ClientID: "op1"}, nil, true},
		{"a robot of the fleet", brokertest.ConnectPacket{ClientID: "r1"}, []tls.Certificate{good}, false},
		{"a person with the password", brokertest.ConnectPacket{Name: "op1", ClientID: "op1", Password: "a"}, nil, false},
	} {
		if refused(c.hello, c.own...) != c.refused {
			t.Errorf("%s: refused %v", c.who, !c.refused)
		}
	}
}

// The documents of a user who is removed are deleted, except documents that latch stops,
// and documents that another user has replaced since.
func TestDocumentsOfRemovedUserAreDeleted(t *testing.T) {
	ca := brokertest.NewCA(t)
	b := start(t, usersOf(ca, "ann admin\nben admin\nr1 robot\nr2 robot\n"))
	connect := func(name string) *brokertest.Client {
		return brokertest.Connect(t, b.Dial, brokertest.ConnectPacket{Name: name, ClientID: name})
	}
	topic := func(name string) string { return "troupe/v1/robots/r1/desired/" + name }
	ann, ben, robot := connect("ann"), connect("ben"), connect("r1")
	ann.Retain(topic("mode"), `"of ann"`)
	ann.Retain(topic("stop"), `"of ann"`)
	ann.Retain(topic("config"), `"of ann"`)
	ben.Retain(topic("config"), `"of ben"`)
	ben.Retain(topic("places"), `"of ben"`)
	robot.Retain("troupe/v1/robots/r1/state", `"of r1"`)
	readers := 0
	finds := func(want map[string]string) {
		t.Helper()
		readers++
		c := brokertest.Connect(t, b.Dial, brokertest.ConnectPacket{Name: "ben", ClientID: fmt.Sprint("ben.", readers)})
		defer c.Close()
		c.Subscribe("troupe/v1/#")
		for topic, payload := range want {
			c.ExpectThat(topic, func(m brokertest.Message) bool { return m.Retain && string(m.Payload) == payload })
		}
		c.Ping()
		for _, m := range c.Inbox("troupe/v1/#") {
			if m.Retain {
				t.Errorf("also retained: %v", m)
			}
		}
	}
	want := map[string]string{topic("stop"): `"of ann"`, topic("config"): `"of ben"`, topic("places"): `"of ben"`,
		"troupe/v1/robots/r1/state": `"of r1"`}
	all := maps.Clone(want)
	all[topic("mode")] = `"of ann"`
	finds(all)
	ann.Close() // so that she is not connected when she is removed
	ben.Subscribe(topic("mode"))

	ca.Write("users", []byte("ben admin\nr2 robot\n"))
	robot.Lost()
	ben.ExpectThat(topic("mode"), func(m brokertest.Message) bool { return len(m.Payload) == 0 })
	finds(want)
}
