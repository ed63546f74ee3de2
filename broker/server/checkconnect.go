package server

import (
	"log/slog"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// checkConnect checks whether a CONNECT is well formed before the library does. The
// library is wrong about two things and answers with MQTT 5 codes. MQTT 3.1.1 clients know
// only the codes 1 to 5, and some take any other for success: a stop button would show
// itself as armed without being connected.
//
// Two things that MQTT 3.1.1 allows and the library refuses are changed into something
// that it accepts: a will without a payload, which authenticate changes back, and an empty
// password, which becomes none. A malformed CONNECT gets no answer, as MQTT 3.1.1 requires
// [MQTT-3.1.4-1].
func (g *guard) checkConnect(cl *mqtt.Client, pk *packets.Packet) error {
	c := connOf(cl)
	if pk.ProtocolVersion == 5 {
		return nil // connect refuses a malformed one and authenticate any other, both with codes that MQTT 5 clients know
	}
	connect := &pk.Connect
	if connect.WillFlag && len(connect.WillPayload) == 0 {
		connect.WillPayload, c.emptyWill = []byte{0}, true
	}
	if len(connect.Password) == 0 {
		connect.PasswordFlag = false
	}
	code, answer := pk.ConnectValidate(), packets.CodeSuccess
	why := code.Error()
	switch {
	case code == packets.ErrProtocolViolationProtocolVersion, code == packets.CodeSuccess && pk.ProtocolVersion < 4:
		answer = packets.ErrUnsupportedProtocolVersion
		why = "only MQTT 3.1.1 (level 4) is supported; set it in the client"
	case code == packets.CodeSuccess && connect.ClientIdentifier == "" && !connect.Clean:
		answer = packets.ErrClientIdentifierNotValid
		why = "no client id and no clean session: set clean session in the client, or a client id"
	case code == packets.CodeSuccess:
		return nil
	}
	g.counters.add(connectRefused)
	g.throttledLog.add(slog.LevelWarn, "connect refused", "malformed", addrOf(c.raw).String(), "remote", cl.Net.Remote, "why", why)
	if answer != packets.CodeSuccess {
		_ = g.srv.SendConnack(cl, answer, false, nil)
	}
	return packets.ErrRejectPacket
}
