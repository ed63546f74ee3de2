package link

import (
	"context"
	"fmt"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// markEnded is called once the library has ended all goroutines of the connection.
func (s *session) markEnded(err error) {
	if cause := s.conn.endCause(); cause != nil {
		err = cause
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.isOver {
		s.isOver, s.endCause = true, err
		close(s.ended)
	}
}

// abort ends the connection without DISCONNECT, so that the broker sends the will.
func (s *session) abort(err error) {
	s.conn.fail(err)
	s.client.Disconnect(uint(s.cfg.WriteTimeout.Milliseconds())) // returns when its goroutines have ended
	s.markEnded(err)
	s.workers.Wait()
}

// flush sends what is queued and waits until the workers have stopped. What is queued later is
// never sent.
func (s *session) flush() {
	s.flushOnce.Do(func() { close(s.flushing) })
	s.workers.Wait()
}

// publishNow publishes m without the queue, which is flushed, and waits until the broker
// has acknowledged it.
func (s *session) publishNow(ctx context.Context, m Message) error {
	if err := s.cfg.check(m); err != nil {
		return err
	}
	return s.awaitAck(ctx, m.Topic, s.client.Publish(m.Topic, m.QoS, m.Retain, m.Payload))
}

// awaitAck waits until the broker has acknowledged the message of tok.
func (s *session) awaitAck(ctx context.Context, topic string, tok mqtt.Token) error {
	select {
	case <-tok.Done():
	case <-s.ended:
		return fmt.Errorf("publish %q: not acknowledged: %w", topic, s.endCause)
	case <-ctx.Done():
		return fmt.Errorf("publish %q: not acknowledged: %w", topic, context.Cause(ctx))
	}
	if err := tok.Error(); err != nil {
		return fmt.Errorf("publish %q: %w", topic, err)
	}
	return nil
}

// close flushes the queue and sends DISCONNECT, so that no will is sent.
func (s *session) close(why error) {
	s.flush()
	s.conn.disconnecting.Store(true)
	s.client.Disconnect(uint(s.cfg.WriteTimeout.Milliseconds()))
	s.conn.fail(why)
	s.markEnded(why)
}
