package robot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"troupe/broker/brokertest"
	"troupe/robotd/driver/sim"
	"troupe/schema"
)

// saveIdentity writes a new identity of r1 into its data directory.
func saveIdentity(t *testing.T, ca *brokertest.CA, data string) {
	t.Helper()
	folder := filepath.Join(data, "identity")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	ca.SaveClient(ca.IssueClient(schema.RoleRobot, "r1"), "cert.pem", "key.pem")
	for _, file := range []string{"cert.pem", "key.pem", "ca.pem"} {
		text, err := os.ReadFile(ca.Path(file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// An enrolled robot needs no password: it authenticates with the certificate in its data
// directory, and with a renewed one from the next connection on.
func TestRobotAuthenticatesWithTheIdentityInItsData(t *testing.T) {
	ca := brokertest.NewCA(t)
	b := brokertest.Start(t, ca.Configure)
	watcher := b.Client(t, "obs")
	presence := "troupe/v1/robots/r1/presence"
	watcher.Subscribe(presence)
	data := t.TempDir()
	saveIdentity(t, ca, data)
	run := func(change func(*Config)) (end func() error) {
		cfg := Config{ID: "r1", Broker: "mqtts://" + b.AddrOf("mqtts"), Data: data, Driver: sim.New(sim.Config{})}
		change(&cfg)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- Run(ctx, cfg) }()
		return func() error { cancel(); return <-done }
	}
	says := func(state string) func(brokertest.Message) bool {
		return func(m brokertest.Message) bool { return strings.Contains(string(m.Payload), `"state":"`+state+`"`) }
	}
	for range 2 {
		end := run(func(*Config) {})
		watcher.ExpectThat(presence, says("online"))
		if err := end(); err != nil {
			t.Fatal(err)
		}
		watcher.ExpectThat(presence, says("offline"))
		saveIdentity(t, ca, data)
	}

	// If other CAs are configured, the robot trusts only those.
	other := brokertest.NewCA(t)
	before := b.Status()["connections_without_handshake"]
	end := run(func(c *Config) { c.BrokerCA = other.Path("ca.pem") })
	watcher.Ping()
	for b.Status()["connections_without_handshake"] == before {
		watcher.Ping()
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if ms := watcher.Inbox(presence); len(ms) > 0 {
		t.Errorf("it sent messages to a broker that it does not trust: %v", ms)
	}
}
