package server

import (
	"log/slog"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// checkConnect decides whether a CONNECT is well-formed before the library does,
// which is wrong about two things and says it in codes of MQTT 5. Clients of MQTT
// 3.1.1 know the codes 1 to 5 only, and some of them take any other for success: a
// stop button would show itself armed and not be connected.
//
// What the library refuses and MQTT 3.1.1 allows is changed into what it takes: a
// will without a payload, which OnConnect changes back, and an empty password,
// which is as none. A CONNECT that is malformed is not answered: so MQTT 3.1.1
// wants it [MQTT-3.1.4-1].
func (g *guard) checkConnect(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	c := connOf(cl)
	if c == nil || pk.ProtocolVersion == 5 { // which has these codes, and is refused in them
		return pk, nil
	}
	hello := &pk.Connect
	if hello.WillFlag && len(hello.WillPayload) == 0 {
		hello.WillPayload, c.emptyWill = []byte{0}, true
	}
	if len(hello.Password) == 0 {
		hello.PasswordFlag = false
	}
	why, answer := pk.ConnectValidate(), packets.CodeSuccess
	switch {
	case why == packets.ErrProtocolViolationProtocolVersion:
		answer = packets.ErrUnsupportedProtocolVersion
	case why == packets.CodeSuccess && hello.ClientIdentifier == "" && !hello.Clean:
		why, answer = packets.ErrClientIdentifierNotValid, packets.ErrClientIdentifierNotValid
	case why == packets.CodeSuccess:
		return pk, nil
	}
	g.counters.add(connectRefused)
	g.told.tell(slog.LevelWarn, "connect refused", "malformed", addrOf(c.raw).String(), "remote", cl.Net.Remote, "why", why)
	if answer != packets.CodeSuccess {
		_ = g.srv.SendConnack(cl, answer, false, nil)
	}
	return pk, packets.ErrRejectPacket
}
