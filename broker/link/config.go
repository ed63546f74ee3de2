// Package link is the way to the post: one MQTT 3.1.1 client with the habits
// that robotd and fleetd need. It is the only importer of the client library.
//
// It decides when a connection counts as up, what is carried over from one
// connection to the next (nothing), and when to try again. It does not decide
// what is said: topics and payloads are its user's affair.
//
//   - Every attempt is a new library client with a new session id, which the
//     will carries too; so nothing is ever replayed and no stale document can
//     land after a fresh one.
//   - Up means: CONNACK, every subscription granted, own presence echoed. Until
//     then, and after a loss, Publish answers ErrNotReady and keeps nothing.
//   - States and messages reach the user on one goroutine, in order: up comes
//     before the first message of its session, down after the last.
//   - Up is proven again when nothing arrives for long: a broker may lose
//     subscriptions and go on answering pings. A half-open connection is made anew, and
//     single subscriptions are asked for again.
//   - A connection that ends says nothing about why: brokers restart and lines break.
//     Only proof of another client with the same id (Config.Rival) makes a link leave
//     the id to that one for a while, and no wait is longer than BackoffMax.
//   - A PUBACK is a hint, not a proof. Whoever must know asks the other side.
package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"time"
	"unicode/utf8"
)

// Message is one MQTT message. On the way in, Retain says that it is a replay of
// what the broker kept, and Duplicate that it may have been delivered before.
type Message struct {
	Topic     string
	Payload   []byte
	QoS       byte
	Retain    bool
	Duplicate bool
	// N counts what arrived over all sessions of a link, from 1: an urgent message
	// overtakes, and N tells what it overtook. Messages that are sent have none.
	N uint64
	// At is when it was read from the connection.
	At time.Time
}

// Subscription is a topic filter with the QoS asked for.
type Subscription struct {
	Filter string
	QoS    byte
	// Renew asks for it again from time to time, in case the broker has lost it: from
	// outside that cannot be told from silence. What the broker keeps there is then
	// brought again, so it is for topics where little or nothing is kept.
	Renew bool
	// Optional ones are no reason to be without a link if the broker says no: it may
	// be older than the topic.
	Optional bool
}

// Phase is where a link stands.
type Phase string

const (
	Connecting Phase = "connecting" // an attempt begins
	Up         Phase = "up"         // grants given and own presence echoed
	Down       Phase = "down"       // a session that was up has ended, or an attempt came to nothing
	Refused    Phase = "refused"    // the broker answered, and the answer was no
	Closed     Phase = "closed"     // the last state a link tells
)

// State is told at every change of phase.
type State struct {
	Phase   Phase
	Session string        // of the connection spoken of; empty for Closed
	Attempt int           // since the last session that was up, from 1
	Err     error         // why Down or Refused
	Wait    time.Duration // until the next attempt
	// Contested says that another client uses the same id, see Config.Rival. It is
	// told when the session is up, if that is known by then, and when it has ended.
	Contested bool
}

// Config says who connects where, and who is told. Zero durations and sizes mean
// the defaults named beside them.
type Config struct {
	URL string // mqtt, mqtts, ws or wss://host:port; may be empty with Dial
	// Others are URLs to go to when URL fails: after each attempt that came to
	// nothing the next one, and after a session that was up URL first.
	Others []string
	Dial   func(ctx context.Context) (net.Conn, error) // nil: to URL
	// TLS is asked anew for each connection to an mqtts or wss URL, so that a
	// renewed certificate is shown at the next one. The server's name is filled in
	// from the URL, and TLS 1.3 is the least; its VerifyConnection is asked when the
	// broker is believed. nil: whom this machine trusts.
	TLS func() (*tls.Config, error)

	Name     string // MQTT user name; empty = none
	ClientID string
	Password string

	// Will and Presence are made anew for each connection, with its session id.
	// Presence is published as soon as the subscriptions are granted, and the
	// link is up when it comes back; one of QoS 0 is said until it does. It may be
	// any word of the client's own, such as a heartbeat.
	Will     func(session string) Message
	Presence func(session string) Message

	// Rival reports whether a message proves that another client connects under
	// ClientID. It is asked about every message but the urgent ones, and on the topic of
	// the presence about what is retained there when a session begins that is not the
	// link's first. A session with such a proof is followed by a wait of BackoffMax. It
	// must not block.
	Rival func(Message) bool

	Subscribe []Subscription

	// OnMessage and OnState are called one at a time, in order, and must not
	// block. Messages wait in a queue of Queue entries; when it is full the
	// connection is given up, so that documents are delivered again, rather
	// than some message be lost unseen.
	OnMessage func(Message)
	OnState   func(State)

	// Urgent marks topics whose messages overtake all others and wait neither
	// for the queue nor for the link to be up. A robot's stops are urgent.
	Urgent func(topic string) bool
	// Says names what an urgent message says, so that of many that say the same within
	// a moment the newest alone is handed over; empty: what no other says. nil: none
	// says the same.
	Says func(Message) string

	KeepAlive      time.Duration // 10 s, whole seconds
	ConnectTimeout time.Duration // 5 s, for the dial, the handshake, the grants and the echo, each
	// Quiet is how long nothing need arrive before a link with a presence tests
	// whether it still receives: the presence is published again and has to come back. 15 s.
	Quiet        time.Duration
	Renewal      time.Duration // 1 min between askings for subscriptions that are to be renewed
	WriteTimeout time.Duration // 3 s without progress
	BackoffMin   time.Duration // 500 ms; waits between attempts are drawn at random
	BackoffMax   time.Duration // 10 s, the longest wait of all; after a session of half of it waits begin at the least again
	// Random answers what waits are drawn by, from 0 up to 1. Whoever wants the
	// same waits in every run gives his own.
	Random    func() float64
	Queue     int // 4096 messages inwards
	Outbox    int // 256 messages outwards
	MaxPacket int // 1280 KiB, in both directions

	Logger *slog.Logger

	ways []address // of URL and Others; none with Dial
}

// Errors that users of a link tell apart.
var (
	// ErrNotReady: the link is not up; nothing was sent and nothing is kept.
	ErrNotReady = errors.New("link is not up")
	// ErrClosed: the link was closed by its owner.
	ErrClosed = errors.New("link is closed")
	// ErrRefused: the broker answered, and the answer was no.
	ErrRefused = errors.New("refused by the broker")
	// ErrHalfOpen: the connection took what was sent over it and delivered nothing.
	ErrHalfOpen = errors.New("the connection is half-open")
	// ErrOverrun: the user did not take messages as fast as they came.
	ErrOverrun = errors.New("inward queue overrun")
)

func (c *Config) complete() error {
	def := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	def(&c.KeepAlive, 10*time.Second)
	def(&c.ConnectTimeout, 5*time.Second)
	def(&c.Quiet, 15*time.Second)
	def(&c.Renewal, time.Minute)
	def(&c.WriteTimeout, 3*time.Second)
	def(&c.BackoffMin, 500*time.Millisecond)
	def(&c.BackoffMax, 10*time.Second)
	if c.Random == nil {
		c.Random = rand.Float64
	}
	if c.Queue == 0 {
		c.Queue = 4096
	}
	if c.Outbox == 0 {
		c.Outbox = 256
	}
	if c.MaxPacket == 0 {
		c.MaxPacket = 1280 << 10
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.OnMessage == nil {
		c.OnMessage = func(Message) {}
	}
	if c.OnState == nil {
		c.OnState = func(State) {}
	}
	if c.Urgent == nil {
		c.Urgent = func(string) bool { return false }
	}
	if c.KeepAlive < time.Second || c.KeepAlive%time.Second != 0 {
		return fmt.Errorf("keep-alive %v: must be whole seconds, at least 1 s", c.KeepAlive)
	}
	if c.BackoffMin > c.BackoffMax {
		return fmt.Errorf("backoff from %v to %v: the least is more than the most", c.BackoffMin, c.BackoffMax)
	}
	for _, s := range c.Subscribe {
		if s.Filter == "" || len(s.Filter) > maxTopic || !utf8.ValidString(s.Filter) {
			return fmt.Errorf("subscription %q is not a topic filter", s.Filter)
		}
	}
	if c.Dial != nil {
		return nil
	}
	for _, url := range append([]string{c.URL}, c.Others...) {
		to, err := addressOf(url)
		if err != nil {
			return err
		}
		c.ways = append(c.ways, to)
	}
	return nil
}

// maxTopic bounds topics in bytes.
const maxTopic = 200

// check refuses what the library would send wrongly or what would make the
// broker close the connection: it truncates overlong topics without a word.
func (c *Config) check(m Message) error {
	switch {
	case m.Topic == "" || len(m.Topic) > maxTopic:
		return fmt.Errorf("publish %q: the topic must have 1 to %d bytes", m.Topic, maxTopic)
	case !validTopic(m.Topic):
		return fmt.Errorf("publish %q: not a topic", m.Topic)
	case m.QoS > 2:
		return fmt.Errorf("publish %q: there is no QoS %d", m.Topic, m.QoS)
	case len(m.Topic)+len(m.Payload)+16 > c.MaxPacket:
		return fmt.Errorf("publish %q: %d bytes are over the packet limit of %d", m.Topic, len(m.Payload), c.MaxPacket)
	}
	return nil
}

func validTopic(t string) bool {
	for _, r := range t {
		if r == '+' || r == '#' || r < 0x20 || r == 0x7f || r == utf8.RuneError {
			return false
		}
	}
	return t[0] != '$'
}
