package robot

import (
	"troupe/broker/link"
	"troupe/robotd/brain"
	"troupe/robotd/latch"
	"troupe/schema"
)

// stop hands over what stops the robot, or release a stop, before all else
// that waits. A document that somebody emptied says nothing.
func (p *mqttAdapter) stop(kind schema.TopicKind, client string, m link.Message) {
	if kind == schema.TopicFleetStopCmd {
		p.loop.stop(p.ctx, brain.Called{Client: client, Payload: m.Payload, Retained: m.Retain, N: m.N})
		return
	}
	if len(m.Payload) == 0 {
		p.log.Warn("a document of stops was emptied; it releases nothing", "topic", m.Topic)
		return
	}
	ev := stopDocument(kind, m.Payload)
	ev.N = m.N
	p.loop.stop(p.ctx, ev)
}

// stopDocument reads desired/stop or fleet/stop.
func stopDocument(kind schema.TopicKind, payload []byte) (ev brain.Stopped) {
	if kind == schema.TopicDesiredStop {
		v, sum, problems := read[schema.DesiredStop](payload)
		if len(problems) > 0 {
			ev.Document = latch.Document{From: latch.Robot, Problem: "desired/stop cannot be read: " + problems[0].String()}
			return ev
		}
		ev.Document = latch.Document{From: latch.Robot, Rev: v.Rev, FleetID: v.FleetID, Stops: v.Stops}
		ev.Counter, ev.Sig, ev.Digest = v.Counter, v.Sig, sum
		return ev
	}
	v, sum, problems := read[schema.FleetStop](payload)
	if len(problems) > 0 {
		ev.Document = latch.Document{From: latch.Fleet, Problem: "fleet/stop cannot be read: " + problems[0].String()}
		return ev
	}
	ev.Document = latch.Document{From: latch.Fleet, Rev: v.Rev, FleetID: v.FleetID}
	ev.Counter, ev.Sig, ev.Digest = v.Counter, v.Sig, sum
	if v.Active {
		ev.Stops = []schema.StopLatch{{ID: v.ID, Level: v.Level, By: v.By, Client: v.Client, Why: v.Why, Since: v.TS, All: true}}
	}
	return ev
}
