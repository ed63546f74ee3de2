package server_test

import (
	"testing"

	"troupe/broker/brokertest"
)

// On the bus of a robot the broker names the clients. Its log has the client id that an adapter
// chose, and the address by which its process is found.
func TestLogOfTheBusHasTheClientIDOfAnAdapter(t *testing.T) {
	var log logBuffer
	b := brokertest.Start(t, brokertest.AsBus, log.into)
	c := b.Client(t, "", func(h *brokertest.ConnectPacket) {
		h.ClientID = "base.5aa5babd"
		h.Will = &brokertest.Message{Topic: "bus/base/out/presence", Payload: []byte(`{}`)}
	})
	brokertest.Eventually(t, "the log of the connection", func() bool { return log.holds("client_id=base.5aa5babd remote=") })
	c.Cut()
	brokertest.Eventually(t, "the log of its will", func() bool { return log.holds("client_id=base.5aa5babd topic=bus/base/out/presence") })
	brokertest.Eventually(t, "the log of its end", func() bool { return log.holds("client_id=base.5aa5babd why=") })
}
