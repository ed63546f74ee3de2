package robot

import (
	"context"
	"sync/atomic"
	"time"

	"troupe/broker/link"
	"troupe/schema"
)

const (
	// hungAfter is how long the loop may be without a step. A step is short, and an idle loop
	// makes several per second.
	hungAfter = 3 * time.Second
	// hungEvery is the interval at which the loop is checked, and at which the presence
	// repeats that it hangs.
	hungEvery = time.Second
)

// pulse is the time of the loop's last step.
type pulse struct{ at atomic.Int64 } // nanoseconds after the start

func (p *pulse) beat(since time.Duration)    { p.at.Store(int64(since)) }
func (p *pulse) last() (since time.Duration) { return time.Duration(p.at.Load()) }

// watch detects a loop that hangs. Such a loop sends no heartbeat, and units that move stop
// by themselves because they are not fed; but to other clients the robot would look as if
// its network had failed. So the connection publishes the presence again, with the reason
// "stalled".
func (p *mqttTranslator) watch(ctx context.Context, l *link.Link) {
	every := time.NewTicker(hungEvery)
	defer every.Stop()
	var seen, hungAt time.Duration // of the pulse
	reported := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		pulse, now := p.loop.pulse.last(), time.Since(p.loop.start)
		hangs := pulse == seen // unchanged since the last check, so that a computer that was suspended does not count
		seen = pulse
		switch hung := hangs && now-pulse >= hungAfter; {
		case hung:
			if !reported {
				p.log.Error("control loop hangs: the robot sends neither heartbeats nor answers; units that move stop by themselves",
					"since", now-pulse)
			}
			reported, hungAt = true, pulse
			p.repeat(l, schema.PresenceStalled)
		case reported && !hangs:
			p.log.Error("control loop runs again", "hung", now-hungAt)
			reported = false
			p.repeat(l, "")
		}
	}
}

// repeat publishes the robot's presence again, with a reason.
func (p *mqttTranslator) repeat(l *link.Link, reason string) {
	session := l.Session()
	if session == "" {
		return
	}
	doc := p.online(session)
	doc.Reason = reason
	if err := l.Publish(noWait, p.presence(doc)); err != nil {
		p.log.Debug("presence not repeated", "error", err)
	}
}
