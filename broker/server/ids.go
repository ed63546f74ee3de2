package server

import (
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// OnPacketRead takes nothing of a connection that was cut, looks at a CONNECT, and keeps the packet ids of both directions apart where the library
// does not. It has one map for them, and refuses a SUBSCRIBE whose id is that of
// a delivery which the client has not acknowledged yet: the robot would then hear
// nothing, and many clients never look. So that delivery is taken for done; its
// acknowledgement will find nothing, which is harmless, for what is not
// acknowledged is not sent again anyway.
func (g *guard) OnPacketRead(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if c := connOf(cl); c != nil && c.cut.Load() != nil {
		return pk, packets.ErrRejectPacket // what was read already, be it a goodbye
	}
	switch pk.FixedHeader.Type {
	case packets.Connect:
		return g.checkConnect(cl, pk)
	case packets.Publish:
		g.answerUnroutable(cl, pk)
	case packets.Subscribe, packets.Unsubscribe:
		out, ok := cl.State.Inflight.Get(pk.PacketID)
		if ok && out.FixedHeader.Type == packets.Publish && cl.State.Inflight.Delete(pk.PacketID) {
			atomic.AddInt64(&g.srv.Info.Inflight, -1)
		}
	}
	return pk, nil
}
