package dispatch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/command"
	"troupe/fleetd/trace"
	"troupe/schema"
	"troupe/schema/verb"
)

// query sends the robot a sys/query about a command.
func (d *Dispatcher) query(ctx context.Context, now time.Time, c *activeCommand) {
	v, _ := verb.Of("sys", "query")
	d.queries++
	payload, err := verb.Encode(v, verb.Request{Args: verb.Query{ID: c.ID}, Envelope: schema.Envelope{
		ID: fmt.Sprintf("%s%s:%d", queryPrefix, c.ID, d.queries), TS: schema.TimeOf(now), TTLMS: v.TTL.Milliseconds(),
	}})
	if err != nil {
		d.deps.Log.Error("sys/query not encoded", "error", err)
		return
	}
	d.Send(ctx, command.Command{Robot: c.Robot, Verb: v.ID(), Payload: payload})
}

// Send publishes a command. One that would latch a stop that is being released waits for
// the outcome.
func (d *Dispatcher) Send(ctx context.Context, c command.Command) {
	if !d.deps.DeferIfReleasing(c) {
		d.SendNow(ctx, c)
	}
}

// SendNow hands a command to the broker. If the link is down it is dropped: command.Due
// decides whether it is sent again.
func (d *Dispatcher) SendNow(ctx context.Context, c command.Command) {
	group, name, _ := strings.Cut(c.Verb, "/")
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	ctx, span := trace.Start(ctx, trace.Producer, "send "+c.Verb, trace.String("messaging.system", "mqtt"),
		trace.String("troupe.robot", c.Robot))
	m := link.Message{Topic: d.deps.Namespace.Topic(schema.TopicCmd, c.Robot, d.deps.Name, group, name), Payload: c.Payload, QoS: 1}
	err := d.deps.Publish(ctx, m)
	span.EndWith(err)
	if err != nil {
		d.deps.Log.WarnContext(ctx, "command not sent", "robot", c.Robot, "verb", c.Verb, "command", c.ID, "error", err)
	}
}
