package server_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"troupe/broker/brokertest"
	"troupe/broker/server"
)

// However many robots publish at once, only a few of their messages are routed at once, and what people send waits for none of them.
func TestMessagesOfRobotsTakeTurns(t *testing.T) {
	inFakeTime(t, func(t *testing.T, b *brokertest.Broker) {
		op, robot := b.Client(t, "op1"), b.Client(t, "r1")
		op.Subscribe("troupe/v1/robots/+/event")
		robot.Subscribe(r1 + "cmd/#")
		release := server.TakeTurns(b.Backend)
		const robots = 50
		for i := range robots {
			id := fmt.Sprintf("r%d", i+2)
			raw(t, b.Client(t, id), "troupe/v1/robots/"+id+"/event")
		}
		raw(t, robot, r1+"event")
		op.Publish(r1+"cmd/op1/safety/stop", "")
		robot.Expect(r1 + "cmd/op1/safety/stop")
		synctest.Wait()
		if n := len(op.Inbox("troupe/v1/robots/+/event")); n > 0 {
			t.Errorf("%d events were routed without a turn", n)
		}
		release()
		synctest.Wait()
		if n := len(op.Inbox("troupe/v1/robots/+/event")); n != robots+1 {
			t.Errorf("%d of %d events came", n, robots+1)
		}
	})
}

func raw(t *testing.T, c *brokertest.Client, topic string) {
	t.Helper()
	if err := c.Raw(packet(topic, "{}")); err != nil {
		t.Fatal(err)
	}
}
