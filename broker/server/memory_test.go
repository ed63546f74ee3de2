package server_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"troupe/broker/brokertest"
	"troupe/broker/server"
	"troupe/schema"
)

// There are thousands of robots, so what an idle one costs counts.
func TestRobotsHaveShortQueues(t *testing.T) {
	t.Run("named by the user name", func(t *testing.T) {
		b := start(t, brokertest.InProcess)
		for name, want := range map[string]int{"r1": 512, "r2.blob": 512, "op1": 8192, "fleetd-b": 32768, "console-r1": 8192} {
			user, _, _ := strings.Cut(name, ".")
			b.Client(t, user, brokertest.WithID(name))
			if got := server.QueueOf(b.Backend, name); got != want {
				t.Errorf("the queue of %s has %d slots, want %d", name, got, want)
			}
		}
	})
	t.Run("named by the certificate", func(t *testing.T) {
		ca := brokertest.NewCA(t)
		b := brokertest.Start(t, ca.Configure)
		_, code := byTLS(t, b, ca, brokertest.ConnectPacket{ClientID: "r1"}, ca.IssueClient(schema.RoleRobot, "r1"))
		if got := server.QueueOf(b.Backend, "r1"); code != 0 || got != 512 {
			t.Errorf("code %d, the queue of the robot has %d slots", code, got)
		}
	})
	t.Run("of the size that is set", func(t *testing.T) {
		b := start(t, brokertest.InProcess, func(c *server.Config) { c.MaxQueued, c.MaxQueuedRobot = 64, 8 })
		b.Client(t, "r1")
		b.Client(t, "op1", brokertest.WithID("op1"))
		if robot, op := server.QueueOf(b.Backend, "r1"), server.QueueOf(b.Backend, "op1"); robot != 8 || op != 64 {
			t.Errorf("the queue of a robot has %d slots and that of an operator %d", robot, op)
		}
	})
}

// Anybody may send a CONNECT with the name of fleetd.
func TestQueueOfFleetdIsMadeAfterAuthentication(t *testing.T) {
	b := start(t, brokertest.InProcess)
	const connects, queue = 32, 32768 * 8 // bytes
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range connects {
		if _, code := brokertest.TryConnect(t, b.Dial, brokertest.ConnectPacket{Name: "fleetd", ClientID: "r1"}); code == 0 {
			t.Fatal("fleetd connected with the client id of a robot")
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / connects; each > queue/2 {
		t.Errorf("a refused connect allocates %d bytes", each)
	}
}

// The library decodes a topic without a copy: it refers to the packet, which would be kept as long as the document is.
func TestRetainedDocumentIsKeptOnce(t *testing.T) {
	const documents, size = 64, 128 << 10
	b := start(t, brokertest.InProcess, withoutRobotRates)
	fleetd := b.Client(t, "fleetd")
	before := heapInUse()
	for i := range documents {
		for round := range 2 { // that it was retained once before must not matter
			fleetd.Retain(fmt.Sprintf("troupe/v1/blobs/%064x", i), strings.Repeat(fmt.Sprint(round), size))
		}
	}
	if got := heapInUse() - before; got > 3*documents*size/2 {
		t.Errorf("%d KiB of documents take %d KiB", documents*size>>10, got>>10)
	}
	runtime.KeepAlive(b)
}

func heapInUse() int {
	runtime.GC()
	runtime.GC() // what the pools hold is dropped in the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
