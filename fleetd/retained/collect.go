package retained

import (
	"context"
	"log/slog"
	"time"

	"troupe/broker/link"
	"troupe/schema"
)

const (
	// sweepQuiet is the pause after which all retained messages have arrived, and
	// sweepWithin bounds the collection of them.
	sweepQuiet  = 500 * time.Millisecond
	sweepWithin = 10 * time.Second
)

// Collect returns the retained commands and live stops of a namespace. It receives them over
// a connection of its own: open makes another one of this instance, whose client id ends with
// suffix.
func Collect(ctx context.Context, open func(ctx context.Context, suffix string, cfg link.Config) (*link.Link, error), ns schema.Namespace,
	log *slog.Logger) ([]link.Message, error) {
	ctx, cancel := context.WithTimeout(ctx, sweepWithin)
	defer cancel()
	came := make(chan link.Message, 1024)
	l, err := open(ctx, "sweep", link.Config{
		Subscribe: []link.Subscription{
			{Filter: ns.Topic(schema.TopicCmd, "+", "+", "+", "+"), QoS: 1},
			{Filter: ns.Topic(schema.TopicFleetStopCmd, "+"), QoS: 1},
		},
		OnMessage: func(m link.Message) {
			if m.Retain && len(m.Payload) > 0 {
				select {
				case came <- m:
				default: // the next sweep finds it
				}
			}
		},
		Logger: log.With("link", "sweep"),
	})
	if err != nil {
		return nil, err
	}
	defer l.Close(context.WithoutCancel(ctx))
	if err := l.WaitUp(ctx); err != nil {
		return nil, err
	}
	var kept []link.Message
	for {
		quiet := time.NewTimer(sweepQuiet)
		select {
		case m := <-came:
			quiet.Stop()
			kept = append(kept, m)
		case <-quiet.C:
			return kept, nil
		case <-ctx.Done():
			quiet.Stop()
			return nil, context.Cause(ctx)
		}
	}
}
