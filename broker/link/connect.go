package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"
)

// errClosing: the link is being closed while the session is not up yet.
var errClosing = errors.New("link is closing")

// open connects, subscribes, publishes the presence and waits for its echo. On an error
// nothing of the session is left, except for errClosing: the caller then ends the session
// in order.
func (s *session) open(ctx, closing context.Context) error {
	dialing, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(closing, func() { cancel(ErrClosed) })
	err := s.connect(dialing)
	stop()
	if err != nil {
		return err
	}
	if err := s.announce(ctx, closing); err != nil {
		if errors.Is(err, errClosing) {
			return err
		}
		if cause := s.conn.endCause(); cause != nil {
			err = cause
		}
		s.abort(err)
		return err
	}
	return nil
}

func (s *session) connect(ctx context.Context) error {
	dialed := make(chan error, 1)
	clientID := s.try.clientID(s.cfg)
	within := s.try.within(s.cfg)
	o := mqtt.NewClientOptions().
		AddBroker("mqtt://broker"). // never dialled, see SetCustomOpenConnectionFn
		SetClientID(clientID).
		SetProtocolVersion(4). // otherwise the library repeats a refused CONNECT as MQTT 3.1
		SetCleanSession(true).
		SetAutoReconnect(false).
		SetConnectRetry(false).
		SetOrderMatters(true).
		SetAutoAckDisabled(true). // see acknowledge
		SetStore(noStore{}).
		SetKeepAlive(s.cfg.KeepAlive).
		SetPingTimeout(s.cfg.KeepAlive / 2).
		SetConnectTimeout(within).
		SetWriteTimeout(s.cfg.WriteTimeout).
		SetDefaultPublishHandler(func(_ mqtt.Client, m mqtt.Message) { s.receive(m) }).
		SetConnectionLostHandler(func(_ mqtt.Client, err error) { s.markEnded(err) })
	if s.cfg.Name != "" {
		o.SetUsername(s.cfg.Name)
	}
	if s.cfg.Password != "" {
		o.SetPassword(s.cfg.Password)
	}
	if s.cfg.Presence != nil {
		m := s.cfg.Presence(s.id)
		s.presence = &m
	}
	if s.cfg.Will != nil {
		will := s.cfg.Will(s.id)
		if err := s.cfg.check(will); err != nil {
			return fmt.Errorf("will: %w", err)
		}
		if len(will.Payload) == 0 {
			return errors.New("will: brokers do not accept an empty payload")
		}
		o.SetBinaryWill(will.Topic, will.Payload, will.QoS, will.Retain)
	}
	o.SetCustomOpenConnectionFn(func(_ *url.URL, _ mqtt.ClientOptions) (net.Conn, error) {
		dctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		c, err := s.cfg.dialAddress(dctx, s.try.address)
		if err != nil {
			dialed <- err
			return nil, err
		}
		s.conn = newGuardedConn(c, s.cfg.WriteTimeout, packetChecker{max: s.cfg.MaxPacket})
		dialed <- nil
		return s.conn, nil
	})

	s.client = mqtt.NewClient(o)
	tok := s.client.Connect().(*mqtt.ConnectToken)
	if err := <-dialed; err == nil {
		select {
		case <-tok.Done():
		case <-ctx.Done():
			s.conn.fail(context.Cause(ctx))
		}
	}
	<-tok.Done() // bounded: by the dial's context, then by the handshake deadline
	if err := tok.Error(); err != nil {
		if rc := tok.ReturnCode(); rc >= 1 && rc <= 5 {
			err := fmt.Errorf("connect as %q: %w: %s", clientID, ErrRefused, packets.ConnackReturnCodes[rc])
			if other := s.cfg.Engine.otherEngine(clientID, rc); other != nil {
				err = fmt.Errorf("%w; %w", err, other)
			}
			return err
		}
		if s.conn != nil {
			s.conn.Close()
		}
		return fmt.Errorf("connect as %q: %w", clientID, err)
	}
	s.workers.Go(s.acknowledge)
	return nil
}

// filters returns the subscriptions to request, including that of the own presence.
func (s *session) filters() map[string]byte {
	f := s.subs.first()
	if s.presence != nil {
		f[s.presence.Topic] = s.cfg.Engine.SubscribeQoS(1)
	}
	return f
}

// announce subscribes to everything in one packet (so that its id cannot collide with a
// delivery), checks each grant, publishes the presence and waits for its echo.
func (s *session) announce(ctx, closing context.Context) error {
	if f := s.filters(); len(f) > 0 {
		s.conn.requested.Store(int64(len(f)))
		tok := s.client.SubscribeMultiple(f, nil).(*mqtt.SubscribeToken)
		if err := s.await(ctx, closing, tok.Done(), "grants"); err != nil {
			return err
		}
		if err := tok.Error(); err != nil {
			return fmt.Errorf("subscribe: %w", err)
		}
		if denied := s.denied(f, tok.Result()); len(denied) > 0 {
			return fmt.Errorf("subscribe to %s: %w", strings.Join(denied, ", "), ErrRefused)
		}
	}
	if s.presence == nil {
		return nil
	}
	p := *s.presence
	if err := s.cfg.check(p); err != nil {
		return fmt.Errorf("presence: %w", err)
	}
	s.announced = true
	if err := s.client.Publish(p.Topic, p.QoS, p.Retain, p.Payload).Error(); err != nil {
		return fmt.Errorf("publish presence: %w", err)
	}
	if p.QoS == 0 {
		over := make(chan struct{})
		defer close(over)
		s.workers.Go(func() { s.repeatPresence(p, over) })
	}
	return s.await(ctx, closing, s.echoed, "echo of own presence")
}

// repeatPresence publishes a presence of QoS 0 again until over is closed: the broker may have
// dropped it behind all the retained documents that it had to send.
func (s *session) repeatPresence(p Message, over <-chan struct{}) {
	again := time.NewTicker(s.cfg.ConnectTimeout / 5)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			s.client.Publish(p.Topic, p.QoS, p.Retain, p.Payload)
		case <-over:
			return
		case <-s.ended:
			return
		}
	}
}

func (s *session) await(ctx, closing context.Context, done <-chan struct{}, what string) error {
	t := time.NewTimer(s.cfg.ConnectTimeout)
	defer t.Stop()
	select {
	case <-done:
		return nil
	case <-s.ended:
		return fmt.Errorf("wait for %s: %w", what, s.endCause)
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-closing.Done():
		return errClosing
	case <-t.C:
		return fmt.Errorf("wait for %s: nothing within %v", what, s.cfg.ConnectTimeout)
	}
}

// noStore is a library store that keeps nothing: a session is never resumed, so there is
// nothing to send again.
type noStore struct{}

func (noStore) Open()                             {}
func (noStore) Put(string, packets.ControlPacket) {}
func (noStore) Get(string) packets.ControlPacket  { return nil }
func (noStore) All() []string                     { return nil }
func (noStore) Del(string)                        {}
func (noStore) Close()                            {}
func (noStore) Reset()                            {}
