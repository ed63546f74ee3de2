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

// A robot that was enrolled needs no password: it shows what lies in its data, and
// what lies there newly from the next connection on.
func TestARobotShowsTheIdentityThatItsDataHolds(t *testing.T) {
	ca := brokertest.NewCA(t)
	b := brokertest.Start(t, ca.Broker)
	watcher := b.Client(t, "obs")
	presence := "troupe/v1/robots/r1/presence"
	watcher.Subscribe(presence)
	data := t.TempDir()
	folder := filepath.Join(data, "identity")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	give := func() {
		t.Helper()
		ca.SaveClient(ca.Client(schema.RoleRobot, "r1"), "cert.pem", "key.pem")
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
	give()
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
		give()
	}

	// Whom else to believe may be said, and then nobody else is.
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
		t.Errorf("it spoke to a broker that it could not believe: %v", ms)
	}
}
