package server

import (
	"log/slog"
	"testing"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"troupe/broker/access"
	"troupe/schema"
)

// A forbidden will that got past the check of CONNECT is not sent either.
func TestWillIsCheckedAgainWhenSent(t *testing.T) {
	cfg, err := Config{Dev: true}.complete()
	if err != nil {
		t.Fatal(err)
	}
	srv := mqtt.New(&mqtt.Options{Logger: slog.New(slog.DiscardHandler)})
	g := newGuard(cfg, &fileWatcher{}, srv, &counters{})
	ours, theirs := newPipe()
	defer theirs.Close()
	nc := &conn{Conn: ours, raw: ours}
	id := access.Identity{Name: "r1", ClientID: "r1", Role: schema.RoleRobot}
	nc.client.Store(&client{Identity: id, rights: access.Compile(id, cfg.Namespace)})
	cl := srv.NewClient(nc, "tcp", "r1", false)

	const lost = `{"state":"lost","session":"s","boot":"b"}`
	for _, c := range []struct {
		topic, payload string
		retain, sent   bool
	}{
		{"troupe/v1/robots/r1/presence", lost, true, true},
		{"troupe/v1/robots/r1/presence", lost, false, false},
		{"troupe/v1/robots/r1/presence", `{"state":"online","session":"s","boot":"b"}`, true, false},
		{"troupe/v1/robots/r2/presence", lost, true, false},
		{"troupe/v1/robots/r2/cmd/r1/mode/set", "ato", false, false},
		{"troupe/v1/robots/r2/cmd/r1/mode/set", "ato", true, false},
		{"troupe/v1/robots/#", "", true, false},
		{"$SYS/broker/version", "x", true, false},
	} {
		will, err := g.OnWill(cl, mqtt.Will{Flag: 1, TopicName: c.topic, Payload: []byte(c.payload), Retain: c.retain, Qos: 1})
		if sent := will.Flag != 0; err != nil || sent != c.sent {
			t.Errorf("%s %s (retain %v): sent %v, %v", c.topic, c.payload, c.retain, sent, err)
		}
		if c.sent {
			g.OnRetainMessage(cl, packets.Packet{}, 0) // releases the lock on retained documents
		}
	}
}
