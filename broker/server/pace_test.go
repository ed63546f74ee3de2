package server_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema"
)

// packet is a PUBLISH of QoS 0.
func packet(topic, payload string) []byte {
	return brokertest.Packet(0x30, append(append([]byte{0, byte(len(topic))}, topic...), payload...))
}

// flood sends n packets in one breath.
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

// paced runs f in fake time, where a breath takes none.
func paced(t *testing.T, f func(t *testing.T, b *brokertest.Broker)) {
	synctest.Test(t, func(t *testing.T) { f(t, start(t, brokertest.InProcess)) })
}

func TestABusyOperatorIsHeldBackAndHisStopStillArrives(t *testing.T) {
	paced(t, func(t *testing.T, b *brokertest.Broker) {
		robot, op := b.Client(t, "r1"), b.Client(t, "op1")
		robot.Subscribe(r1 + "cmd/#")
		op.Subscribe(r1+"ack/op1", "troupe/v1/clients/op1/notice")
		flood(t, op, 1000, func(int) []byte { return packet(r1+"cmd/op1/auto/pause", "{}") })
		synctest.Wait()
		if got := len(robot.Inbox("#")); got != 40 {
			t.Errorf("the robot hears %d of 1000 commands, want 40", got)
		}
		if n := notice(t, op); n.Reason != schema.ReasonOverloaded || !strings.Contains(n.Detail, "20 commands a second") {
			t.Errorf("notice %+v", n)
		}
		// However many answers the robot owes, each of them gets there.
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

func TestASenderIsHeldBackWhateverHeConnectsAs(t *testing.T) {
	paced(t, func(t *testing.T, b *brokertest.Broker) {
		robot := b.Client(t, "r1")
		robot.Subscribe(r1 + "cmd/#")
		for i := range 5 {
			c := b.Client(t, "op1", brokertest.WithID(fmt.Sprint("op1.", i)))
			flood(t, c, 20, func(int) []byte { return packet(r1+"cmd/op1/sys/ping", "") })
			c.Close()
		}
		synctest.Wait()
		if got := len(robot.Inbox("#")); got != 40 {
			t.Errorf("the robot hears %d of 100 commands, want 40", got)
		}
	})
}

func TestADeskIsHeldBackForEachRobotAlone(t *testing.T) {
	paced(t, func(t *testing.T, b *brokertest.Broker) {
		desk, watcher := b.Client(t, "fleetd"), b.Client(t, "admin")
		watcher.Subscribe("troupe/v1/robots/+/cmd/#")
		for i := range 1500 {
			topic := fmt.Sprintf("troupe/v1/robots/r%d/cmd/fleetd/sys/ping", i)
			flood(t, desk, 3, func(int) []byte { return packet(topic, "") })
		}
		flood(t, desk, 100, func(int) []byte { return packet(r1+"cmd/fleetd/sys/ping", "") })
		synctest.Wait()
		if got := len(watcher.Inbox(r1 + "cmd/#")); got != 40 {
			t.Errorf("robot r1 hears %d of 103 commands, want 40", got)
		}
		if got := len(watcher.Inbox("#")); got != 3*1499 {
			t.Errorf("the others hear %d commands, want %d", got, 3*1499)
		}
	})
}

func TestStopsAreTakenAtAnyRate(t *testing.T) {
	paced(t, func(t *testing.T, b *brokertest.Broker) {
		robot, button := b.Client(t, "r1"), b.Client(t, "stop1")
		robot.Subscribe(r1 + "cmd/#")
		flood(t, button, 1000, func(int) []byte { return packet(r1+"cmd/stop1/safety/stop", "") })
		synctest.Wait()
		if got := len(robot.Inbox("#")); got != 1000 {
			t.Errorf("the robot hears %d of 1000 stops", got)
		}
	})
}

func TestARobotIsNeverCutForSpeakingTooOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := start(t, brokertest.InProcess, func(c *server.Config) { c.RobotRate = 10 })
		robot, op := b.Client(t, "r1"), b.Client(t, "op1")
		robot.Subscribe(r1+"cmd/#", "troupe/v1/clients/r1/notice")
		op.Subscribe(r1 + "event")
		flood(t, robot, 5000, func(int) []byte { return packet(r1+"event", "{}") })
		if n := notice(t, robot); n.Reason != schema.ReasonOverloaded {
			t.Errorf("notice %+v", n)
		}
		op.Publish(r1+"cmd/op1/safety/stop", "")
		robot.Expect(r1 + "cmd/op1/safety/stop")
		if got := len(op.Inbox(r1 + "event")); got != 20 {
			t.Errorf("%d of 5000 events came, want 20", got)
		}
	})
}
