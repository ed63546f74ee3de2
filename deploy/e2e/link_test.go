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

// clientTimeOut is the silence of operators that is a loss in mnl.
const clientTimeOut = 5 * time.Second

// awaitLink waits until the robot's link is as it should be.
func (w *world) awaitLink(rid, what string, holds func(schema.StateLink) bool) schema.State {
	w.t.Helper()
	return w.awaitState(rid, what, func(s schema.State) bool { return holds(s.Link) })
}

// flapLink takes fleetd away until the robot notices, and gives it back, again and
// again until the robot's link is lost. It returns how long the last silence was
// until then, and how often fleetd came back before.
func (w *world) flapLink(rid string, most int) (silence time.Duration, times int) {
	w.t.Helper()
	is := func(states ...schema.LinkState) func(schema.StateLink) bool {
		return func(l schema.StateLink) bool { return l.State == states[0] || l.State == states[len(states)-1] }
	}
	w.awaitLink(rid, "in reach", is(schema.LinkUp))
	for {
		w.fleetd.signal(syscall.SIGSTOP)
		s := w.awaitLink(rid, "out of reach", is(schema.LinkDegraded, schema.LinkLost))
		if s.Link.State == schema.LinkDegraded {
			w.fleetd.signal(syscall.SIGCONT)
			s = w.awaitLink(rid, "in reach again, or lost", is(schema.LinkUp, schema.LinkLost))
		}
		if s.Link.State == schema.LinkLost {
			w.fleetd.signal(syscall.SIGCONT)
			return s.Link.Since.Sub(s.Link.LastOutage.From), times
		}
		if times++; times > most {
			w.t.Fatalf("%s is still in reach after %d silences: %s", rid, times, jsonText(s.Link))
		}
	}
}

// Silences that are no loss each are one together; and when fleetd is back for
// good, the robot waits in safe for somebody who leads it out.
func TestFlappingLinkLeadsToSafeAndItsReturnDoesNotLeadOut(t *testing.T) {
	const tries, most = 5, 6
	runIn(t, anyBroker, func(w *world) {
		w.startFleetd()
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.awaitAdopted("r1")
		mark := w.eye.mark()
		for try := 1; ; try++ {
			silence, times := w.flapLink("r1", most)
			if silence < clientTimeOut && times > 0 {
				break
			}
			// The machine was so busy that one silence was long enough.
			if try == tries {
				w.t.Fatalf("no silence was short in %d tries", tries)
			}
			w.awaitLink("r1", "in reach again", func(l schema.StateLink) bool { return l.State == schema.LinkUp })
			w.mustRequest("op1", "r1", "mode/set", "mnl")
			mark = w.eye.mark()
		}
		becomes(w, mark, on("r1", "event"), "the loss", func(e schema.Event) bool { return e.Type == "link_lost" })
		becomes(w, mark, on("r1", "event"), "the return", func(e schema.Event) bool { return e.Type == "link_restored" })
		w.awaitLink("r1", "in reach again", func(l schema.StateLink) bool { return l.State == schema.LinkUp })

		mark = w.eye.mark()
		for range 2 {
			at := w.eye.mark()
			w.eye.upon(w.t, at, schema.DefaultNamespace.Topic(schema.TopicFleetHeartbeat, "fleetd"), "fleetd to be heard", func(message) bool { return true })
			becomes(w, at, on("r1", "heartbeat"), "r1 to be heard", func(schema.Heartbeat) bool { return true })
		}
		for _, m := range w.eye.since(mark, on("r1", "heartbeat")) {
			if h, _ := schema.Decode[schema.Heartbeat]([]byte(m.Payload)); h.Mode != schema.ModeSafe {
				w.t.Errorf("the return of fleetd led it out of safe: %s", m)
			}
		}
		w.mustRequest("op1", "r1", "mode/set", "mnl")
		w.awaitState("r1", "in mnl", func(s schema.State) bool { return s.Mode.Active == schema.ModeMnl })
	})
}

// connectStalledSubscriber is a subscriber to everything that reads nothing any more.
func (w *world) connectStalledSubscriber() net.Conn {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10) // the less it takes, the sooner it is in the way
	_, err = conn.Write(append(brokertest.Hello{Name: "admin", ClientID: "admin.still"}.Bytes(),
		brokertest.Packet(0x82, append([]byte{0, 1, 0, 11}, "troupe/v1/#\x01"...))...))
	if err == nil {
		_, err = conn.Read(make([]byte, 1)) // it was taken
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// More is said to one that does not read than any network takes for it, and the
// commands of others are answered all the time.
func TestStalledSubscriberDelaysNoCommand(t *testing.T) {
	const stories, bytesEach = 40, 200 << 10
	runIn(t, anyBroker, func(w *world) {
		w.runRobotsIn(schema.ModeMnl, "", "r1")
		w.connectStalledSubscriber()
		fleetd := brokertest.Connect(w.t, brokertest.TCP(w.address), brokertest.Hello{Name: "fleetd", ClientID: "fleetd.stories"})
		for n := range stories {
			story := bytes.Repeat([]byte{byte(n)}, bytesEach)
			sum := sha256.Sum256(story)
			topic := schema.DefaultNamespace.Topic(schema.TopicBlob, hex.EncodeToString(sum[:]))
			fleetd.Retain(topic, string(story))
			w.mustRequest("op1", "r1", "sys/ping", "")
			fleetd.Retain(topic, "") // nobody needs it
		}
		if w.broker != nil { // another lets it wait in a queue, up to what that takes
			w.broker.log.await(w.t, "broker", "that it cut who stands still", func(line string) bool {
				return strings.Contains(line, "client disconnected") && strings.Contains(line, "client=admin.still ")
			})
		}
	})
}
