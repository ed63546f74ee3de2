// Package link is the MQTT 3.1.1 client of robotd and fleetd. It is the only importer of
// the client library.
//
// It decides when a connection counts as up, what is carried over from one connection to
// the next (nothing), and when to try again. Topics and payloads are up to its user.
//
//   - Every attempt uses a new library client with a new session id, which the will
//     carries too. So nothing is ever replayed, and no stale document can arrive after a
//     fresh one.
//   - Up means: CONNACK received, every subscription granted, and the client's own
//     presence echoed. Before that, and after a loss, Publish returns ErrNotReady and
//     keeps nothing.
//   - The user receives states and messages on one goroutine, in order: up comes before
//     the first message of its session, down after the last.
//   - If nothing arrives for long, the link tests whether it still receives: a broker may
//     lose subscriptions and go on answering pings. A half-open connection is replaced,
//     and single subscriptions are renewed.
//   - The end of a connection says nothing about its cause: brokers restart and networks
//     fail. Only proof of another client with the same id (Config.Rival) makes a link
//     leave the id to that client for a while, and no wait is longer than BackoffMax.
//   - A PUBACK is a hint, not proof of delivery. A user that must know asks the receiver.
package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"time"
	"unicode/utf8"
)

// Message is one MQTT message. On a received message, Retain means that the broker
// replayed a retained message, and Duplicate that it may have been delivered before.
type Message struct {
	Topic     string
	Payload   []byte
	QoS       byte
	Retain    bool
	Duplicate bool
	// N numbers the messages received over all sessions of a link, from 1. An urgent
	// message overtakes others, and N tells which ones. It is 0 in messages to send.
	N uint64
	// At is when the message was read from the connection.
	At time.Time
}

// Subscription is a topic filter with the requested QoS.
type Subscription struct {
	Filter string
	QoS    byte
	// Renew repeats the subscription from time to time, in case the broker has lost it,
	// which the client cannot tell from silence. The broker then sends the retained
	// messages again, so use it for topics with few of them.
	Renew bool
	// Optional keeps the link up if the broker refuses the subscription: the broker may be
	// older than the topic.
	Optional bool
}

// Phase is the phase of a link.
type Phase string

const (
	Connecting Phase = "connecting" // an attempt begins
	Up         Phase = "up"         // subscriptions granted and own presence echoed
	Down       Phase = "down"       // a session that was up has ended, or an attempt failed
	Refused    Phase = "refused"    // the broker refused the CONNECT or a subscription, at the start of a session
	Closed     Phase = "closed"     // the last state that a link reports
)

// State is reported at every change of phase.
type State struct {
	Phase   Phase
	Session string        // id of the session concerned; empty for Closed
	Attempt int           // number of attempts since the last session that was up, from 1
	Err     error         // why the phase is Down or Refused
	Wait    time.Duration // until the next attempt
	// Contested means that another client uses the same id, see Config.Rival. It is set in
	// the state Up if that is known by then, and in the state that ends the session.
	Contested bool
}

// Config configures a link. Zero durations and sizes mean the defaults in the comments.
type Config struct {
	URL string // mqtt, mqtts, ws or wss://host:port; not used with Dial
	// FallbackURLs are further URLs. After a failed attempt the next one is tried at once, and after all of them the link
	// waits. After a session that was up URL is tried first. At an engine whose addresses are nodes of a cluster their order
	// depends on Name, and another one than that of the session is tried first, without a wait.
	FallbackURLs []string
	// ReturnToFirst lets a client of a cluster that lost its first node return to it, so that clients that are to be on
	// different nodes do not meet at one when nodes are lost one after the other.
	ReturnToFirst bool
	// LastFirst turns the order of a cluster's nodes round, for the second connection of a client that has one to another node.
	LastFirst bool
	Dial      func(ctx context.Context) (net.Conn, error) // nil: dial URL
	// TLS is called for each connection to an mqtts or wss URL, so that a renewed
	// certificate is used by the next connection. The server name is filled in from the URL
	// and TLS 1.3 is the minimum; its VerifyConnection is called after the broker's chain
	// was verified. nil: the system's CAs.
	TLS func() (*tls.Config, error)

	Engine   Engine // of the broker; empty: Troupe
	Name     string // MQTT user name; empty: none
	Suffix   string // of the client id, for a further connection of this name; empty: none
	ClientID string // for a client without a name; empty: made of Name and Suffix
	Password string

	// Will and Presence are called for each connection, with its session id. The presence
	// is published as soon as the subscriptions are granted, and the link is up when it
	// comes back. One of QoS 0 is repeated until it does. It may be any message that only
	// this client publishes, such as a heartbeat.
	Will     func(session string) Message
	Presence func(session string) Message

	// Rival reports whether a message proves that another client connects with ClientID. It
	// is called for every message except urgent ones. Of the messages on the topic of the
	// presence it gets only the retained one at the start of a session, and not in the first
	// session of the link, because that may be its own from before a restart. After a session
	// with such a proof the link waits for BackoffMax. Rival must not block. At a cluster it sees two clients with one name
	// only if both use ClientID itself: from its second round of the nodes on a client has another id, see try.clientID, so that
	// neither ends the session of the other.
	Rival func(Message) bool

	Subscribe []Subscription // of every session; see Link.Subscribe for later ones

	// OnMessage and OnState are called one at a time, in order, and must not block.
	// Messages wait in a queue of Queue entries. When it is full the link drops the
	// connection, so that documents are delivered again, instead of losing a message
	// silently.
	OnMessage func(Message)
	OnState   func(State)

	// Urgent marks topics whose messages overtake all others and wait neither for the queue
	// nor for the link to be up. A robot's stops are urgent.
	Urgent func(topic string) bool
	// DedupKey returns the key of an urgent message. If many with the same key arrive within a
	// moment, only the newest is handed over. A message with an empty key is always handed over,
	// and so are all if DedupKey is nil.
	DedupKey func(Message) string

	KeepAlive      time.Duration // 10 s, whole seconds
	ConnectTimeout time.Duration // 5 s, each for the dial, the handshake, the subscriptions and the echo; see try.within
	// Quiet is after how long without any received message a link with a presence tests
	// whether it still receives (15 s): it publishes the presence again, which must come
	// back.
	Quiet        time.Duration
	Renewal      time.Duration // 1 min between renewals of the subscriptions with Renew
	WriteTimeout time.Duration // 3 s without progress
	BackoffMin   time.Duration // 500 ms; the waits between attempts are random
	BackoffMax   time.Duration // 10 s, the longest wait; a session that lasted half of it resets the backoff
	// Random returns numbers from 0 up to 1 for the random waits. A test that needs the
	// same waits in every run provides its own. nil: math/rand.
	Random    func() float64
	Queue     int // 4096 received messages
	Outbox    int // 256 messages to send
	MaxPacket int // 1280 KiB, in both directions

	Logger *slog.Logger

	addresses []address                                               // of URL and FallbackURLs; empty with Dial
	dialURL   func(ctx context.Context, url string) (net.Conn, error) // of tests: instead of the network
}

// Errors that users of a link distinguish.
var (
	// ErrNotReady: the link is not up; the message was not sent and is not kept.
	ErrNotReady = errors.New("link is not up")
	// ErrClosed: the link was closed by its owner.
	ErrClosed = errors.New("link is closed")
	// ErrRefused: the broker refused the CONNECT or a subscription.
	ErrRefused = errors.New("refused by the broker")
	// ErrHalfOpen: the connection accepts what is sent but delivers nothing.
	ErrHalfOpen = errors.New("the connection is half-open")
	// ErrNextBroker: the session was replaced by one with the next of the brokers.
	ErrNextBroker = errors.New("the next broker is tried")
	// errFirstIsBack: the session was replaced by one with the first node.
	errFirstIsBack = errors.New("the first node is back")
	// ErrOverrun: the user did not handle messages as fast as they came.
	ErrOverrun = errors.New("receive queue overrun")
	// ErrUnread: the broker did not read the acknowledgements as fast as it sent messages.
	ErrUnread = errors.New("the broker does not read")
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
	if c.Engine == "" {
		c.Engine = Troupe
	}
	if c.ClientID == "" {
		c.ClientID = c.Engine.ClientID(c.Name, c.Suffix)
	}
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
		return fmt.Errorf("keep-alive %v: want whole seconds, at least 1 s", c.KeepAlive)
	}
	if c.BackoffMin > c.BackoffMax {
		return fmt.Errorf("backoff from %v to %v: the minimum exceeds the maximum", c.BackoffMin, c.BackoffMax)
	}
	for _, s := range c.Subscribe {
		if err := s.check(); err != nil {
			return err
		}
	}
	if c.Dial != nil {
		return nil
	}
	urls := c.Engine.orderNodes(c.Name, append([]string{c.URL}, c.FallbackURLs...))
	if c.LastFirst && c.Engine.IsCluster() {
		slices.Reverse(urls)
	}
	c.URL, c.FallbackURLs = urls[0], urls[1:]
	for _, url := range urls {
		to, err := parseURL(url)
		if err != nil {
			return err
		}
		c.addresses = append(c.addresses, to)
	}
	return nil
}

func (s *Subscription) check() error {
	if s.Filter == "" || len(s.Filter) > maxTopic || !utf8.ValidString(s.Filter) {
		return fmt.Errorf("subscription %q is not a topic filter", s.Filter)
	}
	return nil
}

// maxTopic is the maximum length of a topic in bytes.
const maxTopic = 200

// check refuses messages that the library would send wrongly (it truncates overlong topics
// silently) or for which the broker would close the connection.
func (c *Config) check(m Message) error {
	switch {
	case m.Topic == "" || len(m.Topic) > maxTopic:
		return fmt.Errorf("publish %q: want a topic of 1 to %d bytes", m.Topic, maxTopic)
	case !validTopic(m.Topic):
		return fmt.Errorf("publish %q: want a topic without wildcards, control characters or a leading $", m.Topic)
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
