package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"troupe/broker/brokertest"
)

func TestClientReceivesMessagesOfAnySize(t *testing.T) {
	b := brokertest.Start(t)
	got := make(chan message, 10)
	reader, err := dial(b.Addr(), clientOptions{id: "fleetd", user: "fleetd", on: func(_ *client, m message) {
		if !m.Retain { // the first may come once more, because the broker sends what is retained after the grant
			got <- message{Topic: bytes.Clone(m.Topic), Payload: bytes.Clone(m.Payload)}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.close()
	if err := reader.subscribe(1, "troupe/v1/blobs/+"); err != nil {
		t.Fatal(err)
	}
	writer, err := dial(b.Addr(), clientOptions{id: "admin.2", user: "admin", from: 300})
	if err != nil {
		t.Fatal(err)
	}
	defer writer.close()
	topic := "troupe/v1/blobs/" + strings.Repeat("0", 64)
	for _, size := range []int{1, 100, 127, 128, clientBuffer, 20_000, 200_000} { // around the bytes of a length, and the buffer
		payload := bytes.Repeat([]byte{'x'}, size)
		if err := writer.publish(topic, payload, 1, true); err != nil {
			t.Fatal(err)
		}
		select {
		case m := <-got:
			if string(m.Topic) != topic || !bytes.Equal(m.Payload, payload) {
				t.Errorf("%d bytes came as %d bytes of %s", size, len(m.Payload), m.Topic)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("a message of %d bytes did not come", size)
		}
	}
	if err := reader.subscribe(1, "troupe/v1/robots/r1/heartbeat/admin/too/deep/to/be/a/topic/at/all"); err == nil {
		t.Error("a subscription that the broker refuses is granted")
	}
}
