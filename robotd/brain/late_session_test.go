package brain

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// TestCommandHeldUpBeforeTheFirstHeartbeatExpires has the connection hang right after it was
// opened. fleetd's retained presence had come, a heartbeat had not.
func TestCommandHeldUpBeforeTheFirstHeartbeatExpires(t *testing.T) {
	for fleetd, want := range map[schema.PresenceState]schema.Status{
		schema.PresenceOnline: schema.StatusExpired,
		schema.PresenceLost:   schema.StatusSucceeded, // it sends no heartbeats, and the connection was just silent
	} {
		r := newRig(t)
		var last schema.Ack
		r.sent = func(p effect.Publish) {
			if p.Topic == schema.TopicAck {
				_ = json.Unmarshal(p.Payload, &last)
			}
		}
		r.boot()
		r.give(event.Connected{Session: "s1"})
		r.until(100 * time.Millisecond)
		r.give(event.FleetdPresence{Presence: schema.Presence{State: fleetd, Session: "fleetd"}})
		r.until(6 * time.Second)
		r.give(event.Command{Client: "op1", Group: "sys", Verb: "ping", Payload: []byte(`{"id":"k1","ttl_ms":1000}`)})
		r.until(r.now + time.Second)
		if last.Status != want {
			t.Errorf("fleetd is %s: %+v", fleetd, last)
		}
	}
}
