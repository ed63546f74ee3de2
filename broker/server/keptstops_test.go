package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/server"
)

// stopsOf returns the payloads of the live stops that c received.
func stopsOf(c *brokertest.Client) []string {
	c.Ping()
	synctest.Wait()
	out := []string{}
	for _, m := range c.Inbox(anyButton) {
		out = append(out, string(m.Payload))
	}
	return out
}

// Robots and fleetd connect again some time after a broker has started. A stop of that time must reach them.
func TestLiveStopReachesRobotsAndFleetdThatConnectWithin30Seconds(t *testing.T) {
	for qos := range byte(3) {
		inBubble(t, func(t *testing.T, b *brokertest.Broker) {
			b.Client(t, "stop1").Send(brokertest.Message{Topic: buttonTopic, Payload: []byte(`{"id":"a1"}`), QoS: qos})
			time.Sleep(29 * time.Second)
			for _, name := range []string{"r1", "fleetd"} {
				c := b.Client(t, name)
				if got := stopsOf(c); len(got) != 0 {
					t.Errorf("QoS %d: %s received %q before it subscribed", qos, name, got)
				}
				c.Subscribe(anyButton)
				if m := c.Expect("#"); m.Topic != buttonTopic || string(m.Payload) != `{"id":"a1"}` || m.QoS != min(qos, 1) || m.Retain {
					t.Errorf("QoS %d: %s received %v", qos, name, m)
				}
				c.Subscribe(anyButton)
				if got := stopsOf(c); len(got) != 0 {
					t.Errorf("QoS %d: %s received %q again", qos, name, got)
				}
			}
			admin := b.Client(t, "admin")
			admin.Subscribe("troupe/v1/#")
			if got := stopsOf(admin); len(got) != 0 {
				t.Errorf("QoS %d: admin received %q", qos, got)
			}
			if n := b.Status()["stops_delivered_later"]; n != 2 {
				t.Errorf("QoS %d: %d counted", qos, n)
			}
			time.Sleep(time.Second)
			late := b.Client(t, "r2")
			late.Subscribe(anyButton)
			if got := stopsOf(late); len(got) != 0 {
				t.Errorf("QoS %d: after 30 s a robot received %q", qos, got)
			}
			for _, c := range server.Connected(b.Backend.(*server.Server)) {
				if c.Pending != 0 || c.Unacknowledged != 0 {
					t.Errorf("QoS %d: at the end %s has %d queued and %d unacknowledged deliveries", qos, c.ClientID, c.Pending, c.Unacknowledged)
				}
			}
		})
	}
}

// A stop without an id that was released meanwhile would be a new one for the robot.
func TestLiveStopIsNotRepeatedToARobotThatAcknowledgedIt(t *testing.T) {
	for qos := range byte(3) {
		inBubble(t, func(t *testing.T, b *brokertest.Broker) {
			robot, button := b.Client(t, "r1"), b.Client(t, "stop1")
			robot.Subscribe(anyButton)
			button.Send(brokertest.Message{Topic: buttonTopic, QoS: qos})
			if got := stopsOf(robot); len(got) != 1 {
				t.Fatalf("QoS %d: received %q", qos, got)
			}
			robot.Cut()
			again := b.Client(t, "r1")
			again.Subscribe(anyButton)
			if got := stopsOf(again); len(got) != 0 {
				t.Errorf("QoS %d: received %q again", qos, got)
			}
			later := b.Client(t, "r2")
			later.Subscribe(anyButton)
			if got := stopsOf(later); len(got) != 1 {
				t.Fatalf("QoS %d: another robot received %q", qos, got)
			}
			later.Cut()
			later = b.Client(t, "r2")
			later.Subscribe(anyButton)
			if got := stopsOf(later); len(got) != 0 {
				t.Errorf("QoS %d: another robot received %q again", qos, got)
			}
		})
	}
}

// The connection of a robot may have been half-open when the stop was sent.
func TestLiveStopIsRepeatedToARobotThatDidNotAcknowledgeIt(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		robot, button := b.Client(t, "r1"), b.Client(t, "stop1")
		robot.Subscribe(anyButton)
		robot.StopAcknowledging()
		button.Publish(buttonTopic, "1")
		button.Publish(buttonTopic, "2")
		robot.Subscribe(anyButton) // robots do so every minute
		if got := fmt.Sprint(stopsOf(robot)); got != "[1 2]" {
			t.Fatalf("received %v", got)
		}
		for range 2 {
			again := b.Client(t, "r1")
			again.StopAcknowledging()
			again.Subscribe(anyButton)
			again.Subscribe(anyButton)
			if got := fmt.Sprint(stopsOf(again)); got != "[1 2]" {
				t.Errorf("after a reconnect: received %v", got)
			}
		}
	})
}

// A button sends the same again if nobody answers; each of these is another stop.
// An instance that gets a stop without an id after another one has it, and after its release, would latch it again.
func TestLiveStopIsNotRepeatedToAnotherInstanceOfFleetd(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		b.Client(t, "stop1").Publish(buttonTopic, "")
		first := b.Client(t, "fleetd-a")
		first.Subscribe(anyButton)
		if got := stopsOf(first); len(got) != 1 {
			t.Fatalf("the first instance received %q", got)
		}
		second := b.Client(t, "fleetd-b")
		second.Subscribe(anyButton)
		if got := stopsOf(second); len(got) != 0 {
			t.Errorf("the second instance received %q", got)
		}
	})
}

func TestLiveStopThatIsSentAgainIsKeptOnceAndAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		robot, button := b.Client(t, "r1"), b.Client(t, "stop1")
		robot.Subscribe(anyButton)
		button.Publish(buttonTopic, "")
		robot.Expect(anyButton)
		robot.Ping()
		robot.Close()
		for range 3 {
			time.Sleep(20 * time.Second)
			button.Publish(buttonTopic, "")
		}
		for _, name := range []string{"r1", "r2"} {
			c := b.Client(t, name)
			c.Subscribe(anyButton)
			if got := stopsOf(c); len(got) != 1 {
				t.Errorf("%s received %q", name, got)
			}
		}
	}, withoutTimeouts)
}

// fleetd acknowledges over one connection, and publishes its documents over another.
func TestLiveStopIsKeptForAUserNotForAConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		b.Client(t, "stop1").Publish(buttonTopic, "")
		for i, id := range []string{"fleetd.a", "fleetd.lead", "fleetd"} {
			c := b.Client(t, "fleetd", brokertest.WithID(id))
			c.Subscribe(anyButton)
			if got := stopsOf(c); len(got) != max(0, 1-i) {
				t.Errorf("connection %d as %s received %q", i, id, got)
			}
			c.Close()
		}
	})
}

// The packet ids of both directions are in one map of the library.
func TestAcknowledgementOfAnotherDeliveryIsNotThatOfALiveStop(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		robot, op, button := b.Client(t, "r1"), b.Client(t, "op1"), b.Client(t, "stop1")
		robot.Subscribe(anyButton, r1+"cmd/#")
		op.Publish(r1+"cmd/op1/mode/set", "ato")
		robot.StopAcknowledging()
		button.Publish(buttonTopic, "")
		op.Publish(r1+"cmd/op1/mode/set", "ato")
		synctest.Wait()
		_ = robot.Raw([]byte{0x40, 2, 0, 3}) // PUBACK of the second command
		_ = robot.Raw([]byte{0x40, 2, 0, 1}) // PUBACK of the first again
		robot.Cut()
		again := b.Client(t, "r1")
		again.Subscribe(anyButton)
		if got := stopsOf(again); len(got) != 1 {
			t.Errorf("received %q", got)
		}
	})
}

func TestNewestLiveStopsAreKept(t *testing.T) {
	for what, c := range map[string]struct{ size, sent, kept int }{
		"256 stops":              {1, 262, 256},
		"1 MiB of them":          {64 << 10, 20, 16},
		"one that has 256 KiB":   {256 << 10, 1, 1},
		"four that have 256 KiB": {256 << 10, 9, 4},
		"two that have 400 KiB":  {400 << 10, 3, 2},
	} {
		inBubble(t, func(t *testing.T, b *brokertest.Broker) {
			button := b.Client(t, "stop1")
			for n := range c.sent {
				payload := fmt.Appendf(nil, "%d %s", n, strings.Repeat(" ", c.size-min(c.size, 8)))
				button.Send(brokertest.Message{Topic: buttonTopic, Payload: payload})
			}
			robot := b.Client(t, "r1")
			robot.Subscribe(anyButton)
			got := stopsOf(robot)
			for i := range got {
				got[i], _, _ = strings.Cut(got[i], " ")
			}
			if len(got) != c.kept || got[0] != fmt.Sprint(c.sent-c.kept) || got[c.kept-1] != fmt.Sprint(c.sent-1) {
				t.Errorf("%s: %q arrive", what, got)
			}
			if n := b.Status()["stops_kept_no_longer"]; n != int64(c.sent-c.kept) {
				t.Errorf("%s: %d dropped ones are counted", what, n)
			}
		}, withoutTimeouts)
	}
}

// A robot that connects after the release would otherwise have to be released once more.
func TestLiveStopThatFleetdReleasedIsNotKept(t *testing.T) {
	for what, c := range map[string]struct {
		from, topic, id string
		before          bool // fleetd receives the stop
		want            []string
	}{
		"released":                    {"fleetd", r1 + "desired/stop", "stop1", true, []string{"again"}},
		"released for all robots":     {"fleetd", "troupe/v1/fleet/stop", "stop1", true, []string{"again"}},
		"another stop is released":    {"fleetd", r1 + "desired/stop", "stop2", true, []string{"", "again"}},
		"fleetd did not receive it":   {"fleetd", r1 + "desired/stop", "stop1", false, []string{"", "again"}},
		"the document is of an admin": {"admin", "troupe/v1/fleet/stop", "stop1", true, []string{"", "again"}},
	} {
		inBubble(t, func(t *testing.T, b *brokertest.Broker) {
			button, sender := b.Client(t, "stop1"), b.Client(t, c.from, brokertest.WithID(c.from+".lead"))
			if c.before {
				b.Client(t, c.from).Subscribe(anyButton)
			}
			button.Publish(buttonTopic, "")
			synctest.Wait()
			sender.Retain(c.topic, fmt.Sprintf(`{"rev":2,"released":[{"id":%q,"by":"ann"}]}`, c.id))
			button.Publish(buttonTopic, "again")
			robot := b.Client(t, "r1")
			robot.Subscribe(anyButton)
			if got := stopsOf(robot); !slices.Equal(got, c.want) {
				t.Errorf("%s: the robot received %q", what, got)
			}
		})
	}
}

func TestRefusedLiveStopIsNotKept(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		b.Client(t, "obs").Publish(buttonTopic, "")
		b.Client(t, "op1").Publish(buttonTopic, "")
		b.Client(t, "stop1").Publish(r1+"cmd/stop1/safety/stop", "") // only live stops are kept
		robot := b.Client(t, "r1")
		robot.Subscribe(anyButton, r1+"cmd/#")
		robot.Ping()
		synctest.Wait()
		if got := robot.Inbox("#"); len(got) != 0 {
			t.Errorf("received %v", got)
		}
	})
}

// The bus of a robot has no fleetd and no robots.
func TestBusKeepsNoMessageOfAnAdapter(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		b.Client(t, "a").Publish(buttonTopic, "")
		c := b.Client(t, "b")
		c.TrySubscribe(1, anyButton)
		if got := stopsOf(c); len(got) != 0 {
			t.Errorf("received %q", got)
		}
	}, brokertest.AsBus)
}

// The will of a panel is a live stop, too.
func TestLiveStopOfAWillIsKept(t *testing.T) {
	inBubble(t, func(t *testing.T, b *brokertest.Broker) {
		admin := b.Client(t, "admin")
		admin.Subscribe(anyButton)
		will := brokertest.Message{Topic: "troupe/v1/fleet/cmd/op1/stop", QoS: 1, Payload: []byte("gone")}
		panel := b.Client(t, "op1", brokertest.WithWill(will))
		panel.Cut()
		synctest.Wait()
		if got := fmt.Sprint(stopsOf(admin)); got != "[gone]" {
			t.Errorf("admin received %v", got)
		}
		robot := b.Client(t, "r1")
		robot.Subscribe(anyButton)
		if got := fmt.Sprint(stopsOf(robot)); got != "[gone]" {
			t.Errorf("the robot received %v", got)
		}
		if n := b.Status()["wills_sent"]; n != 1 {
			t.Errorf("%d wills are counted", n)
		}
	})
}
