package crowd

import (
	"bufio"
	"bytes"
	"testing"

	"troupe/broker/link"
)

func TestPublishIsReadAsItWasWritten(t *testing.T) {
	for _, m := range []link.Message{
		{Topic: "a", Payload: []byte{}},
		{Topic: "troupe/v1/robots/s1/state", Payload: bytes.Repeat([]byte("x"), 70_000), QoS: 1, Retain: true},
		{Topic: "t", Payload: bytes.Repeat([]byte("x"), 124), QoS: 1},
	} {
		p, err := readPacket(bufio.NewReaderSize(bytes.NewReader(appendPublish(nil, &m, 513)), readBuffer))
		same := p.topic == m.Topic && bytes.Equal(p.payload, m.Payload) && p.qos == m.QoS && p.retain == m.Retain
		if err != nil || !same || m.QoS > 0 && p.id != 513 {
			t.Errorf("%s with %d bytes is read as %s with %d bytes, QoS %d, retain %v, id %d, error %v", m.Topic, len(m.Payload),
				p.topic, len(p.payload), p.qos, p.retain, p.id, err)
		}
	}
}

// FuzzPackets reads whatever a broker may send.
func FuzzPackets(f *testing.F) {
	m := link.Message{Topic: "troupe/v1/robots/s1/cmd/op1/sys/ping", Payload: []byte(`{"id":"1"}`), QoS: 1}
	f.Add(appendPublish(nil, &m, 1))
	f.Add([]byte{packetConnack << 4, 2, 0, 0})
	f.Add([]byte{packetSuback << 4, 4, 0, 1, 0, 0x80})
	f.Add([]byte{packetPublish << 4, 0xff, 0xff, 0xff, 0x7f})
	f.Add([]byte{packetPublish << 4, 2, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bufio.NewReaderSize(bytes.NewReader(data), readBuffer)
		for range 100 {
			p, err := readPacket(r)
			if err != nil {
				return
			}
			if len(p.topic)+len(p.payload) > len(data) {
				t.Fatalf("%d bytes gave a packet of %d and %d bytes", len(data), len(p.topic), len(p.payload))
			}
		}
	})
}
