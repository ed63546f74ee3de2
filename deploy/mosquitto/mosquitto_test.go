package mosquitto

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"troupe/broker/access"
	"troupe/broker/brokertest"
	"troupe/deploy/mosquittotest"
	"troupe/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ns     = schema.DefaultNamespace
	secret = "open sesame"
)

// usersFile lists the users; everybody's password is the secret.
const usersFile = "fleetd fleetd\nop1 operator\nobs observer\nadmin admin\nr1 robot\nr2 robot\n"

// startMosquitto runs Mosquitto with this folder's configuration, except for the
// ports, the paths of its files and the given extra lines.
func startMosquitto(t *testing.T, extraLines ...string) string {
	t.Helper()
	return mosquittotest.Start(t, mosquittotest.Options{Closed: true, Lines: append(generalLines(t, writeFiles(t)), extraLines...)})
}

// writeFiles writes the access rules and the passwords that the configuration
// names, and returns their folder.
func writeFiles(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	users, err := access.ParseUsers(strings.NewReader(usersFile))
	if err != nil {
		t.Fatal(err)
	}
	var rules strings.Builder
	if err := access.WriteMosquittoACL(&rules, users.All(), ns); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"troupe.acl": rules.String(), "troupe.passwd": ""} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, u := range users.All() {
		if out, err := exec.Command("mosquitto_passwd", "-b", filepath.Join(folder, "troupe.passwd"), u.Name,
			secret).CombinedOutput(); err != nil {
			t.Fatalf("mosquitto_passwd: %v\n%s", err, out)
		}
	}
	return folder
}

// generalLines returns the lines of the configuration that hold for every
// listener.
func generalLines(t *testing.T, folder string) []string {
	t.Helper()
	text, err := os.ReadFile("mosquitto.conf")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\nallow_anonymous ")
	if !ok {
		t.Fatal("the general part of mosquitto.conf begins with allow_anonymous")
	}
	rest = strings.ReplaceAll("allow_anonymous "+rest, "/etc/mosquitto", folder)
	return strings.Split(strings.TrimSpace(rest), "\n")
}

func connect(t *testing.T, url, name string) *brokertest.Client {
	t.Helper()
	return brokertest.Connect(t, brokertest.TCP(strings.TrimPrefix(url, "mqtt://")),
		brokertest.ConnectPacket{Name: name, Password: secret, ClientID: name})
}

func TestConnectNeedsThePassword(t *testing.T) {
	url := startMosquitto(t)
	dial := brokertest.TCP(strings.TrimPrefix(url, "mqtt://"))
	for what, h := range map[string]brokertest.ConnectPacket{
		"an unknown client": {Name: "x", Password: secret, ClientID: "x"},
		"a wrong password":  {Name: "op1", Password: "sesame", ClientID: "op1"},
		"no user name":      {ClientID: "y"},
		"no password":       {Name: "op1", ClientID: "op1"},
	} {
		if c, code := brokertest.TryConnect(t, dial, h); code == 0 {
			c.Close()
			t.Errorf("%s was accepted", what)
		}
	}
	connect(t, url, "op1").Ping()
}

// Mosquitto acknowledges a refused message and does not notify its sender. So the test
// sends an allowed message last: what the broker passed on arrives before that one.
func TestEachRolePublishesOnlyWhatItMay(t *testing.T) {
	url := startMosquitto(t)
	admin := connect(t, url, "admin")
	admin.Subscribe("#")
	r1, op1, obs := connect(t, url, "r1"), connect(t, url, "op1"), connect(t, url, "obs")

	r1.Publish(ns.Topic(schema.TopicCmd, "r2", "r1", "safety", "enable"), "")
	r1.Publish(ns.Topic(schema.TopicEvent, "r2"), "{}")
	obs.Publish(ns.Topic(schema.TopicCmd, "r1", "obs", "mode", "set"), "ato")
	op1.Publish(ns.Topic(schema.TopicCmd, "r1", "fleetd", "mode", "set"), "ato")
	op1.Publish(ns.Topic(schema.TopicCmd, "r1", "op1", "sys", "adopt"), "x")
	op1.Publish(ns.Topic(schema.TopicCmd, "r1", "op1", "mode", "enable"), "follow")
	op1.Retain(ns.Topic(schema.TopicDesiredStory, "r1"), "{}")
	op1.Publish(ns.Topic(schema.TopicCmd, "r1", "op1", "mode", "set"), "ato")
	admin.Expect(ns.Topic(schema.TopicCmd, "r1", "op1", "mode", "set"))
	r1.Publish(ns.Topic(schema.TopicEvent, "r1"), "{}")
	admin.Expect(ns.Topic(schema.TopicEvent, "r1"))
	if got := admin.Inbox("#"); len(got) != 0 {
		t.Errorf("the broker also passed on %v", got)
	}
}

// A fleetd instance that connects in a fleet of 300 robots is sent all their
// documents at once. With Mosquitto's default queue of 1000 messages the rest
// would be lost without a trace.
func TestNewSubscriberGetsEveryDocumentOfALargeFleet(t *testing.T) {
	const documents = 300 * 11
	url := startMosquitto(t)
	fleetd := connect(t, url, "fleetd")
	for n := range documents {
		fleetd.Retain(ns.Topic(schema.TopicDesiredStory, fmt.Sprintf("r%d", n)), `{"rev":1}`)
	}
	r := mosquittotest.Sub(t, url, "-u", "admin", "-P", secret, "-i", "admin", "-q", "1", "-t", ns.Topic(schema.TopicDesiredStory, "+"), "-C",
		fmt.Sprint(documents), "-W", "25")
	if got := strings.Count(r.Stdout, "\n"); got != documents || r.Code != 0 {
		t.Errorf("%d of %d documents: %s", got, documents, r.Stderr)
	}
}

// The contract's largest document passes. A larger packet ends its connection
// before the broker reads it whole.
func TestPacketLargerThanAnyDocumentIsRefused(t *testing.T) {
	url := startMosquitto(t)
	admin, fleetd := connect(t, url, "admin"), connect(t, url, "fleetd")
	blob := ns.Topic(schema.TopicBlob, strings.Repeat("ab", 32))
	admin.Subscribe(blob)
	fleetd.Retain(blob, strings.Repeat("x", schema.TopicOf(schema.TopicBlob).MaxBytes))
	admin.Expect(blob)
	body := append([]byte{0, byte(len(blob))}, blob...)
	_ = fleetd.Raw(brokertest.Packet(0x31, append(body, make([]byte, 513<<10)...))) // Mosquitto may close the connection while this is written
	fleetd.Lost()
}

// A retained document is not delivered once its sender has lost the right to write
// it.
func TestRetainedMessagesOfRevokedClientAreNotDelivered(t *testing.T) {
	m := startShipped(t, newCA(t))
	topic := ns.Topic(schema.TopicDesiredMode, "r1")
	connect(t, "mqtt://"+m.clientAddress, "fleetd").Retain(topic, `{"rev":1}`)
	countDelivered := func() int {
		c := connect(t, "mqtt://"+m.clientAddress, "admin")
		defer c.Close()
		c.Subscribe(topic)
		c.Ping()
		return len(c.Inbox(topic))
	}
	if n := countDelivered(); n != 1 {
		t.Fatalf("%d documents while fleetd may write it", n)
	}
	rules := filepath.Join(m.folder, "troupe.acl")
	text, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(text), "user fleetd\n")
	_, after, _ := strings.Cut(string(text), "\nuser obs")
	if err := os.WriteFile(rules, []byte(before+"user obs"+after), 0o600); err != nil {
		t.Fatal(err)
	}
	m.reload()
	for deadline := time.Now().Add(2 * brokertest.Timeout); countDelivered() != 0; {
		if time.Now().After(deadline) {
			t.Fatal("the document is still delivered")
		}
	}
}
