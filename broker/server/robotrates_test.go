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
	"troupe/schema"
	"troupe/schema/bubble"
)

func TestRobotOverItsRateStaysConnected(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
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

func TestRobotByteRateSparesAnswersAndPresence(t *testing.T) {
	inFakeTime(t, func(t *testing.T, b *brokertest.Broker) {
		robot, op := b.Client(t, "r1"), b.Client(t, "op1")
		robot.Subscribe(r1+"cmd/#", "troupe/v1/clients/r1/notice")
		op.Subscribe(r1+"state", r1+"ack/op1", r1+"presence")
		large := strings.Repeat("x", 16<<10-len(r1+"state"))
		flood(t, robot, 30, func(int) []byte { return brokertest.Packet(0x31, publish(r1+"state", large)) })
		flood(t, robot, 80, func(int) []byte { return packet(r1+"ack/op1", large[:3<<10]) })
		robot.Retain(r1+"presence", online)
		op.Publish(r1+"cmd/op1/safety/stop", "")
		robot.Expect(r1 + "cmd/op1/safety/stop")
		op.Expect(r1 + "presence")
		synctest.Wait()
		if states, acks := len(op.Inbox(r1+"state")), len(op.Inbox(r1+"ack/op1")); states != 16 || acks != 80 {
			t.Errorf("%d of 30 states of 16 KiB came, want 16, and %d of 80 answers", states, acks)
		}
		if n := notice(t, robot); n.Reason != schema.ReasonOverloaded || !strings.Contains(n.Detail, "64 KiB per second") {
			t.Errorf("notice %+v", n)
		}
		time.Sleep(time.Second)
		flood(t, robot, 10, func(int) []byte { return brokertest.Packet(0x31, publish(r1+"state", large)) })
		synctest.Wait()
		if states := len(op.Inbox(r1 + "state")); states != 4 {
			t.Errorf("%d states came after a second, want 4", states)
		}
	})
}

// A robot publishes all its documents when it connects.
func TestRobotMayPublishAllItsDocumentsAtOnce(t *testing.T) {
	inFakeTime(t, func(t *testing.T, b *brokertest.Broker) {
		robot := b.Client(t, "r1")
		said := 0
		for _, row := range schema.Topics {
			topic := "troupe/v1/" + strings.NewReplacer("{rid}", "r1", "{name}", "x").Replace(row.Pattern)
			mine := slices.ContainsFunc(row.Publish, func(g schema.Grant) bool { return g.Role == schema.RoleRobot })
			if row.Retain && mine {
				robot.Retain(topic, strings.Repeat("x", row.MaxBytes))
				said++
			}
		}
		if s := b.Status(); said < 8 ||
			s["publishes_over_byte_rate"]+s["publishes_over_rate"]+s["publishes_too_big"]+s["publishes_forbidden"] != 0 {
			t.Errorf("%d documents published, status %v", said, s)
		}
	})
}

func TestRobotMessagesOverTheRateAreOmitted(t *testing.T) {
	b := start(t, func(c *server.Config) { c.RobotRate = 10 })
	robot, op := b.Client(t, "r1"), b.Client(t, "op1")
	robot.Subscribe("troupe/v1/clients/+/notice")
	op.Subscribe(r1+"event", r1+"presence")
	for i := range 100 {
		robot.Publish(r1+"event", fmt.Sprint(i))
	}
	robot.Retain(r1+"presence", online) // exempt: not limited
	op.Expect(r1 + "presence")
	refused := b.Status()["publishes_over_rate"]
	if routed := len(op.Inbox(r1 + "event")); refused < 50 || routed < 20 || routed+int(refused) != 100 {
		t.Fatalf("%d routed, %d refused of 100", routed, refused)
	}
	if n := notice(t, robot); n.Reason != schema.ReasonOverloaded {
		t.Fatalf("notice %+v", n)
	}
}
