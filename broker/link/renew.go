package link

import (
	"fmt"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// renew asks for subscriptions again. A broker that still has them grants them
// anew, and nothing changes; one that lost one has it again.
func (s *session) renew() {
	if len(s.renewed()) == 0 {
		return
	}
	select {
	case s.out <- outgoing{renew: true}:
	default: // the outbox is full: it is asked next time
	}
}

func (s *session) renewed() map[string]byte {
	f := map[string]byte{}
	for _, sub := range s.cfg.Subscribe {
		if sub.Renew {
			f[sub.Filter] = sub.QoS
		}
	}
	return f
}

// subscribeAgain is the writer's. Nobody waits for the answer but a goroutine of
// its own, which gives the connection up if there is none, or it is no.
func (s *session) subscribeAgain() {
	f := s.renewed()
	tok := s.client.SubscribeMultiple(f, nil).(*mqtt.SubscribeToken)
	s.wrote.Go(func() {
		late := time.NewTimer(s.cfg.ConnectTimeout)
		defer late.Stop()
		select {
		case <-tok.Done():
			answers := tok.Result()
			for filter := range f {
				if tok.Error() == nil && !s.granted(answers, filter) {
					s.conn.fail(fmt.Errorf("subscribe to %s again: %w", filter, ErrRefused))
				}
			}
		case <-late.C:
			s.conn.fail(fmt.Errorf("%w: subscriptions asked for again were not granted within %v", ErrHalfOpen, s.cfg.ConnectTimeout))
		case <-s.quit:
		case <-s.ended:
		}
	})
}
