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

// session is one connection, from dial to end, with a library client of its own:
// the library's reconnecting replays, reorders and reports success for what was
// lost, so it is never asked to reconnect.
type session struct {
	id       string
	attempt  int // since the last one that was up, from 1
	cfg      *Config
	sink     *dispatcher
	client   mqtt.Client
	conn     *guarded
	presence *Message
	echoed   chan struct{}

	began time.Time
	heard atomic.Int64 // nanoseconds after began: when something arrived last
	said  bool         // the presence was handed to the connection; the keeper's
	again bool         // another session of this link was up before; set before it is opened
	rival atomic.Bool  // another client uses the id, see Config.Rival

	out      chan outgoing
	quit     chan struct{} // they shall stop when nothing waits for them
	quitting sync.Once
	ended    chan struct{}  // closed when the connection is gone
	wrote    sync.WaitGroup // the writer and the acknowledger
	acks     chan mqtt.Message

	mu      sync.Mutex
	up      bool
	held    []Message // arrived before up
	echo    bool
	lostFor error
	over    bool
}

// outgoing is a message on its way out. sent, when asked for, gets the library's
// token once.
type outgoing struct {
	Message
	sent  chan mqtt.Token
	renew bool // no message: the subscriptions that are to be renewed
}

func newSession(cfg *Config, sink *dispatcher, attempt int) *session {
	return &session{
		id: uuid.NewString(), attempt: attempt, cfg: cfg, sink: sink, began: time.Now(),
		echoed: make(chan struct{}), out: make(chan outgoing, cfg.Outbox),
		quit: make(chan struct{}), ended: make(chan struct{}), acks: make(chan mqtt.Message, cfg.Queue),
	}
}

// receive runs on the library's reading goroutine and never blocks. What it has
// taken in, it leaves to others to acknowledge.
func (s *session) receive(m mqtt.Message) {
	s.heard.Store(int64(time.Since(s.began)))
	s.take(m)
	if m.Qos() == 0 {
		return
	}
	select {
	case s.acks <- m:
	default:
		s.conn.fail(fmt.Errorf("%w: more than %d acknowledgements wait for the broker", ErrOverrun, cap(s.acks)))
	}
}

// acknowledge is the one goroutine that does: the library waits until the packet
// is being written, and would otherwise receive nothing meanwhile. A broker that
// does not read may still have a stop to deliver.
func (s *session) acknowledge() {
	for {
		select {
		case m := <-s.acks:
			m.Ack()
		case <-s.ended:
			return
		case <-s.quit:
			for {
				select {
				case m := <-s.acks:
					m.Ack()
				default:
					return
				}
			}
		}
	}
}

func (s *session) take(m mqtt.Message) {
	msg := Message{Topic: m.Topic(), Payload: m.Payload(), QoS: m.Qos(), Retain: m.Retained(), Duplicate: m.Duplicate(), N: s.sink.number(), At: time.Now()}
	if s.cfg.Urgent(msg.Topic) {
		if !s.sink.first(msg) {
			s.sink.crowd.add("urgent queue full; the oldest on the topic gives way", msg.Topic)
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.up && s.presence != nil && msg.Topic == s.presence.Topic {
		// What stood here before our own word is history, and tells who was here.
		switch {
		case s.echo:
		case bytes.Equal(msg.Payload, s.presence.Payload):
			s.echo = true
			close(s.echoed)
		case msg.Retain && s.again:
			s.judge(msg)
		}
		if msg.Retain || s.echo {
			return
		}
	}
	if s.presence == nil || msg.Topic != s.presence.Topic {
		s.judge(msg)
	}
	fits := true
	if s.up {
		fits = s.sink.message(msg)
	} else if fits = len(s.held) < s.cfg.Queue; fits {
		s.held = append(s.held, msg)
	}
	if !fits {
		s.conn.fail(fmt.Errorf("%w: more than %d messages wait", ErrOverrun, s.cfg.Queue))
	}
}

// judge notes a proof that another client uses the id.
func (s *session) judge(m Message) {
	if s.cfg.Rival != nil && s.cfg.Rival(m) {
		s.rival.Store(true)
	}
}

// begin tells that the session is up, hands over what arrived meanwhile, and
// starts the writer.
func (s *session) begin(st State) {
	s.wrote.Go(s.write)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sink.state(st)
	for _, m := range s.held {
		if !s.sink.message(m) {
			s.conn.fail(fmt.Errorf("%w: more than %d messages wait", ErrOverrun, s.cfg.Queue))
			break
		}
	}
	s.held, s.up = nil, true
}

// write is the one goroutine that publishes: the library's Publish may block.
func (s *session) write() {
	for {
		select {
		case p := <-s.out:
			s.send(p)
		case <-s.ended:
			return
		case <-s.quit:
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
	if p.renew {
		s.subscribeAgain()
		return
	}
	tok := s.client.Publish(p.Topic, p.QoS, p.Retain, p.Payload)
	if p.sent != nil {
		p.sent <- tok
	}
}
