package server

import (
	"strconv"
	"time"

	"github.com/mochi-mqtt/server/v2/packets"
	"github.com/mochi-mqtt/server/v2/system"
)

// systemEvery is how often the broker publishes its own topics, those below $SYS.
const systemEvery = time.Minute

// systemTopics are the topics below $SYS/broker, which the users of other brokers know, and their values. Those who
// watch a broker read /metrics.
var systemTopics = map[string]func(i *system.Info) string{
	"version":             func(i *system.Info) string { return i.Version },
	"uptime":              number(func(i *system.Info) int64 { return time.Now().Unix() - i.Started }),
	"clients/connected":   number(func(i *system.Info) int64 { return i.ClientsConnected }),
	"messages/received":   number(func(i *system.Info) int64 { return i.MessagesReceived }),
	"messages/sent":       number(func(i *system.Info) int64 { return i.MessagesSent }),
	"messages/dropped":    number(func(i *system.Info) int64 { return i.MessagesDropped }),
	"retained":            number(func(i *system.Info) int64 { return i.Retained }),
	"subscriptions":       number(func(i *system.Info) int64 { return i.Subscriptions }),
	"load/bytes/received": number(func(i *system.Info) int64 { return i.BytesReceived }),
	"load/bytes/sent":     number(func(i *system.Info) int64 { return i.BytesSent }),
}

func number(value func(*system.Info) int64) func(*system.Info) string {
	return func(i *system.Info) string { return strconv.FormatInt(value(i), 10) }
}

// publishSystem publishes the broker's own topics until done is closed.
//
// It takes the place of the library's Serve, which beside them looks each second for what has expired, and copies the
// map of all retained messages for it: at 10,000 robots that is more than all else the broker does at rest. Messages,
// sessions and wills that expire are those of MQTT 5, which is refused.
func (s *Server) publishSystem(done <-chan struct{}) {
	every := time.NewTicker(systemEvery)
	defer every.Stop()
	for {
		info := s.mochi.Info.Clone()
		for name, value := range systemTopics {
			topic, payload := "$SYS/broker/"+name, []byte(value(info))
			s.mochi.Topics.RetainMessage(packets.Packet{
				FixedHeader: packets.FixedHeader{Type: packets.Publish, Retain: true}, TopicName: topic, Payload: payload,
			})
			if err := s.guard.publish(topic, payload, 0, false); err != nil {
				s.cfg.Logger.Warn("the broker's own topic not published", "topic", topic, "error", err)
			}
		}
		select {
		case <-done:
			return
		case <-every.C:
		}
	}
}
