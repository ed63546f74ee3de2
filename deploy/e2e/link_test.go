package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/schema"
)

// linkLossTimeout is how long the operators may be silent in mnl until the robot's
// link counts as lost.
const linkLossTimeout = 5 * time.Second

// awaitLink waits until the condition holds for the robot's link.
func (w *world) awaitLink(rid, what string, holds func(schema.StateLink) bool) schema.State {
	w.t.Helper()
	return w.awaitState(rid, what, func(s schema.State) bool { return holds(s.Link) })
}

// flapLink suspends fleetd until the robot's link is degraded and resumes it,
// again and again until the link is lost. It returns how long the last silence was
// until then, and how often fleetd was back before.
func (w *world) flapLink(rid string, most int) (silence time.Duration, times int) {
	w.t.Helper()
	is := func(states ...schema.LinkState) func(schema.StateLink) bool {
		return func(l schema.StateLink) bool { return l.State == states[0] || l.State == states[len(states)-1] }
	}
	w.awaitLink(rid, "up", is(schema.LinkUp))
	for {
		w.fleetd.signal(syscall.SIGSTOP)
		s := w.awaitLink(rid, "degraded or lost", is(schema.LinkDegraded, schema.LinkLost))
		if s.Link.State == schema.LinkDegraded {
			w.fleetd.signal(syscall.SIGCONT)
			s = w.awaitLink(rid, "up again, or lost", is(schema.LinkUp, schema.LinkLost))
		}
		if s.Link.State == schema.LinkLost {
			w.fleetd.signal(syscall.SIGCONT)
			return s.Link.Since.Sub(s.Link.LastOutage.From), times
		}
		if times++; times > most {
			w.t.Fatalf("the link of %s is not lost after %d silences: %s", rid, times, jsonText(s.Link))
		}
	}
}

// Silences that are each too short for a loss add up to one. When fleetd is back
// for good, the robot stays in safe until somebody sets another mode.
func TestFlappingLinkLeadsToSafeAndItsReturnDoesNotLeadOut(t *testing.T) {
	const tries, most = 5, 6
	runIn(t, anyBroker, func(w *world) {
		w.startFleetd()
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.awaitAdopted("r1")
		mark := w.observer.mark()
		for try := 1; ; try++ {
			silence, times := w.flapLink("r1", most)
			if silence < linkLossTimeout && times > 0 {
				break
			}
			// The machine was so busy that a single silence was long enough for a loss.
			if try == tries {
				w.t.Fatalf("no silence was short in %d tries", tries)
			}
			w.awaitLink("r1", "up again", func(l schema.StateLink) bool { return l.State == schema.LinkUp })
			w.mustRequest("op1", "r1", "mode/set", "mnl")
			mark = w.observer.mark()
		}
		awaitDocumentAfter(w, mark, robotTopic("r1", "event"), "the loss", func(e schema.Event) bool { return e.Type == "link_lost" })
		awaitDocumentAfter(w, mark, robotTopic("r1", "event"), "the return", func(e schema.Event) bool { return e.Type == "link_restored" })
		w.awaitLink("r1", "up again", func(l schema.StateLink) bool { return l.State == schema.LinkUp })

		mark = w.observer.mark()
		for range 2 {
			at := w.observer.mark()
			w.observer.awaitMessage(w.t, at, schema.DefaultNamespace.Topic(schema.TopicFleetHeartbeat, "fleetd"), "a heartbeat of fleetd", func(message) bool { return true })
			awaitDocumentAfter(w, at, robotTopic("r1", "heartbeat"), "a heartbeat of r1", func(schema.Heartbeat) bool { return true })
		}
		for _, m := range w.observer.since(mark, robotTopic("r1", "heartbeat")) {
			if h, _ := schema.Decode[schema.Heartbeat]([]byte(m.Payload)); h.Mode != schema.ModeSafe {
				w.t.Errorf("the return of fleetd changed the mode from safe: %s", m)
			}
		}
		w.mustRequest("op1", "r1", "mode/set", "mnl")
		w.awaitState("r1", "in mnl", func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl })
	})
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
	_, err = conn.Write(append(brokertest.ConnectPacket{Name: "admin", ClientID: "admin.still"}.Bytes(),
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
		fleetd := brokertest.Connect(w.t, brokertest.TCP(w.address), brokertest.ConnectPacket{Name: "fleetd", ClientID: "fleetd.stories"})
		for n := range stories {
			story := bytes.Repeat([]byte{byte(n)}, bytesEach)
			sum := sha256.Sum256(story)
			topic := schema.DefaultNamespace.Topic(schema.TopicBlob, hex.EncodeToString(sum[:]))
			fleetd.Retain(topic, string(story))
			w.mustRequest("op1", "r1", "sys/ping", "")
			fleetd.Retain(topic, "") // removes the blob again
		}
		if w.broker != nil { // Mosquitto queues the messages instead, up to its limits
			w.broker.log.await(w.t, "broker", "that it disconnected the stalled subscriber", func(line string) bool {
				return strings.Contains(line, "client disconnected") && strings.Contains(line, "client=admin.still ")
			})
		}
	})
}
