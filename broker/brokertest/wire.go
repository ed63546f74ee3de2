package brokertest

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// ConnectPacket is a CONNECT packet.
type ConnectPacket struct {
	Name, Password, ClientID string
	KeepAlive                uint16 // seconds; 0 = 60 (NoKeepAlive: 0)
	NoKeepAlive              bool
	Keep                     bool // asks for a persistent session; clean otherwise
	Protocol                 byte // 0 = 4, which is MQTT 3.1.1
	Will                     *Message
}

// Message is a PUBLISH packet.
type Message struct {
	Topic     string
	Payload   []byte
	QoS       byte
	Retain    bool
	Duplicate bool
}

func (m Message) String() string {
	return fmt.Sprintf("%s (QoS %d, retain %v): %.300s", m.Topic, m.QoS, m.Retain, m.Payload)
}

// The first bytes of the packet types of MQTT, without the flags of PUBLISH.
const (
	packetConnect     = 0x10
	packetConnack     = 0x20
	packetPublish     = 0x30
	packetPuback      = 0x40
	packetPubrec      = 0x50
	packetPubrel      = 0x62
	packetPubcomp     = 0x70
	packetSubscribe   = 0x82
	packetSuback      = 0x90
	packetUnsubscribe = 0xa2
	packetUnsuback    = 0xb0
	packetPingreq     = 0xc0
	packetPingresp    = 0xd0
	packetDisconnect  = 0xe0
)

// Packet returns body with the fixed header in front.
func Packet(first byte, body []byte) []byte {
	p := []byte{first}
	for n := len(body); ; {
		b := byte(n % 128)
		if n /= 128; n > 0 {
			b |= 0x80
		}
		p = append(p, b)
		if n == 0 {
			return append(p, body...)
		}
	}
}

func appendString(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

// Bytes encodes h.
func (h ConnectPacket) Bytes() []byte {
	level := h.Protocol
	if level == 0 {
		level = 4
	}
	keep := h.KeepAlive
	if keep == 0 && !h.NoKeepAlive {
		keep = 60
	}
	proto, flags := "MQTT", byte(0)
	if level == 3 {
		proto = "MQIsdp"
	}
	if !h.Keep {
		flags |= 0x02
	}
	if h.Name != "" {
		flags |= 0x80
	}
	if h.Password != "" {
		flags |= 0x40
	}
	if h.Will != nil {
		flags |= 0x04 | h.Will.QoS<<3
		if h.Will.Retain {
			flags |= 0x20
		}
	}
	b := appendString(nil, proto)
	b = append(b, level, flags)
	b = binary.BigEndian.AppendUint16(b, keep)
	if level == 5 {
		b = append(b, 0)
	}
	b = appendString(b, h.ClientID)
	if h.Will != nil {
		if level == 5 {
			b = append(b, 0)
		}
		b = appendString(appendString(b, h.Will.Topic), string(h.Will.Payload))
	}
	if h.Name != "" {
		b = appendString(b, h.Name)
	}
	if h.Password != "" {
		b = appendString(b, h.Password)
	}
	return Packet(packetConnect, b)
}

func (m Message) bytes(id uint16) []byte {
	first := byte(packetPublish) | m.QoS<<1
	if m.Retain {
		first |= 1
	}
	if m.Duplicate {
		first |= 8
	}
	b := appendString(nil, m.Topic)
	if m.QoS > 0 {
		b = binary.BigEndian.AppendUint16(b, id)
	}
	return Packet(first, append(b, m.Payload...))
}

// readPacket reads one packet: its first byte and its body.
func readPacket(r *bufio.Reader) (first byte, body []byte, err error) {
	if first, err = r.ReadByte(); err != nil {
		return 0, nil, err
	}
	size := 0
	for shift := 0; ; shift += 7 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, nil, err
		}
		size |= int(b&0x7f) << shift
		if b&0x80 == 0 {
			break
		}
		if shift > 21 {
			return 0, nil, fmt.Errorf("malformed length")
		}
	}
	body = make([]byte, size)
	_, err = io.ReadFull(r, body)
	return first, body, err
}

// parsePublish reads a PUBLISH body and its packet id, 0 for QoS 0.
func parsePublish(first byte, body []byte) (Message, uint16, error) {
	m := Message{QoS: first >> 1 & 3, Retain: first&1 != 0, Duplicate: first&8 != 0}
	if len(body) < 2 {
		return m, 0, io.ErrUnexpectedEOF
	}
	n := int(binary.BigEndian.Uint16(body))
	rest := body[2:]
	if len(rest) < n {
		return m, 0, io.ErrUnexpectedEOF
	}
	m.Topic, rest = string(rest[:n]), rest[n:]
	var id uint16
	if m.QoS > 0 {
		if len(rest) < 2 {
			return m, 0, io.ErrUnexpectedEOF
		}
		id, rest = binary.BigEndian.Uint16(rest), rest[2:]
	}
	m.Payload = rest
	return m, id, nil
}
