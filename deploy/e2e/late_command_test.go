package e2e

import (
	"syscall"
	"testing"
	"time"

	"troupe/schema"
)

// A robot that hung, or whose connection did, receives a command late. Without a
// ts only the robot can know that, and an enable that is executed seconds after
// its ttl would let a robot move whose operator has given up on it.
func TestLateEnableWithoutTSExpiresAndLateStopStops(t *testing.T) {
	const gap = 3500 * time.Millisecond // less than the time until the link counts as lost
	for _, hang := range []struct {
		name string
		hang func(w *world) (goOn func())
	}{
		{"robotd suspended", func(w *world) func() {
			w.robots["r1"].signal(syscall.SIGSTOP)
			return func() { w.robots["r1"].signal(syscall.SIGCONT) }
		}},
		{"connection stalled", func(w *world) func() { return w.robotProxies["r1"].holdBack() }},
	} {
		t.Run(hang.name, func(t *testing.T) {
			runIn(t, anyBroker, func(w *world) {
				w.startFleetd()
				w.runRobotsIn(schema.ModeMnl, "", "r1")
				w.awaitLink("r1", "up", func(l schema.StateLink) bool { return l.State == schema.LinkUp })
				sendLate := func(verb, payload, id string) schema.Ack {
					mark := w.observer.mark()
					goOn := hang.hang(w)
					w.publish("op1", robotTopic("r1", "cmd/op1/"+verb), payload)
					time.Sleep(gap)
					goOn()
					return w.awaitFinalAck(mark, "op1", "r1", id)
				}
				if a := sendLate("safety/enable", `{"id":"late","ttl_ms":1000}`, "late"); a.Status != schema.StatusExpired ||
					a.Reason != schema.ReasonExpired {
					w.t.Errorf("enable of ttl 1 s, delivered %v late: %s", gap, jsonText(a))
				}
				time.Sleep(time.Second)
				w.mustRequest("op1", "r1", "safety/enable", `{"ttl_ms":1000}`) // sent again, as the answer asks for
				w.awaitState("r1", "ENABLED", func(s schema.State) bool { return s.Safety.State == schema.SafetyEnabled })
				if a := sendLate("safety/stop", `{"id":"stop","ttl_ms":1000}`, "stop"); a.Status != schema.StatusSucceeded {
					w.t.Errorf("stop, delivered %v late: %s", gap, jsonText(a))
				}
			})
		})
	}
}
