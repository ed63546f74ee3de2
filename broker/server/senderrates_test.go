package server_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/schema"
	"troupe/schema/bubble"
)

// packet is a PUBLISH of QoS 0.
func packet(topic, payload string) []byte {
	return brokertest.Packet(0x30, append(append([]byte{0, byte(len(topic))}, topic...), payload...))
}

// flood sends n packets at once.
func flood(t *testing.T, c *brokertest.Client, n int, packet func(i int) []byte) {
	t.Helper()
	var raw []byte
	for i := range n {
		raw = append(raw, packet(i)...)
	}
	if err := c.Raw(raw); err != nil {
		t.Fatal(err)
	}
	c.Ping()
}

// inFakeTime runs f in fake time, in which sending takes no time.
func inFakeTime(t *testing.T, f func(t *testing.T, b *brokertest.Broker)) {
	bubble.Test(t, func(t *testing.T) { f(t, start(t, brokertest.InProcess)) })
}

func TestCommandFloodIsLimitedAndStopArrives(t *testing.T) {
	inFakeTime(t, func(t *testing.T, b *brokertest.Broker) {
		robot, op := b.Client(t, "r1"), b.Client(t, "op1")
		robot.Subscribe(r1 + "cmd/#")
		op.Subscribe(r1+"ack/op1", "troupe/v1/clients/op1/notice")
		flood(t, op, 1000, func(int) []byte { return packet(r1+"cmd/op1/auto/pause", "{}") })
		synctest.Wait()
		if got := len(robot.Inbox("#")); got != 40 {
			t.Errorf("the robot receives %d of 1000 commands, want 40", got)
		}
		if n := notice(t, op); n.Reason != schema.ReasonOverloaded ||
			!strings.Contains(n.Detail, "20 commands per second to one robot, or to all robots beyond 256;") {
			t.Errorf("notice %+v", n)
		}
		admin := b.Client(t, "admin")
		admin.Subscribe("troupe/v1/clients/admin/notice")
		flood(t, admin, 100, func(int) []byte { return packet(r1+"cmd/admin/auto/pause", "{}") })
		if n := notice(t, admin); !strings.Contains(n.Detail, "beyond 20000;") {
			t.Errorf("notice to an administrator %+v", n)
		}
		// The robot's answers are not limited.
		flood(t, robot, 1000, func(int) []byte { return packet(r1+"ack/op1", "{}") })
		op.Publish(r1+"cmd/op1/safety/stop", "")
		robot.Expect(r1 + "cmd/op1/safety/stop")
		synctest.Wait()
		if got := len(op.Inbox(r1 + "ack/op1")); got != 1000 {
			t.Errorf("%d of 1000 answers came", got)
		}
		if n := b.Status()["clients_cut_for_abuse"]; n != 0 {
			t.Errorf("%d clients cut", n)
		}
		time.Sleep(time.Second)
		op.Publish(r1+"cmd/op1/sys/ping", "later")
		robot.Expect(r1 + "cmd/op1/sys/ping")
	})
}

func TestCommandRateSpansConnectionsOfASender(t *testing.T) {
	inFakeTime(t, func(t *testing.T, b *brokertest.Broker) {
		robot := b.Client(t, "r1")
		robot.Subscribe(r1 + "cmd/#")
		for i := range 5 {
			c := b.Client(t, "op1", brokertest.WithID(fmt.Sprint("op1.", i)))
			flood(t, c, 20, func(int) []byte { return packet(r1+"cmd/op1/sys/ping", "") })
			c.Close()
		}
		synctest.Wait()
		if got := len(robot.Inbox("#")); got != 40 {
			t.Errorf("the robot receives %d of 100 commands, want 40", got)
		}
	})
}

func TestCommandRateOfFleetdIsPerRobot(t *testing.T) {
	inFakeTime(t, func(t *testing.T, b *brokertest.Broker) {
		fleetd, watcher := b.Client(t, "fleetd"), b.Client(t, "admin")
		watcher.Subscribe("troupe/v1/robots/+/cmd/#")
		for i := range 1500 {
			topic := fmt.Sprintf("troupe/v1/robots/r%d/cmd/fleetd/sys/ping", i)
			flood(t, fleetd, 3, func(int) []byte { return packet(topic, "") })
		}
		flood(t, fleetd, 100, func(int) []byte { return packet(r1+"cmd/fleetd/sys/ping", "") })
		synctest.Wait()
		if got := len(watcher.Inbox(r1 + "cmd/#")); got != 40 {
			t.Errorf("robot r1 receives %d of 103 commands, want 40", got)
		}
		if got := len(watcher.Inbox("#")); got != 3*1499 {
			t.Errorf("the others receive %d commands, want %d", got, 3*1499)
		}
	})
}

func TestCommandRateIsPerRobot(t *testing.T) {
	inFakeTime(t, func(t *testing.T, b *brokertest.Broker) {
		op, watcher := b.Client(t, "op1"), b.Client(t, "admin")
		watcher.Subscribe("troupe/v1/robots/+/cmd/#")
		for _, rid := range []string{"r1", "r2"} {
			flood(t, op, 200, func(int) []byte { return packet("troupe/v1/robots/"+rid+"/cmd/op1/sys/ping", "") })
		}
		synctest.Wait()
		for _, rid := range []string{"r1", "r2"} {
			if got := len(watcher.Inbox("troupe/v1/robots/" + rid + "/cmd/#")); got != 40 {
				t.Errorf("%s receives %d of 200 commands, want 40", rid, got)
			}
		}
	})
}

// A client can make up robot names. All robots beyond the maximum share one limit, but
// stops reach each of them.
func TestCommandsToManyRobotsShareARateAndStopsArrive(t *testing.T) {
	inFakeTime(t, func(t *testing.T, b *brokertest.Broker) {
		op, watcher := b.Client(t, "op1"), b.Client(t, "admin")
		watcher.Subscribe("troupe/v1/robots/+/cmd/#")
		to := func(i int, verb string) string { return fmt.Sprintf("troupe/v1/robots/x%d/cmd/op1/%s", i, verb) }
		for range 3 {
			flood(t, op, 1000, func(i int) []byte { return packet(to(i, "sys/ping"), "") })
		}
		flood(t, op, 1000, func(i int) []byte { return packet(to(i, "safety/stop"), "") })
		synctest.Wait()
		commands, stops := len(watcher.Inbox("troupe/v1/robots/+/cmd/op1/sys/ping")), len(watcher.Inbox("troupe/v1/robots/+/cmd/op1/safety/stop"))
		if commands != 3*256+40 || stops != 1000 {
			t.Errorf("%d of 3000 commands to 1000 robots were delivered, want 3 to each of 256 and 40 to all others; %d of 1000 stops", commands,
				stops)
		}
		time.Sleep(time.Second)
		flood(t, op, 256, func(i int) []byte { return packet(to(1000+i, "sys/ping"), "") })
		synctest.Wait()
		if got := len(watcher.Inbox("#")); got != 256 {
			t.Errorf("a second later %d of 256 commands to other robots were delivered", got)
		}
	})
}

func TestStopsAreNotRateLimited(t *testing.T) {
	inFakeTime(t, func(t *testing.T, b *brokertest.Broker) {
		robot, button := b.Client(t, "r1"), b.Client(t, "stop1")
		robot.Subscribe(r1 + "cmd/#")
		flood(t, button, 500, func(int) []byte { return packet(r1+"cmd/stop1/safety/stop", "") })
		synctest.Wait()
		if got := len(robot.Inbox("#")); got != 500 { // less than fit into its queue
			t.Errorf("the robot receives %d of 500 stops", got)
		}
	})
}

const velocityTopic = r1 + "cmd/op1/manual/velocity"

func TestFrameFloodIsLimitedAndStopArrives(t *testing.T) {
	inFakeTime(t, func(t *testing.T, b *brokertest.Broker) {
		robot, op := b.Client(t, "r1"), b.Client(t, "op1")
		robot.Subscribe(r1 + "cmd/#")
		op.Subscribe("troupe/v1/clients/op1/notice")
		for second := range 5 {
			for range 10 {
				flood(t, op, 100, func(int) []byte { return packet(velocityTopic, `{"vx":1}`) })
				synctest.Wait()
			}
			if got := len(robot.Inbox(velocityTopic)); got != 50 {
				t.Errorf("second %d: the robot receives %d of 1000 frames, want 50", second, got)
			}
			if got := op.Inbox("troupe/v1/clients/op1/notice"); len(got) != 1 || !strings.Contains(string(got[0].Payload), "50 frames per second") {
				t.Errorf("second %d: notices %v", second, got)
			}
			for _, verb := range []string{"manual/stop", "safety/stop"} {
				op.Publish(r1+"cmd/op1/"+verb, "")
				robot.Expect(r1 + "cmd/op1/" + verb)
			}
			time.Sleep(time.Second)
		}
		if s := b.Status(); s["frames_over_rate"] != 5*950 || s["clients_cut_for_abuse"] != 0 {
			t.Errorf("status %v", s)
		}
	})
}

func TestFramesWithJitterAreAllDelivered(t *testing.T) {
	inFakeTime(t, func(t *testing.T, b *brokertest.Broker) {
		robot, op := b.Client(t, "r1"), b.Client(t, "op1")
		robot.Subscribe(r1 + "cmd/#")
		for range 10 { // twenty frames a second over a network that delivers every two seconds
			flood(t, op, 40, func(int) []byte { return packet(velocityTopic, `{"vx":0,"wz":0}`) })
			time.Sleep(2 * time.Second)
		}
		if got := len(robot.Inbox(velocityTopic)); got != 400 {
			t.Errorf("the robot receives %d of 400 frames", got)
		}
	})
}

func TestFrameRateIsPerRobot(t *testing.T) {
	inFakeTime(t, func(t *testing.T, b *brokertest.Broker) {
		op, watcher := b.Client(t, "op1"), b.Client(t, "admin")
		watcher.Subscribe("troupe/v1/robots/+/cmd/#")
		for _, rid := range []string{"r1", "r2"} {
			flood(t, op, 200, func(int) []byte { return packet("troupe/v1/robots/"+rid+"/cmd/op1/manual/velocity", "{}") })
		}
		synctest.Wait()
		if got := len(watcher.Inbox("#")); got != 2*50 {
			t.Errorf("%d frames, want 50 to each robot", got)
		}
	})
}

// For each granted filter the library searches all retained documents while publishers
// wait. Other clients are not limited meanwhile.
func TestSubscribeRateIsPerUserName(t *testing.T) {
	inFakeTime(t, func(t *testing.T, b *brokertest.Broker) {
		granted := func(c *brokertest.Client, n int) (yes int) {
			for range n {
				if c.TrySubscribe(1, "troupe/v1/#")[0] <= 2 {
					yes++
				}
			}
			return yes
		}
		obs := b.Client(t, "obs")
		if got := granted(obs, 700); got != 700 {
			t.Errorf("%d of 700 granted", got)
		}
		obs = b.Client(t, "obs", brokertest.WithID("obs.again"))
		if got := granted(obs, 700); got != 324 {
			t.Errorf("%d of 700 more granted, want 324: 1024 together", got)
		}
		if got := granted(b.Client(t, "op1"), 100); got != 100 {
			t.Errorf("%d of 100 of another client granted", got)
		}
		time.Sleep(10 * time.Second)
		if got := granted(obs, 100); got != 50 {
			t.Errorf("%d of 100 granted after ten seconds, want 50", got)
		}
		obs.Ping() // still connected
	})
}

// A client may keep sending stops that it is not allowed to send; its next one may be
// allowed.
func TestRefusedStopsDoNotDisconnect(t *testing.T) {
	inFakeTime(t, func(t *testing.T, b *brokertest.Broker) {
		robot, button := b.Client(t, "r1"), b.Client(t, "stop1")
		robot.Subscribe(r1 + "cmd/#")
		flood(t, button, 2000, func(int) []byte { return packet(r1+"cmd/op1/safety/stop", "") })
		button.Publish(r1+"cmd/stop1/safety/stop", "")
		if m := robot.Expect("#"); m.Topic != r1+"cmd/stop1/safety/stop" {
			t.Errorf("the robot got %v", m)
		}
		if s := b.Status(); s["clients_cut_for_abuse"] != 0 || s["publishes_forbidden"] != 2000 {
			t.Errorf("status %v", s)
		}
	})
}

func TestClientIsCutForAbuse(t *testing.T) {
	b := start(t)
	c := b.Client(t, "op1")
	for range 2000 {
		if err := c.Raw(append([]byte{0x30, 4, 0, 2}, "no"...)); err != nil { // QoS 0 to topic "no"
			break
		}
	}
	c.Lost()
	s := b.Status()
	if s["clients_cut_for_abuse"] == 0 || s["notices_sent"] > 40 {
		t.Fatalf("%d cut, %d notices", s["clients_cut_for_abuse"], s["notices_sent"])
	}
}
