package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"strings"
	"testing"

	"troupe/broker/brokertest"
	"troupe/schema"
)

// awaitLink waits until the condition holds for the robot's link.
func (w *world) awaitLink(rid, what string, holds func(schema.StateLink) bool) schema.State {
	w.t.Helper()
	return w.awaitState(rid, what, func(s schema.State) bool { return holds(s.Link) })
}

// connectStalledSubscriber connects a subscriber to everything that stops reading.
func (w *world) connectStalledSubscriber() net.Conn {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10) // a small buffer is full soon
	_, err = conn.Write(append(brokertest.ConnectPacket{Name: "admin", ClientID: "admin_still"}.Bytes(),
		brokertest.Packet(0x82, append([]byte{0, 1, 0, 11}, "troupe/v1/#\x01"...))...))
	if err == nil {
		_, err = conn.Read(make([]byte, 1)) // the connection was accepted
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// The broker has more to send to a client that does not read than any network
// buffers, and still the commands of others are answered without delay.
func TestStalledSubscriberDelaysNoCommand(t *testing.T) {
	const stories, bytesEach = 40, 200 << 10
	runIn(t, anyBroker, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.connectStalledSubscriber()
		fleetd := brokertest.Connect(w.t, brokertest.TCP(w.address), brokertest.ConnectPacket{Name: "fleetd", ClientID: "fleetd_stories"})
		for n := range stories {
			story := bytes.Repeat([]byte{byte(n)}, bytesEach)
			sum := sha256.Sum256(story)
			topic := schema.DefaultNamespace.Topic(schema.TopicBlob, hex.EncodeToString(sum[:]))
			fleetd.Retain(topic, string(story))
			w.mustRequest("op1", "r1", "sys/ping", "")
			fleetd.Retain(topic, "") // removes the blob again
		}
		if w.variant == ownBroker { // Mosquitto queues the messages instead, up to its limits, and NATS disconnects it after ten seconds
			w.broker.log.await(w.t, "broker", "that it disconnected the stalled subscriber", func(line string) bool {
				return strings.Contains(line, "client disconnected") && strings.Contains(line, "client=admin_still ")
			})
		}
	})
}
