package fleet

import (
	"context"
	"errors"
	"time"

	"troupe/broker/link"
	"troupe/schema"
)

// heartbeat is fleetd's next heartbeat. Receiving its own heartbeats also shows fleetd that
// its connection is not half-open.
func (f *Fleet) heartbeat(session string, now time.Time) link.Message {
	seq := f.beats.Add(1)
	body, err := schema.Encode(schema.FleetHeartbeat{
		TS: schema.TimeOf(now), Session: session, Seq: seq, Instance: f.instance(), MaxHeartbeatMS: schema.RestHeartbeatMS,
	})
	if err != nil {
		f.log.Error("heartbeat not encoded", "error", err)
	}
	f.view.HeartbeatSent(seq, now)
	return link.Message{Topic: f.ns.Topic(schema.TopicFleetHeartbeat, f.cfg.Name), Payload: body}
}

// instance is what fleetd says of itself to other instances.
func (f *Fleet) instance() schema.FleetInstance {
	version := f.cfg.Version
	return schema.FleetInstance{
		Version: version[:min(len(version), schema.MaxInstanceVersion)], StartedAt: schema.TimeOf(f.started), Leads: f.leadership.Status().Leads,
		Database: f.health.databaseOK(),
	}
}

// publishUrgent publishes a heartbeat or a live stop beside the connection that carries commands: behind a command to each of some
// thousand robots a heartbeat was 4 s late, and robots that miss it for 5 s act as without fleetd. While the other
// connection is down, takes nothing or seems to be half-open it goes there, too.
func (f *Fleet) publishUrgent(ctx context.Context, m link.Message) error {
	beside, cancel := context.WithTimeout(ctx, f.cfg.Heartbeat/4)
	defer cancel()
	if f.teleop.PublishUrgent(beside, m) == nil {
		return nil
	}
	return f.link.PublishLive(ctx, m)
}

// beat publishes fleetd's heartbeat, by which robots know that people can stop them: by live stops beside commands, by documents over
// the leader's connection, and by commands. Without a session of the main connection it publishes none. The loop
// that updates robots' presence sends it, and not the connection, so that an instance that
// hangs goes silent.
func (f *Fleet) beat(ctx context.Context) {
	every := time.NewTicker(f.cfg.Heartbeat)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-every.C:
			f.presenceChanged(f.view.Tick(now)...)
			session := f.link.Session()
			if session == "" {
				continue
			}
			if err := f.publishUrgent(ctx, f.heartbeat(session, now)); err != nil && !errors.Is(err, link.ErrNotReady) {
				f.log.Warn("heartbeat not sent", "error", err)
			}
		}
	}
}
