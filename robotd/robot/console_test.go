package robot

import (
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/schema"
	"troupe/schema/bubble"
)

// Every robot receives the heartbeats of fleetd; only one receives those of the console
// beside it, because a person at r1 does not see r2.
func TestConsoleKeepsUpTheLinkOfItsRobotOnly(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.boot()
		s.mode(schema.ModeMnl)
		end, done := s.end, s.done
		s.boot(func(c *Config) { c.ID, c.Data = "r2", t.TempDir() })
		console := s.broker.Client(t, "console-r1")
		linkOf := func(rid string, holds func(schema.StateLink) bool) {
			s.Helper()
			s.op.ExpectThat("troupe/v1/robots/"+rid+"/state", func(m brokertest.Message) bool {
				d, _ := schema.Decode[schema.State](m.Payload)
				return holds(d.Link)
			})
		}
		beat := func(from *brokertest.Client, topic string, ts schema.Time, n int64) {
			b, err := schema.Encode(&schema.FleetHeartbeat{TS: ts, Session: "s", Seq: n})
			if err != nil {
				t.Fatal(err)
			}
			from.Send(brokertest.Message{Topic: "troupe/v1/" + topic, Payload: b})
		}
		time.Sleep(time.Second) // until both listen
		beat(s.fleetd, "fleet/heartbeat/fleetd", wallNow(), 1)
		for _, rid := range []string{"r1", "r2"} {
			linkOf(rid, func(l schema.StateLink) bool { return l.State == schema.LinkUp && l.Client == "fleetd" })
		}
		for n := range int64(20) {
			anHourOff := wallNow().Add(time.Hour) // has no effect: robots do not take the time from consoles
			for _, topic := range []string{"robots/r1/heartbeat/console-r1", "robots/r2/heartbeat/console-r1", "fleet/heartbeat/console-r1"} {
				beat(console, topic, anHourOff, n+1)
			}
			time.Sleep(time.Second)
		}
		newest := map[string]schema.State{}
		for _, m := range s.op.Inbox("troupe/v1/robots/+/state") {
			newest[m.Topic], _ = schema.Decode[schema.State](m.Payload)
		}
		if d := newest["troupe/v1/robots/r1/state"]; d.Link.State != schema.LinkUp || d.Link.Client != "console-r1" ||
			d.Mode.Active != schema.ModeMnl || len(d.Alerts) > 0 {
			t.Errorf("r1 with a console: %+v in %s, alerts %+v", d.Link, d.Mode.Active, d.Alerts)
		}
		if d := newest["troupe/v1/robots/r2/state"]; d.Link.State != schema.LinkLost || d.Link.Client != "fleetd" {
			t.Errorf("r2 without a console: %+v", d.Link)
		}
		console.Close()
		linkOf("r1", func(l schema.StateLink) bool { return l.State == schema.LinkLost })
		s.shutDown()
		s.end, s.done = end, done
		s.shutDown()
	})
}
