package fleet

import (
	"context"
	"errors"
	"time"

	"troupe/broker/link"
	"troupe/schema"
)

// heartbeat is fleetd's next sign of life. It is also the word by which fleetd
// finds its connection in order.
func (f *Fleet) heartbeat(session string, now time.Time) link.Message {
	seq := f.beats.Add(1)
	body, err := schema.Encode(schema.FleetHeartbeat{TS: schema.TimeOf(now), Session: session, Seq: seq})
	if err != nil {
		f.log.Error("heartbeat not encoded", "error", err)
	}
	f.view.Sent(seq, now)
	return link.Message{Topic: f.ns.Topic(schema.TopicFleetHeartbeat, f.cfg.Name), Payload: body}
}

// beat is fleetd's sign of life to every robot: as long as it arrives,
// somebody can stop them. It is made by the loop that also looks after
// commands' age and robots' presence, not by the connection: a fleetd instance that hangs
// goes silent.
func (f *Fleet) beat(ctx context.Context) {
	every := time.NewTicker(f.cfg.Heartbeat)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-every.C:
			f.turned(f.view.Tick(now)...)
			session := f.link.Session()
			if session == "" {
				continue
			}
			if err := f.link.Publish(ctx, f.heartbeat(session, now)); err != nil && !errors.Is(err, link.ErrNotReady) {
				f.log.Warn("heartbeat not sent", "error", err)
			}
		}
	}
}
