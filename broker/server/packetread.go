package server

import (
	"sync/atomic"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// checkPacket rejects packets of a connection that the broker has ended, and
// keeps the packet ids of both directions apart, which the library does not. It has one map for
// both, and refuses a SUBSCRIBE whose id equals that of an unacknowledged delivery: the
// robot would then receive nothing, and many clients never check. So that delivery is
// removed. Its acknowledgement then finds nothing, which is harmless, since unacknowledged
// deliveries are never sent again.
func (g *guard) checkPacket(cl *mqtt.Client, c *conn, pk *packets.Packet) error {
	if c.cut.Load() != nil || c.kicked.Load() != nil {
		return packets.ErrRejectPacket // it may have sent more packets already, also a DISCONNECT, which would discard the will
	}
	switch pk.FixedHeader.Type {
	case packets.Pubrec:
		g.stopAcknowledged(c, pk.PacketID)
	case packets.Subscribe, packets.Unsubscribe:
		g.forgetDelivery(cl, pk.PacketID)
	}
	return nil
}

// forgetDelivery removes the unacknowledged delivery with that packet id, if there is one.
func (g *guard) forgetDelivery(cl *mqtt.Client, id uint16) {
	out, ok := cl.State.Inflight.Get(id)
	if ok && out.FixedHeader.Type == packets.Publish && cl.State.Inflight.Delete(id) {
		atomic.AddInt64(&g.srv.Info.Inflight, -1)
	}
}
