package robot

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

const (
	batchesAtOnce  = 64 // maximum number of batches in one commit
	confirming     = 32 // maximum number of answers that wait for their PUBACK
	publishWait    = 2 * time.Second
	sendQueuePause = 5 * time.Millisecond
	// A commit writes about ten pages, however little changes. A robot that performs would make one for each act.
	routineWait = 30 * time.Second // how long routine events wait for another save
	routineMost = 200              // how many of them
)

// publisher is the part of the link that the writer uses.
type publisher interface {
	Publish(ctx context.Context, m link.Message) error
	PublishAsync(ctx context.Context, m link.Message) (wait func(context.Context) error, err error)
}

// writer saves and publishes in order, in a goroutine of its own, because disk and network
// may be slow. The saves of a batch are on the disk before any of its messages is
// published; waiting batches share one commit.
type writer struct {
	mqtt  *mqttTranslator
	link  publisher
	disk  store
	log   *slog.Logger
	in    *saveQueue
	loop  *loop
	local *local
	ctx   context.Context
	done  chan struct{}

	before func(what string) // Config.BeforeWrite

	routine      []effect.Save    // events that wait for another save
	routineUntil time.Time        // at the latest
	routineDue   <-chan time.Time // fires then; nil = none waits

	pace     *pace
	confirms chan struct{} // semaphore
	waiting  sync.WaitGroup

	mu     sync.Mutex
	newest map[schema.TopicKind]int64 // number of the newest publication of each retained topic

	eventsMu sync.Mutex // never held while it waits
	events   []numberedPublish
}

func newWriter(ctx context.Context, p *mqttTranslator, d store, l *loop, log *slog.Logger) *writer {
	return &writer{mqtt: p, disk: d, loop: l, log: log, ctx: ctx,
		in: newSaveQueue(), pace: newPace(), done: make(chan struct{}),
		confirms: make(chan struct{}, confirming), newest: map[schema.TopicKind]int64{}, before: func(string) {}}
}

// run processes batches until the queue is closed and empty.
func (s *writer) run() {
	defer close(s.done)
	defer s.waiting.Wait()
	ctx, end := context.WithCancel(context.Background())
	s.waiting.Go(func() { s.pace.run(ctx, s.send) })
	defer end()
	for s.in.wait(s.routineDue) {
		s.before("saves")
		s.work(s.in.take(batchesAtOnce))
	}
	s.routineUntil = time.Time{}
	s.work(nil)
}

// gather returns the saves of the batches and the routine events that waited for them. If the batches have nothing but
// such events, these wait, too, and it returns nothing.
func (s *writer) gather(batches []batch) []effect.Save {
	all, wait := s.routine, len(s.routine) == 0 || time.Now().Before(s.routineUntil)
	for _, b := range batches {
		all = append(all, b.saves...)
		wait = wait && len(b.reads) == 0 && !slices.ContainsFunc(b.saves, func(e effect.Save) bool {
			saved, is := e.(effect.SaveEvent)
			return !is || !saved.Routine
		})
	}
	switch {
	case !wait || len(all) > routineMost:
		s.routine, s.routineDue = nil, nil
		return all
	case len(s.routine) == 0 && len(all) > 0:
		s.routineUntil, s.routineDue = time.Now().Add(routineWait), time.After(routineWait)
	}
	s.routine = all
	return nil
}

func (s *writer) work(batches []batch) {
	var refused schema.Reason
	if saves := s.gather(batches); len(saves) > 0 {
		began := time.Now()
		err := s.disk.save(saves)
		if s.loop.meter.wrote(began, err); err != nil {
			refused = s.disk.why(err)
			s.log.Error("write to disk refused", "reason", refused, "error", err)
		}
		for _, ev := range saveResults(saves, refused) {
			s.loop.send(s.ctx, ev)
		}
		s.before("publications")
	}
	for _, b := range batches {
		for _, k := range b.reads {
			s.readHistory(k)
		}
		for _, p := range b.publish {
			if refused == "" || !p.needsSave {
				s.publish(p)
			}
		}
	}
}

// readHistory reads the published events for replays.
func (s *writer) readHistory(k command.Key) {
	events, err := s.disk.events()
	ev := event.HistoryRead{Key: k, Events: events}
	if err != nil {
		ev.Refused = s.disk.why(err)
		s.log.Error("events not read from disk", "reason", ev.Refused, "error", err)
	}
	s.loop.send(s.ctx, ev)
}

// saveResults returns the events that report the result of the saves to the robot.
func saveResults(saves []effect.Save, refused schema.Reason) []event.Event {
	var out []event.Event
	var keys []command.Key
	var names []string
	for _, e := range saves {
		switch e := e.(type) {
		case effect.SaveValue:
			names = append(names, e.Name)
		case effect.SaveRequests:
			for _, r := range e.Put {
				keys = append(keys, r.Key())
			}
		case effect.SaveContent:
			if len(e.Blobs) > 0 || refused != "" {
				out = append(out, event.ContentSaved{Kind: e.Kind, Rev: e.Rev, Refused: refused})
			}
		}
	}
	if len(names) > 0 {
		out = append(out, event.ValuesSaved{Names: names, Refused: refused})
	}
	if len(keys) > 0 {
		out = append(out, event.RequestsSaved{Keys: keys, Refused: refused})
	}
	return out
}

// publish publishes one message. Without a session it drops the message: the next session
// publishes every document again, and answers wait in the journal.
func (s *writer) publish(p numberedPublish) {
	if !s.pace.holds(p) {
		s.send(p)
	}
}

// addEvent adds an event to those that wait. They are published in their order: an urgent one takes those before it along.
func (s *writer) addEvent(p numberedPublish) {
	s.eventsMu.Lock()
	defer s.eventsMu.Unlock()
	if s.events = append(s.events, p); len(s.events) > unsavedMost {
		s.events = s.events[1:]
	}
}

// eventsAtOnce publishes the events that wait, up to that of number n.
func (s *writer) eventsAtOnce(n int64) error {
	s.eventsMu.Lock()
	defer s.eventsMu.Unlock()
	for len(s.events) > 0 && s.events[0].n <= n {
		if err := s.messageAtOnce(s.events[0]); errors.Is(err, context.Canceled) {
			return err
		}
		s.events = s.events[1:]
	}
	return nil
}

// send publishes when the connection's send queue has room: until then atOnce returns context.Canceled.
func (s *writer) send(p numberedPublish) {
	for began := time.Now(); ; time.Sleep(sendQueuePause) {
		err := s.atOnce(p)
		if !errors.Is(err, context.Canceled) || s.ctx.Err() != nil || time.Since(began) > publishWait {
			return
		}
	}
}

// atOnce publishes if the send queue has room, without blocking. It drops a retained document that is
// older than the newest published one of its topic: an urgent document overtakes those that wait for
// the disk, and these must not replace it at the broker.
func (s *writer) atOnce(p numberedPublish) error {
	if p.Topic == schema.TopicEvent {
		return s.eventsAtOnce(p.n)
	}
	return s.messageAtOnce(p)
}

func (s *writer) messageAtOnce(p numberedPublish) error {
	if forPage(p.Publish) {
		s.local.answered(p.Publish)
		if p.Confirm != "" { // in another goroutine, because the loop, which may call this, must not wait for itself
			s.waiting.Go(func() { s.loop.send(s.ctx, event.Delivered{Key: p.Confirm}) })
		}
		return nil
	}
	m := s.mqtt.message(p.Topic, p.Param, p.Payload)
	if p.Confirm != "" {
		select {
		case s.confirms <- struct{}{}:
			return s.publishAnswer(p, m)
		default: // unconfirmed; the next session publishes it again
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Retain {
		if p.n < s.newest[p.Topic] {
			return nil
		}
	}
	err := s.link.Publish(noWait, m)
	switch {
	case err != nil:
		s.log.Debug("message not published", "topic", m.Topic, "error", err)
	case m.Retain: // only a published document makes older ones outdated
		s.newest[p.Topic] = p.n
	}
	return err
}

// publishAnswer publishes an answer, and waits in another goroutine for its PUBACK.
func (s *writer) publishAnswer(p numberedPublish, m link.Message) error {
	published := time.Now()
	wait, err := s.link.PublishAsync(noWait, m)
	if err != nil {
		<-s.confirms
		s.log.Debug("answer not published", "topic", m.Topic, "command", p.Confirm.ID(), "error", err)
		return err
	}
	s.waiting.Go(func() {
		defer func() { <-s.confirms }()
		ctx, cancel := context.WithTimeout(s.ctx, publishWait)
		defer cancel()
		if err := wait(ctx); err != nil {
			s.log.Debug("answer not confirmed", "topic", m.Topic, "command", p.Confirm.ID(), "error", err)
			return
		}
		s.loop.meter.acknowledged(published)
		s.loop.send(s.ctx, event.Delivered{Key: p.Confirm})
	})
	return nil
}

// noWait has ended: a publication that does not fit into the send queue fails at once, with
// context.Canceled.
var noWait = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()
