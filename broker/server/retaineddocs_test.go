package server_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"troupe/broker/brokertest"
	"troupe/schema/bubble"
)

// Under the race detector this fails if the library searches retained documents while one
// is being written.
func TestRetainAndSubscribeConcurrently(t *testing.T) {
	const robots, rounds = 4, 50
	b := start(t, brokertest.InProcess)
	var all sync.WaitGroup
	for i := range robots {
		rid := fmt.Sprintf("r%d", i)
		robot := b.Client(t, rid)
		all.Go(func() {
			for n := range rounds {
				payload := fmt.Sprintf(`{"n":%d}`, n)
				if n%10 == 9 {
					payload = "" // deleted, and retained again
				}
				if err := robot.Raw(brokertest.Packet(0x31, publish("troupe/v1/robots/"+rid+"/state", payload))); err != nil {
					t.Errorf("%s: %v", rid, err)
				}
			}
		})
	}
	readers := make([]*brokertest.Client, 3)
	for i := range readers {
		readers[i] = b.Client(t, "obs", brokertest.WithID(fmt.Sprintf("obs.%d", i)))
		all.Go(func() {
			for range rounds {
				readers[i].TrySubscribe(1, "troupe/v1/robots/+/state")
			}
		})
	}
	all.Wait()
	// No lock is left held: a document that is retained now is found.
	last := b.Client(t, "r9")
	last.Retain("troupe/v1/robots/r9/state", "{}")
	late := b.Client(t, "admin")
	late.Subscribe("troupe/v1/robots/#")
	late.Expect("troupe/v1/robots/r9/state")
}

// publish is the body of a PUBLISH with QoS 0.
func publish(topic, payload string) []byte {
	return append(append([]byte{byte(len(topic) >> 8), byte(len(topic))}, topic...), payload...)
}

// A search whose connection ends meanwhile must not keep others from publishing.
func TestDisconnectDuringSearchBlocksNobody(t *testing.T) {
	b := start(t, brokertest.InProcess)
	robot := b.Client(t, "r1")
	robot.Retain("troupe/v1/robots/r1/state", "{}")
	for i := range 50 {
		c := b.Client(t, "obs", brokertest.WithID(fmt.Sprintf("obs.%d", i)))
		if err := c.Raw(brokertest.Packet(0x82, append([]byte{0, 1, 0, 11}, "troupe/v1/#\x01"...))); err != nil {
			t.Fatal(err)
		}
		c.Cut()
		robot.Retain("troupe/v1/robots/r1/state", "{}")
	}
}

// By default the library deletes retained messages after a day.
func TestDocumentsOutliveADay(t *testing.T) {
	t.Parallel()
	bubble.Test(t, func(t *testing.T) {
		b := start(t, brokertest.InProcess)
		robot := b.Client(t, "r1")
		robot.Retain(r1+"presence", online)
		robot.Close()
		time.Sleep(25 * time.Hour)
		late := b.Client(t, "obs")
		late.Subscribe(r1 + "presence")
		synctest.Wait() // the SUBACK comes before the documents
		if ms := late.Inbox("#"); len(ms) != 1 || string(ms[0].Payload) != online {
			t.Errorf("retained: %v", ms)
		}
	})
}
