package robot

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/robotd/driver"
	"troupe/robotd/driver/sim"
	"troupe/schema"
	"troupe/schema/bubble"
)

// presence waits for a presence document that holds.
func (s *stand) presence(what string, holds func(schema.Presence) bool) schema.Presence {
	s.Helper()
	var p schema.Presence
	s.op.ExpectThat("troupe/v1/robots/r1/presence", func(m brokertest.Message) bool {
		p, _ = schema.Decode[schema.Presence](m.Payload)
		return holds(p)
	})
	return p
}

func TestAllDocumentsArePublishedInOrderAtEachConnect(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		line := &brokertest.Cable{To: s.broker.Dial}
		s.boot(func(c *Config) { c.Dial = line.Dial })
		s.mode(schema.ModeMnl)
		time.Sleep(time.Second)

		// The robot's messages get lost, so a final answer is pending.
		s.presence("online", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })
		line.Swallow()
		s.op.Publish("troupe/v1/robots/r1/cmd/op1/mode/set", `{"id":"pending","args":{"mode":"str"}}`)
		time.Sleep(time.Second)
		line.Cut()
		s.presence("lost", func(p schema.Presence) bool { return p.State == schema.PresenceLost })
		time.Sleep(20 * time.Second)
		admin := s.broker.Client(t, "admin")
		admin.Subscribe("troupe/v1/robots/r1/#")
		admin.Inbox("#")
		line.Mend()
		s.presence("online", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })
		time.Sleep(5 * time.Second)

		var order []string
		var pending schema.Ack
		for _, m := range admin.Inbox("#") {
			if m.Retain {
				continue // retained earlier
			}
			topic := strings.TrimPrefix(m.Topic, "troupe/v1/robots/r1/")
			if topic == "ack/op1" {
				pending, _ = schema.Decode[schema.Ack](m.Payload)
			}
			if strings.HasPrefix(topic, "reported/") { // the fleet's desired documents, in any order
				topic = "reported"
			}
			if topic != "heartbeat" && topic != "event" && !slices.Contains(order, topic) {
				order = append(order, topic)
			}
		}
		if got, want := strings.Join(order, " "), "presence caps modes acts state reported ack/op1"; got != want {
			t.Errorf("published in the order %s, want %s", got, want)
		}
		if pending.ID == nil || *pending.ID != "pending" || !pending.Status.Final() {
			t.Errorf("the pending answer is %+v", pending)
		}
		s.shutDown()
	})
}

func TestConfirmedAnswersAreNotRepeatedInTheNextSession(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		line := &brokertest.Cable{To: s.broker.Dial}
		s.boot(func(c *Config) { c.Dial = line.Dial })
		s.mode(schema.ModeMnl)
		s.presence("online", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })
		for _, verb := range []string{"sys/ping", "safety/stop", "safety/halt"} {
			s.must(verb, "")
		}
		time.Sleep(time.Second)
		s.op.Inbox("troupe/v1/robots/r1/ack/op1")
		line.Cut()
		s.presence("lost", func(p schema.Presence) bool { return p.State == schema.PresenceLost })
		line.Mend()
		s.presence("online", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })
		time.Sleep(5 * time.Second)
		for _, m := range s.op.Inbox("troupe/v1/robots/r1/ack/op1") {
			t.Errorf("the next session repeats %s", m.Payload)
		}
		s.shutDown()
	})
}

func TestNothingFromAnOutageIsReplayed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		line := &brokertest.Cable{To: s.broker.Dial}
		s.boot(func(c *Config) { c.Dial = line.Dial })
		s.mode(schema.ModeMnl)
		s.presence("online", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })
		line.Cut()
		s.presence("lost", func(p schema.Presence) bool { return p.State == schema.PresenceLost })
		for range 20 { // states, events and heartbeats that no client receives
			s.body.Press("help")
			time.Sleep(time.Second)
		}
		admin := s.broker.Client(t, "admin")
		admin.Subscribe("troupe/v1/robots/r1/#")
		admin.Inbox("#")
		back := schema.TimeOf(time.Now())
		line.Mend()
		s.presence("online", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })
		time.Sleep(5 * time.Second)
		published := map[string]int{}
		for _, m := range admin.Inbox("#") {
			if m.Retain {
				continue // retained earlier
			}
			published[strings.TrimPrefix(m.Topic, "troupe/v1/robots/r1/")]++
			if ts, _, ok := strings.Cut(string(m.Payload), `"ts":"`); ok {
				at := string(m.Payload)[len(ts)+len(`"ts":"`):]
				at, _, _ = strings.Cut(at, `"`)
				if when, err := time.Parse(time.RFC3339, at); err != nil || schema.TimeOf(when) < back {
					t.Errorf("%s of %s was published after %s", m.Topic, at, back)
				}
			}
		}
		if published["state"] == 0 || published["state"] > 3 || published["caps"] != 1 || published["event"] > 2 {
			t.Errorf("published after the outage: %v", published)
		}
		s.shutDown()
	})
}

func TestRobotThatEndsBeforeItsEchoPublishesOffline(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		line := &brokertest.Cable{To: s.broker.Dial}
		line.Drop(func(topic string) bool { return strings.HasSuffix(topic, "/presence") })
		s.boot(func(c *Config) { c.Dial = line.Dial })
		online := s.presence("online", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })
		s.shutDown() // well before the echo is given up
		s.presence("offline", func(p schema.Presence) bool {
			if p.State == schema.PresenceLost {
				t.Errorf("its will was sent: %+v", p)
			}
			return p.State == schema.PresenceOffline && p.Session == online.Session
		})
		time.Sleep(time.Minute)
		for _, m := range s.op.Inbox("troupe/v1/robots/r1/presence") {
			t.Errorf("after the last presence: %v", m)
		}
	})
}

func TestOrderlyEndPublishesTheWakeTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		wake, err := ParseWake("08:30")
		if err != nil {
			t.Fatal(err)
		}
		s.boot(func(c *Config) { c.Wake = wake })
		s.mode(schema.ModeMnl)
		s.shutDown()
		p := s.presence("sleeping", func(p schema.Presence) bool { return p.State == schema.PresenceSleeping })
		at := p.WakeAt.Time().Local()
		if at.Hour() != 8 || at.Minute() != 30 || !at.After(time.Now()) || at.After(time.Now().Add(25*time.Hour)) {
			t.Errorf("it says that it wakes up at %v", at)
		}
	})
}

func TestNextWakeTime(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 28, 18, 0, 0, 0, zone) // the clocks change in the night
	for text, want := range map[string]string{
		"":                          "",
		"08:30":                     "2026-03-29T08:30:00+02:00",
		"18:00":                     "2026-03-29T18:00:00+02:00", // now is over
		"18:01":                     "2026-03-28T18:01:00+01:00",
		"2026-05-01T07:00:00+02:00": "2026-05-01T07:00:00+02:00",
		"2026-03-28T17:00:00Z":      "", // now
		"2020-01-01T00:00:00Z":      "",
	} {
		w, err := ParseWake(text)
		if err != nil {
			t.Fatal(err)
		}
		at, ok := w.Next(now)
		got := ""
		if ok {
			got = at.In(zone).Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q after %v is %q, want %q", text, now, got, want)
		}
	}
	for _, text := range []string{"8 o'clock", "25:00", "08:30:00", "2026-05-01", "tomorrow"} {
		if _, err := ParseWake(text); err == nil || !strings.Contains(err.Error(), "08:30") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := load(t, "", "--id", "r1", "--wake-at", "noon"); err == nil || !strings.Contains(err.Error(), "wake_at") {
		t.Errorf("a wrong setting: %v", err)
	}
	if cfg, err := load(t, "wake_at: \"08:30\"\nid: r1\n"); err != nil || cfg.Wake == (Wake{}) {
		t.Errorf("%+v %v", cfg.Wake, err)
	}
}

// stuck is a body whose driver hangs in the call that allows motion.
type stuck struct {
	driver.Driver
	until chan struct{}
}

func (b *stuck) Order(o driver.Order) {
	if o == driver.ToRun {
		<-b.until
	}
	b.Driver.Order(o)
}

func TestHungLoopIsReportedByItsConnection(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		hold := make(chan struct{})
		s.boot(func(c *Config) { c.Driver = &stuck{Driver: sim.New(sim.Config{}), until: hold} })
		s.mode(schema.ModeMnl)
		online := s.presence("online", func(p schema.Presence) bool { return p.State == schema.PresenceOnline })
		time.Sleep(time.Minute)
		for _, m := range s.op.Inbox("troupe/v1/robots/r1/presence") {
			if strings.Contains(string(m.Payload), schema.PresenceStalled) {
				t.Errorf("a loop that runs is reported as stalled: %v", m)
			}
		}
		admin := s.broker.Client(t, "admin")
		admin.Subscribe("troupe/v1/robots/r1/heartbeat")
		s.op.Publish("troupe/v1/robots/r1/cmd/op1/safety/enable", `{}`)
		s.presence("stalled", func(p schema.Presence) bool {
			return p.State == schema.PresenceOnline && p.Reason == schema.PresenceStalled && p.Session == online.Session
		})
		admin.Inbox("#")
		for range 6 {
			time.Sleep(10 * time.Second)
			s.op.Ping()
			admin.Ping()
		}
		if beats := admin.Inbox("#"); len(beats) > 0 {
			t.Errorf("a loop that hangs makes heartbeats: %v", beats)
		}
		for _, m := range s.op.Inbox("troupe/v1/robots/r1/presence") {
			if p, _ := schema.Decode[schema.Presence](m.Payload); p.State != schema.PresenceOnline || p.Session != online.Session {
				t.Errorf("the connection did not outlive the loop: %+v", p)
			}
		}
		close(hold)
		s.presence("well again", func(p schema.Presence) bool {
			return p.State == schema.PresenceOnline && p.Reason == "" && p.Session == online.Session
		})
		admin.Expect("troupe/v1/robots/r1/heartbeat")
		s.shutDown()
	})
}

// TestTwoRobotsWithOneNameBackOffAndRaiseAlerts boots a robot and its clone, with
// a disk of its own.
func TestTwoRobotsWithOneNameBackOffAndRaiseAlerts(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.boot()
		end, done := s.end, s.done
		s.dir = t.TempDir()
		s.boot()
		boots := map[string]bool{}
		for began := time.Now(); len(boots) < 2; time.Sleep(5 * time.Second) {
			if time.Since(began) > 2*time.Minute {
				t.Fatalf("%d of two robots with the same name report it", len(boots))
			}
			s.op.Ping()
			for _, m := range s.op.Inbox("troupe/v1/robots/r1/state") {
				d, _ := schema.Decode[schema.State](m.Payload)
				if slices.ContainsFunc(d.Alerts, func(a schema.Alert) bool { return a.Type == "duplicate_identity" && a.Level == schema.AlertError }) {
					boots[d.Boot] = true
				}
			}
		}
		// When the clone ends, the alert ends too.
		s.shutDown()
		s.seen = 0
		for began := time.Now(); ; time.Sleep(5 * time.Second) {
			s.op.Ping()
			all := s.op.Inbox("troupe/v1/robots/r1/state")
			if len(all) > 0 {
				d, _ := schema.Decode[schema.State](all[len(all)-1].Payload)
				if len(d.Alerts) == 0 {
					break
				}
			}
			if time.Since(began) > 20*time.Minute {
				t.Fatal("the alert stays though the clone is gone")
			}
		}
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestStateShowsBudgetPolicyAndLastOutageOfTheLink(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		s.boot()
		s.mode(schema.ModeMnl)
		beat := func(n int64) {
			b, _ := schema.Encode(&schema.FleetHeartbeat{TS: wallNow(), Session: "fleetd", Seq: n})
			s.fleetd.Send(brokertest.Message{Topic: "troupe/v1/fleet/heartbeat/fleetd", Payload: b})
		}
		beat(1)
		d := s.state("up", func(d schema.State) bool { return d.Link.State == schema.LinkUp })
		if d.Link.BudgetMS != 5000 || d.Link.Policy != schema.LinkLossSafe || d.Link.LastOutage != nil {
			t.Errorf("at first: %+v", d.Link)
		}
		d = s.state("degraded", func(d schema.State) bool { return d.Link.State == schema.LinkDegraded })
		if d.Link.BudgetMS > 3000 || d.Link.BudgetMS < 2500 {
			t.Errorf("after two seconds of silence: %+v", d.Link)
		}
		d = s.state("lost, and safe", func(d schema.State) bool { return d.Mode.Active == schema.ModeSafe })
		if o := d.Link.LastOutage; d.Link.BudgetMS != 0 || o == nil || o.To != 0 || d.Link.Policy != schema.LinkLossContinue {
			t.Errorf("without heartbeats: %+v", d.Link)
		}
		time.Sleep(10 * time.Second)
		beat(2)
		d = s.state("back", func(d schema.State) bool { return d.Link.State == schema.LinkDegraded })
		if o := d.Link.LastOutage; o == nil || o.To.Sub(o.From) < 14*time.Second || o.To.Sub(o.From) > 17*time.Second ||
			d.Mode.Active != schema.ModeSafe {
			t.Errorf("back again: %+v, %+v", d.Link, d.Mode.Active)
		}
		s.shutDown()
	})
}

// A broker may lose one subscription and deliver everything else: heartbeats, the robot's
// own presence. Such a robot looks healthy, but a stop would not reach it.
func TestLostCommandSubscriptionIsRenewed(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s := newStand(t)
		line := &brokertest.Cable{To: s.broker.Dial}
		s.boot(func(c *Config) { c.Dial = line.Dial })
		s.mode(schema.ModeMnl)
		session := s.presence("online", func(p schema.Presence) bool { return p.State == schema.PresenceOnline }).Session
		held := `{"rev":1,"fleet_id":"fleetd","stops":[{"id":"s1","level":"stop","by":"ann","since":"2026-01-01T00:00:00.000Z"}],"ts":"2026-01-01T00:00:00.000Z"}`
		for _, filter := range []string{"troupe/v1/robots/r1/cmd/+/+/+", "troupe/v1/robots/r1/desired/stop"} {
			line.Forget(filter)
		}
		synctest.Wait()
		s.fleetd.Retain("troupe/v1/robots/r1/desired/stop", held)
		s.op.Publish("troupe/v1/robots/r1/cmd/op1/sys/ping", "lost")
		synctest.Wait()
		if acks := s.op.Inbox("troupe/v1/robots/r1/ack/op1"); len(acks) > 0 {
			t.Fatalf("the broker still has the subscription: %v", acks)
		}
		time.Sleep(time.Minute)
		s.state("the stop", func(d schema.State) bool { return len(d.Safety.Latches) == 1 && d.Safety.Latches[0].ID == "s1" })
		s.must("sys/ping", "")
		s.op.Inbox("troupe/v1/robots/r1/#")
		time.Sleep(5 * time.Minute)
		for _, m := range s.op.Inbox("troupe/v1/robots/r1/#") {
			if p, _ := schema.Decode[schema.Presence](m.Payload); p.Session != "" && p.Session != session {
				t.Errorf("it made another connection: %v", m)
			}
			if strings.Contains(m.Topic, "/reported/") || strings.Contains(m.Topic, "/ack/") {
				t.Errorf("the renewed subscription makes it publish %v", m)
			}
		}
		s.shutDown()
	})
}
