package server

import (
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// OnPacketRead rejects packets of a connection that the broker has ended, checks a CONNECT, and
// keeps the packet ids of both directions apart, which the library does not. It has one map for
// both, and refuses a SUBSCRIBE whose id equals that of an unacknowledged delivery: the
// robot would then receive nothing, and many clients never check. So that delivery is
// removed. Its acknowledgement then finds nothing, which is harmless, since unacknowledged
// deliveries are never sent again.
func (g *guard) OnPacketRead(cl *mqtt.Client, pk packets.Packet) (packets.Packet, error) {
	if c := connOf(cl); c != nil && (c.cut.Load() != nil || c.kicked.Load() != nil) {
		return pk, packets.ErrRejectPacket // the library may have read more packets already, also a DISCONNECT, which would discard the will
	}
	switch pk.FixedHeader.Type {
	case packets.Connect:
		return g.checkConnect(cl, pk)
	case packets.Publish:
		g.answerUnroutable(cl, pk)
	case packets.Puback, packets.Pubrec:
		if c := connOf(cl); c != nil {
			g.stopAcknowledged(c, pk.PacketID)
		}
	case packets.Subscribe, packets.Unsubscribe:
		out, ok := cl.State.Inflight.Get(pk.PacketID)
		if ok && out.FixedHeader.Type == packets.Publish && cl.State.Inflight.Delete(pk.PacketID) {
			atomic.AddInt64(&g.srv.Info.Inflight, -1)
		}
	}
	return pk, nil
}
