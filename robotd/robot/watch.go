package robot

import (
	"context"
	"sync/atomic"
	"time"

	"troupe/broker/link"
	"troupe/schema"
)

const (
	// hungAfter is how long the loop may take for one step. A step is never long, and the
	// loop makes several a second when nothing happens.
	hungAfter = 3 * time.Second
	// hungEvery is how often the loop is looked at, and how often the presence says that it
	// hangs.
	hungEvery = time.Second
)

// pulse is when the loop made its last step.
type pulse struct{ at atomic.Int64 } // nanoseconds after the start

func (p *pulse) beat(since time.Duration)    { p.at.Store(int64(since)) }
func (p *pulse) last() (since time.Duration) { return time.Duration(p.at.Load()) }

// watch looks at the loop from outside. A loop that hangs sends no heartbeat, and its
// units stop by themselves since nobody feeds them; but to others it looks like a robot
// whose network is gone. So the connection publishes for it that it is there and why it
// is silent.
func (p *mqttAdapter) watch(ctx context.Context, l *link.Link) {
	every := time.NewTicker(hungEvery)
	defer every.Stop()
	var seen, hungAt time.Duration // of the pulse
	told := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		pulse, now := p.loop.pulse.last(), time.Since(p.loop.start)
		stands := pulse == seen // also since the last look: a computer that slept is no hung loop
		seen = pulse
		switch hung := stands && now-pulse >= hungAfter; {
		case hung:
			if !told {
				p.log.Error("the control loop hangs: no heartbeat and no answer will come; units that move stop by themselves", "since", now-pulse)
			}
			told, hungAt = true, pulse
			p.repeat(l, schema.PresenceStalled)
		case told && !stands:
			p.log.Error("the control loop moves again", "hung", now-hungAt)
			told = false
			p.repeat(l, "")
		}
	}
}

// repeat publishes the robot's presence again, with a reason.
func (p *mqttAdapter) repeat(l *link.Link, reason string) {
	session := l.Session()
	if session == "" {
		return
	}
	doc := p.online(session)
	doc.Reason = reason
	if err := l.Publish(never, p.presence(doc)); err != nil {
		p.log.Debug("presence not repeated", "error", err)
	}
}
