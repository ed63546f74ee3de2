package robot

import (
	"context"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/robotd/wire"
)

// stopSuffix is that of the client id of the connection for stops.
const stopSuffix = "stop"

// stopLinkEvery is how often a robot looks whether its two connections have met at one node.
const stopLinkEvery = 30 * time.Second

// A stop link is a second connection of a robot, for stops only, to another node of a cluster: when a node is lost that leads sessions,
// the others take no connection for some seconds, but deliver to the clients that they have. Each stop arrives over both connections, see
// stopCopies. nil if the robot's brokers are no cluster.
func (p *mqttTranslator) openStopLink(ctx context.Context, c Config, own *link.Link) (*link.Link, error) {
	if !c.Engine.IsCluster() || len(c.FallbackBrokers) == 0 || c.Dial != nil {
		return nil, nil
	}
	return link.Open(ctx, link.Config{
		URL: c.Broker, FallbackURLs: c.FallbackBrokers, LastFirst: true, TLS: c.encryption, Random: c.Random,
		Engine: c.Engine, Name: p.id, Suffix: stopSuffix, Password: c.Password,
		Subscribe: wire.StopSubscriptions(p.ns, p.id),
		OnMessage: func(m link.Message) {
			// The connections number their messages separately. While the robot's own one is up, it brings the stop, too, with its place in
			// the order. Otherwise the stop is newer than all that came over it.
			if m.N = 0; own.Session() == "" {
				m.N = own.NextN()
			}
			p.deliver(m, stopSuffix)
		},
		Urgent: p.urgent, DedupKey: p.dedupKey,
		Logger: p.log.With("connection", stopSuffix),
	})
}

// keepApart moves the connection for stops to another node when both are at one.
func keepApart(ctx context.Context, own, stops *link.Link, interval time.Duration) {
	every := time.NewTicker(interval)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			if at := stops.URL(); at != "" && at == own.URL() {
				stops.ReplaceSession(link.ErrNextBroker)
			}
		}
	}
}

// copyArrives is within what time a stop arrives over the second connection that the first one has brought.
const copyArrives = time.Second

// maxStopCopies bounds the stops whose copies are awaited. Beyond that stops are obeyed twice, which does no harm.
const maxStopCopies = 256

// stopCopies knows which live stops one connection has brought, so that the copy over the other one is not another stop: one without
// an id, such as that of a button, would be latched twice.
type stopCopies struct {
	mu    sync.Mutex
	first map[string]stopArrival // by topic and payload
}

// A stopArrival is how often one connection has brought a stop whose copies have not arrived.
type stopArrival struct {
	over string // suffix of the connection
	n    int
	at   time.Time // of the newest
}

// take notes a stop, and reports whether it is the copy of one that the other connection brought.
func (c *stopCopies) take(m link.Message, over string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := m.Topic + " " + string(m.Payload)
	is, known := c.first[key]
	if known = known && now.Sub(is.at) < copyArrives; known && is.over != over {
		if is.n--; is.n == 0 {
			delete(c.first, key)
		} else {
			c.first[key] = is
		}
		return true
	}
	if !known {
		is = stopArrival{over: over}
	}
	if len(c.first) >= maxStopCopies || c.first == nil {
		c.first = map[string]stopArrival{}
	}
	is.n, is.at = is.n+1, now
	c.first[key] = is
	return false
}
