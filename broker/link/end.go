package link

import (
	"context"
	"fmt"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// lose is called once the library has ended all of the connection's goroutines.
func (s *session) lose(err error) {
	if cause := s.conn.why(); cause != nil {
		err = cause
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.over, s.lostFor = true, err
		close(s.ended)
	}
}

// abort ends the connection without a word, so that the broker sends the will.
func (s *session) abort(err error) {
	s.conn.fail(err)
	s.client.Disconnect(uint(s.cfg.WriteTimeout.Milliseconds())) // returns when its goroutines are gone
	s.lose(err)
	s.wrote.Wait()
}

// settle lets out what is queued; nothing is queued after it.
func (s *session) settle() {
	s.quitting.Do(func() { close(s.quit) })
	s.wrote.Wait()
}

// insist publishes m past the queue, which is settled, and waits until the broker
// has acknowledged it.
func (s *session) insist(ctx context.Context, m Message) error {
	if err := s.cfg.check(m); err != nil {
		return err
	}
	return s.acknowledged(ctx, m.Topic, s.client.Publish(m.Topic, m.QoS, m.Retain, m.Payload))
}

// acknowledged waits until the broker has the message of tok.
func (s *session) acknowledged(ctx context.Context, topic string, tok mqtt.Token) error {
	select {
	case <-tok.Done():
	case <-s.ended:
		return fmt.Errorf("publish %q: not acknowledged: %w", topic, s.lostFor)
	case <-ctx.Done():
		return fmt.Errorf("publish %q: not acknowledged: %w", topic, context.Cause(ctx))
	}
	if err := tok.Error(); err != nil {
		return fmt.Errorf("publish %q: %w", topic, err)
	}
	return nil
}

// close says goodbye: what is queued goes out, then DISCONNECT; no will is sent.
func (s *session) close(why error) {
	s.settle()
	s.conn.leaving.Store(true)
	s.client.Disconnect(uint(s.cfg.WriteTimeout.Milliseconds()))
	s.conn.fail(why)
	s.lose(why)
}
