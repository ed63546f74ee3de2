package link

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/google/uuid"
)

// session is one connection, from dial to end, with its own library client. The library's
// reconnect replays and reorders messages and reports success for lost ones, so it is
// never used.
type session struct {
	id         string
	attempt    int // number of attempts since the last session that was up, from 1
	try        try
	cfg        *Config
	subs       *subscriptions
	dispatcher *dispatcher
	client     mqtt.Client
	conn       *guardedConn
	presence   *Message
	echoed     chan struct{}

	began       time.Time
	receivedAt  atomic.Int64 // nanoseconds after began at which the last message was received
	announced   bool         // the presence was published; owned by Link.run
	isReconnect bool         // an earlier session of this link was up; set before open
	sawRival    atomic.Bool  // another client uses the id, see Config.Rival

	out       chan outgoing
	flushing  chan struct{} // closed when the workers have to empty their queues and stop
	flushOnce sync.Once
	ended     chan struct{}  // closed when the connection has ended
	workers   sync.WaitGroup // the goroutines that write and acknowledge
	acks      chan mqtt.Message

	mu       sync.Mutex
	up       bool
	pending  []Message // received before up
	sawEcho  bool
	endCause error
	isOver   bool
}

// outgoing is a message to send. If sent is not nil, it gets the library's token once.
type outgoing struct {
	Message
	sent chan mqtt.Token
}

func newSession(cfg *Config, subs *subscriptions, d *dispatcher, attempt int, t try) *session {
	return &session{
		id: uuid.NewString(), attempt: attempt, try: t, cfg: cfg, subs: subs, dispatcher: d, began: time.Now(),
		echoed: make(chan struct{}), out: make(chan outgoing, cfg.Outbox),
		flushing: make(chan struct{}), ended: make(chan struct{}), acks: make(chan mqtt.Message, cfg.Queue),
	}
}

// receive runs on the library's reading goroutine and never blocks. It leaves the
// acknowledgement to another goroutine.
func (s *session) receive(m mqtt.Message) {
	s.receivedAt.Store(int64(time.Since(s.began)))
	s.handle(m)
	if m.Qos() == 0 {
		return
	}
	select {
	case s.acks <- m:
	default:
		s.conn.fail(fmt.Errorf("%w: more than %d acknowledgements wait for the broker", ErrUnread, cap(s.acks)))
	}
}

// acksAtOnce bounds the acknowledgements of one write, each of 4 bytes.
const acksAtOnce = 1024

// acknowledge is the only goroutine that acknowledges: a write may wait, and the library would
// receive nothing meanwhile. A broker that does not read may still have a stop to deliver.
//
// It writes many acknowledgements at once, and past the library, which writes each by itself: two
// system calls for each message of a fleet are more than the broker's bound of unacknowledged
// deliveries allows.
func (s *session) acknowledge() {
	var packets []byte
	for {
		select {
		case m := <-s.acks:
			packets = s.gatherAcks(packets[:0], m)
			if _, err := s.conn.Write(packets); err != nil {
				return // the write has ended the connection
			}
		case <-s.ended:
			return
		case <-s.flushing:
			if len(s.acks) == 0 {
				return
			}
		}
	}
}

// gatherAcks appends the PUBACK packets of m and of the messages that wait behind it.
func (s *session) gatherAcks(packets []byte, m mqtt.Message) []byte {
	for {
		if m.Qos() == 1 {
			packets = append(packets, packetPuback, 2, byte(m.MessageID()>>8), byte(m.MessageID()))
		} else {
			m.Ack() // PUBREC of QoS 2, which the library follows up
		}
		if len(packets) >= 4*acksAtOnce {
			return packets
		}
		select {
		case m = <-s.acks:
		default:
			return packets
		}
	}
}

func (s *session) handle(m mqtt.Message) {
	msg := Message{Topic: m.Topic(), Payload: m.Payload(), QoS: m.Qos(), Retain: m.Retained(), Duplicate: m.Duplicate(),
		N: s.dispatcher.nextNumber(), At: time.Now()}
	if s.cfg.Urgent(msg.Topic) {
		if !s.dispatcher.pushUrgent(msg) {
			s.dispatcher.limitedLog.add("urgent queue full: an older message of the topic was replaced, or the queue grew", msg.Topic)
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.up && s.presence != nil && msg.Topic == s.presence.Topic {
		// Neither the own presence nor the retained one, which it replaces, is handed over; the
		// retained one may prove that another client has our id (Config.Rival). Any other message
		// may have overwritten our presence, such as a late will: the user gets it at Up, and
		// publishes the presence again.
		isOwn := bytes.Equal(msg.Payload, s.presence.Payload)
		switch {
		case s.sawEcho:
		case isOwn:
			s.sawEcho = true
			close(s.echoed)
		case msg.Retain && s.isReconnect:
			s.noteRival(msg)
		}
		if msg.Retain || isOwn {
			return
		}
	}
	if s.presence == nil || msg.Topic != s.presence.Topic {
		s.noteRival(msg)
	}
	fits := true
	if s.up {
		fits = s.dispatcher.pushMessage(msg)
	} else if fits = len(s.pending) < s.cfg.Queue; fits {
		s.pending = append(s.pending, msg)
	}
	if !fits {
		s.conn.fail(fmt.Errorf("%w: more than %d messages wait", ErrOverrun, s.cfg.Queue))
	}
}

// noteRival remembers a proof that another client uses the id.
func (s *session) noteRival(m Message) {
	if s.cfg.Rival != nil && s.cfg.Rival(m) {
		s.sawRival.Store(true)
	}
}

// markUp reports that the session is up, hands over what was received meanwhile, and
// starts the writer.
func (s *session) markUp(st State) {
	s.workers.Go(s.write)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dispatcher.pushState(st)
	for _, m := range s.pending {
		if !s.dispatcher.pushMessage(m) {
			s.conn.fail(fmt.Errorf("%w: more than %d messages wait", ErrOverrun, s.cfg.Queue))
			break
		}
	}
	s.pending, s.up = nil, true
}

// write is the only goroutine that publishes, because the library's Publish may block.
func (s *session) write() {
	for {
		select {
		case p := <-s.out:
			s.send(p)
		case <-s.subs.changed:
			s.resubscribe()
		case <-s.ended:
			return
		case <-s.flushing:
			for {
				select {
				case p := <-s.out:
					s.send(p)
				default:
					return
				}
			}
		}
	}
}

func (s *session) send(p outgoing) {
	tok := s.client.Publish(p.Topic, p.QoS, p.Retain, p.Payload)
	if p.sent != nil {
		p.sent <- tok
	}
}
