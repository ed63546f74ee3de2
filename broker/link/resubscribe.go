package link

import (
	"fmt"
	"slices"
	"strings"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// resubscribe sends what has changed in the subscriptions. It runs on the writer. A
// goroutine of its own waits for the answer, and fails the connection if there is none or a
// filter is refused.
func (s *session) resubscribe() {
	end, f := s.subs.next()
	if len(end) > 0 {
		s.client.Unsubscribe(end...) // if it is lost, the connection is too
	}
	if len(f) == 0 {
		return
	}
	s.conn.requested.Store(int64(len(f)))
	tok := s.client.SubscribeMultiple(f, nil).(*mqtt.SubscribeToken)
	s.workers.Go(func() {
		late := time.NewTimer(s.cfg.ConnectTimeout)
		defer late.Stop()
		answered := tok.Done()
		for {
			select {
			case <-answered:
				if tok.Error() != nil { // not sent: the connection is ending, or else the time limit below ends it
					answered = nil
					continue
				}
				if denied := s.denied(f, tok.Result()); len(denied) > 0 {
					s.conn.fail(fmt.Errorf("subscribe to %s: %w", strings.Join(denied, ", "), ErrRefused))
				}
				s.subs.answered()
			case <-late.C:
				s.conn.fail(fmt.Errorf("%w: subscriptions were not granted within %v", ErrHalfOpen, s.cfg.ConnectTimeout))
			case <-s.flushing:
			case <-s.ended:
			}
			return
		}
	})
}

// denied returns the requested filters that the broker's answer does not grant, without those
// that are optional.
func (s *session) denied(requested, answers map[string]byte) (denied []string) {
	for filter := range requested {
		qos, ok := answers[filter]
		if refused := qos == 0x80 && s.subs.isOptional(filter); !ok || qos > 2 && !refused {
			denied = append(denied, filter)
		}
	}
	slices.Sort(denied)
	return denied
}
