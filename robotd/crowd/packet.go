package crowd

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"troupe/broker/link"
)

// The packets of MQTT 3.1.1 that a robot sends and receives, by the high bits of their first byte.
const (
	packetConnect     = 1
	packetConnack     = 2
	packetPublish     = 3
	packetPuback      = 4
	packetSubscribe   = 8
	packetSuback      = 9
	packetUnsubscribe = 10
	packetPingreq     = 12
	packetPingresp    = 13
	packetDisconnect  = 14
)

// maxPacket bounds what is read of one packet, in bytes; it is that of package link.
const maxPacket = 1280 << 10

// packet is a received packet.
type packet struct {
	kind    byte
	qos     byte
	retain  bool
	id      uint16 // of PUBLISH with QoS 1, PUBACK and SUBACK
	topic   string
	payload []byte // of PUBLISH; of CONNACK and SUBACK the return codes
}

// readPacket reads one packet. Its payload is the caller's.
func readPacket(r *bufio.Reader) (p packet, err error) {
	first, err := r.ReadByte()
	if err != nil {
		return p, err
	}
	length, err := readLength(r)
	if err != nil {
		return p, err
	}
	p.kind, p.qos, p.retain = first>>4, first>>1&3, first&1 == 1
	var two [2]byte
	number := func() (uint16, error) {
		if length < 2 {
			return 0, errMalformed
		}
		length -= 2
		_, err := io.ReadFull(r, two[:])
		return binary.BigEndian.Uint16(two[:]), err
	}
	switch p.kind {
	case packetPublish:
		size, err := number()
		if err != nil || int(size) > length {
			return p, errors.Join(err, errMalformed)
		}
		topic := make([]byte, size)
		if _, err := io.ReadFull(r, topic); err != nil {
			return p, err
		}
		p.topic = string(topic)
		length -= int(size)
		if p.qos > 0 {
			if p.id, err = number(); err != nil {
				return p, err
			}
		}
	case packetPuback, packetSuback:
		if p.id, err = number(); err != nil {
			return p, err
		}
	}
	if length > 0 {
		p.payload = make([]byte, length)
		_, err = io.ReadFull(r, p.payload)
	}
	return p, err
}

var errMalformed = errors.New("malformed packet from the broker")

func readLength(r *bufio.Reader) (n int, err error) {
	for shift := 0; shift <= 21; shift += 7 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if n |= int(b&0x7f) << shift; b&0x80 == 0 {
			if n > maxPacket {
				return 0, fmt.Errorf("packet of %d bytes from the broker exceeds the limit of %d", n, maxPacket)
			}
			return n, nil
		}
	}
	return 0, errMalformed
}

func appendHeader(b []byte, first byte, length int) []byte {
	b = append(b, first)
	for length >= 0x80 {
		b = append(b, byte(length)|0x80)
		length >>= 7
	}
	return append(b, byte(length))
}

func appendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(text))), text...)
}

// appendConnect appends a CONNECT with a clean session. Without a password there is only the user name.
func appendConnect(b []byte, clientID, user, password string, keepAliveS uint16, will *link.Message) []byte {
	const cleanSession, hasWill, hasPassword, hasUser = 0x02, 0x04, 0x40, 0x80
	flags, length := byte(cleanSession|hasUser), 10+2+len(clientID)+2+len(user)
	if password != "" {
		flags |= hasPassword
		length += 2 + len(password)
	}
	if will != nil {
		flags |= hasWill | will.QoS<<3
		if will.Retain {
			flags |= 0x20
		}
		length += 2 + len(will.Topic) + 2 + len(will.Payload)
	}
	b = appendText(appendHeader(b, packetConnect<<4, length), "MQTT")
	b = append(b, 4, flags)
	b = binary.BigEndian.AppendUint16(b, keepAliveS)
	b = appendText(b, clientID)
	if will != nil {
		b = appendText(appendText(b, will.Topic), will.Payload)
	}
	if b = appendText(b, user); password != "" {
		b = appendText(b, password)
	}
	return b
}

func appendSubscribe(b []byte, id uint16, to []link.Subscription) []byte {
	length := 2
	for _, s := range to {
		length += 2 + len(s.Filter) + 1
	}
	b = binary.BigEndian.AppendUint16(appendHeader(b, packetSubscribe<<4|2, length), id)
	for _, s := range to {
		b = append(appendText(b, s.Filter), s.QoS)
	}
	return b
}

func appendUnsubscribe(b []byte, id uint16, filter string) []byte {
	b = binary.BigEndian.AppendUint16(appendHeader(b, packetUnsubscribe<<4|2, 4+len(filter)), id)
	return appendText(b, filter)
}

// appendPublish appends a PUBLISH; id counts only with QoS 1.
func appendPublish(b []byte, m *link.Message, id uint16) []byte {
	first, length := byte(packetPublish<<4)|m.QoS<<1, 2+len(m.Topic)+len(m.Payload)
	if m.Retain {
		first |= 1
	}
	if m.QoS > 0 {
		length += 2
	}
	b = appendText(appendHeader(b, first, length), m.Topic)
	if m.QoS > 0 {
		b = binary.BigEndian.AppendUint16(b, id)
	}
	return append(b, m.Payload...)
}

func appendPuback(b []byte, id uint16) []byte {
	return append(b, packetPuback<<4, 2, byte(id>>8), byte(id))
}

func appendEmpty(b []byte, kind byte) []byte { return append(b, kind<<4, 0) }
