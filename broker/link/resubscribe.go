package link

import (
	"fmt"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// renew requests the subscriptions with Renew again. A broker that still has them grants
// them again and nothing changes; one that lost them has them again.
func (s *session) renew() {
	if len(s.renewable()) == 0 {
		return
	}
	select {
	case s.out <- outgoing{renew: true}:
	default: // the outbox is full: retry at the next renewal
	}
}

func (s *session) renewable() map[string]byte {
	f := map[string]byte{}
	for _, sub := range s.cfg.Subscribe {
		if sub.Renew {
			f[sub.Filter] = sub.QoS
		}
	}
	return f
}

// resubscribe runs on the writer. A goroutine of its own waits for the answer, and fails
// the connection if there is none or a filter is refused.
func (s *session) resubscribe() {
	f := s.renewable()
	tok := s.client.SubscribeMultiple(f, nil).(*mqtt.SubscribeToken)
	s.workers.Go(func() {
		late := time.NewTimer(s.cfg.ConnectTimeout)
		defer late.Stop()
		select {
		case <-tok.Done():
			answers := tok.Result()
			for filter := range f {
				if tok.Error() == nil && !s.granted(answers, filter) {
					s.conn.fail(fmt.Errorf("renew subscription to %s: %w", filter, ErrRefused))
				}
			}
		case <-late.C:
			s.conn.fail(fmt.Errorf("%w: renewed subscriptions were not granted within %v", ErrHalfOpen, s.cfg.ConnectTimeout))
		case <-s.flushing:
		case <-s.ended:
		}
	})
}
