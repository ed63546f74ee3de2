package server_test

import (
	"testing"

	"troupe/broker/brokertest"
	"troupe/schema"
)

// A client without an acknowledgement would send the message again for ever.
func TestPublishToBrokerTopicsIsAcknowledgedAndRefused(t *testing.T) {
	b := start(t)
	watcher := b.Client(t, "admin")
	watcher.Subscribe("$SYS/#")
	op := b.Client(t, "op1")
	op.Subscribe("troupe/v1/clients/op1/notice")
	for _, topic := range []string{"$SYS/x", "$sys/broker/version", "$share", "$share/g"} {
		for qos := range byte(3) {
			op.Send(brokertest.Message{Topic: topic, QoS: qos, Retain: qos > 0, Payload: []byte("x")}) // waits for the acknowledgement of its QoS
			if n := notice(t, op); n.Reason != schema.ReasonForbidden || n.Topic != topic {
				t.Errorf("%s with QoS %d: notice %+v", topic, qos, n)
			}
		}
	}
	watcher.Ping()
	for _, m := range watcher.Inbox("#") {
		t.Errorf("routed: %v", m)
	}
	own := 0
	for _, m := range watcher.Inbox("$SYS/#") {
		if string(m.Payload) == "x" {
			t.Errorf("routed: %v", m)
		}
		if m.Topic == "$SYS/broker/clients/connected" {
			own++
		}
	}
	if own == 0 { // twice if it was published while the subscription began
		t.Errorf("the broker publishes no topic of its own")
	}
}
