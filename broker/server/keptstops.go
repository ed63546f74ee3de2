package server

import (
	"bytes"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"

	"troupe/broker/access"
	"troupe/schema"
)

// keepStop is how long the broker keeps a live stop. After a broker or a network has failed, robots and
// fleetd connect again within a few seconds.
const keepStop = 30 * time.Second

// Beyond these bounds the oldest stop is dropped.
const (
	maxKeptStops     = 256
	maxKeptStopBytes = 1 << 20 // of their payloads; the newest is kept whatever its size
)

// keptStops holds the live stops of the last keepStop, so that robots and fleetd that subscribe
// meanwhile get them: a stop that was pressed before they had connected again would be lost
// otherwise. They are not retained messages, which every later subscriber would get for ever.
//
// Nobody gets a stop again that they acknowledged, on whichever of their connections: it may have been
// released meanwhile, and would latch again.
type keptStops struct {
	mu    sync.Mutex
	stops []*keptStop // oldest first
	some  atomic.Bool // stops is not empty
}

// keptStop is one live stop. If the same message is sent again, it is another stop in its place.
type keptStop struct {
	at      time.Time
	id      string // under which it is latched and released
	topic   string
	payload []byte
	qos     byte
	to      map[string]stopDelivery // by user name
	fleetd  bool                    // some fleetd has it, so a release by fleetd may mean it
}

// stopDelivery is the newest delivery of a stop to a user.
type stopDelivery struct {
	conn         *conn
	acknowledged bool
}

// add keeps a stop and returns how many older ones it dropped before their time.
func (k *keptStops) add(s *keptStop) (dropped int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expire(s.at)
	k.stops = slices.DeleteFunc(k.stops, func(o *keptStop) bool { return o.is(s.topic, s.payload) })
	k.stops = append(k.stops, s)
	k.some.Store(true)
	size := 0
	for i := len(k.stops) - 1; i >= 0; i-- {
		if size += len(k.stops[i].payload); i < len(k.stops)-1 && (size > maxKeptStopBytes || len(k.stops)-i > maxKeptStops) {
			k.stops, dropped = slices.Delete(k.stops, 0, i+1), i+1
			break
		}
	}
	return dropped
}

func (s *keptStop) is(topic string, payload []byte) bool {
	return s.topic == topic && bytes.Equal(s.payload, payload)
}

// expire must be called before stops is read.
func (k *keptStops) expire(now time.Time) {
	k.stops = slices.DeleteFunc(k.stops, func(s *keptStop) bool { return now.Sub(s.at) >= keepStop })
	k.some.Store(len(k.stops) > 0)
}

// sent records that a message is delivered to a user over c, and returns the stop that it is, or nil.
func (k *keptStops) sent(c *conn, topic string, payload []byte) *keptStop {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.stops {
		if s.is(topic, payload) {
			s.deliver(c)
			return s
		}
	}
	return nil
}

func (s *keptStop) deliver(c *conn) {
	if name := c.client.Load().Name; !s.to[name].acknowledged {
		s.to[name] = stopDelivery{conn: c}
	}
}

func (k *keptStops) acknowledged(s *keptStop, c *conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	who := c.client.Load()
	s.to[who.Name] = stopDelivery{c, true}
	s.fleetd = s.fleetd || who.Role == schema.RoleFleetd
}

// take returns the stops that are to be sent over c, oldest first, and records them as sent: those that its
// user did not acknowledge and that were not sent over c. Of the instances of fleetd one is enough: they share what
// they have latched, and one that learns of a stop without an id late takes it for another press.
func (k *keptStops) take(now time.Time, c *conn, wanted func(topic string) bool) (due []*keptStop) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expire(now)
	who := c.client.Load()
	for _, s := range k.stops {
		if s.fleetd && who.Role == schema.RoleFleetd {
			continue
		}
		if d := s.to[who.Name]; !d.acknowledged && d.conn != c && wanted(s.topic) {
			s.deliver(c)
			due = append(due, s)
		}
	}
	return due
}

// release drops the stops with these ids that some fleetd has. If none has it, the release means an
// earlier stop with the same id.
func (k *keptStops) release(ids []schema.StopRelease) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stops = slices.DeleteFunc(k.stops, func(s *keptStop) bool {
		return s.fleetd && slices.ContainsFunc(ids, func(r schema.StopRelease) bool { return r.ID == s.id })
	})
}

// stopsInFlight are the live stops that a connection has not acknowledged, by packet id. The
// library's own map would not do: a packet of the other direction with the same id removes a delivery from it.
type stopsInFlight struct {
	mu       sync.Mutex
	byPacket map[uint16]*keptStop
}

func (f *stopsInFlight) put(id uint16, s *keptStop) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byPacket == nil {
		f.byPacket = map[uint16]*keptStop{}
	}
	f.byPacket[id] = s
}

func (f *stopsInFlight) take(id uint16) *keptStop {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.byPacket[id]
	delete(f.byPacket, id)
	return s
}

// keepLiveStop keeps a message if it is a live stop. It is called before the library looks for receivers: whoever
// subscribes meanwhile gets the stop in one of both ways.
func (g *guard) keepLiveStop(topic string, payload []byte, qos byte) {
	row, params, _ := g.ns.Match(topic)
	if g.bus || row.Kind != schema.TopicFleetStopCmd {
		return
	}
	stop, _ := schema.ReadStop(params.CID, payload)
	dropped := g.stops.add(&keptStop{
		at: time.Now(), id: stop.ID, topic: topic, payload: slices.Clone(payload), qos: qos, to: map[string]stopDelivery{},
	})
	if dropped > 0 {
		g.counters[keptStopDropped].Add(int64(dropped))
		g.throttledLog.add(slog.LevelWarn, "kept live stops dropped before their time: a robot that connects now does not get them", "", topic,
			"newest", topic, "dropped", dropped, "max", maxKeptStops, "max_bytes", maxKeptStopBytes)
	}
}

// dropReleasedStops drops those live stops that a document of fleetd releases: a robot that connects now would latch
// them again.
func (g *guard) dropReleasedStops(c *client, pk *packets.Packet) {
	if !g.stops.some.Load() || c.Role != schema.RoleFleetd {
		return
	}
	if row, _, _ := g.ns.Match(pk.TopicName); row.Kind != schema.TopicDesiredStop && row.Kind != schema.TopicFleetStop {
		return
	}
	doc, _ := schema.Decode[releases](pk.Payload)
	g.stops.release(doc.Released)
}

// releases is what DesiredStop and FleetStop say about released stops.
type releases struct {
	Released []schema.StopRelease `json:"released"`
}

// getsKeptStops reports whether kept stops are for that connection: of a robot, which stops, or of fleetd, which
// latches them on all robots that they mean.
func (g *guard) getsKeptStops(c *conn) bool {
	if !g.stops.some.Load() {
		return false
	}
	who := c.client.Load()
	return who != nil && (who.Role == schema.RoleRobot || who.Role == schema.RoleFleetd)
}

// sendKeptStops sends the stops that are kept for a client that has subscribed. It writes them as the library
// writes an acknowledgement, ahead of what is queued.
func (g *guard) sendKeptStops(cl *mqtt.Client, c *conn) {
	if !g.getsKeptStops(c) {
		return
	}
	filters := cl.State.Subscriptions.GetAll()
	qosOf := func(topic string) (qos byte, wanted bool) {
		for filter, sub := range filters {
			if access.Matches(filter, topic) {
				qos, wanted = max(qos, min(sub.Qos, 1)), true
			}
		}
		return qos, wanted && c.client.Load().rights.MayRead(topic)
	}
	for _, s := range g.stops.take(time.Now(), c, func(topic string) bool { _, wanted := qosOf(topic); return wanted }) {
		qos, _ := qosOf(s.topic)
		out := packets.Packet{
			FixedHeader: packets.FixedHeader{Type: packets.Publish, Qos: min(qos, s.qos)},
			TopicName:   s.topic, Payload: s.payload, Created: time.Now().Unix(),
		}
		if out.FixedHeader.Qos > 0 {
			id, err := cl.NextPacketID()
			if err != nil {
				g.cut(cl, c, unacknowledged, errUnacknowledged)
				return
			}
			out.PacketID = uint16(id)
			if cl.State.Inflight.Set(out) {
				atomic.AddInt64(&g.srv.Info.Inflight, 1)
				g.OnQosPublish(cl, out, out.Created, 0)
				cl.State.Inflight.DecreaseSendQuota()
			}
		}
		c.tally.queued.Add(1) // afterWrite counts it as written
		if err := cl.WritePacket(out); err != nil {
			g.throttledLog.add(slog.LevelWarn, "kept live stop not sent", "", cl.ID, "client", cl.ID, "topic", s.topic, "error", err)
			return // the connection ends, and the stop is sent over the next one
		}
		g.counters.add(keptStopSent)
	}
}

// stopInFlight records a delivery of QoS 1 or 2.
func (g *guard) stopInFlight(c *conn, pk *packets.Packet) {
	if pk.FixedHeader.Type != packets.Publish || !g.getsKeptStops(c) {
		return
	}
	if s := g.stops.sent(c, pk.TopicName, pk.Payload); s != nil {
		c.stops.put(pk.PacketID, s)
	}
}

// stopAcknowledged is called for each PUBACK and PUBREC.
func (g *guard) stopAcknowledged(c *conn, id uint16) {
	if !g.getsKeptStops(c) {
		return
	}
	if s := c.stops.take(id); s != nil {
		g.stops.acknowledged(s, c)
	}
}

// stopWritten records a stop of QoS 0 as acknowledged: nothing better will be known about it.
func (g *guard) stopWritten(c *conn, pk *packets.Packet) {
	if pk.FixedHeader.Qos > 0 || !g.getsKeptStops(c) {
		return
	}
	if s := g.stops.sent(c, pk.TopicName, pk.Payload); s != nil {
		g.stops.acknowledged(s, c)
	}
}
