package robot

import (
	"context"
	"time"

	"troupe/broker/link"
	"troupe/robotd/wire"
)

// stopSuffix is that of the client id of the connection for stops.
const stopSuffix = "stop"

// stopLinkEvery is how often a robot looks whether its two connections have met at one node.
const stopLinkEvery = 30 * time.Second

// A stop link is a second connection of a robot, for stops only, to another node of a cluster: when a node is lost that leads sessions,
// the others take no connection for some seconds, but deliver to the clients that they have. Each stop arrives over both connections,
// which does no harm: it has an id, or asks for what is the case already. nil if the robot's brokers are no cluster.
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
			p.arrived(m)
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
