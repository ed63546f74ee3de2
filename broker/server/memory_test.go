package server_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"troupe/broker/brokertest"
)

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
