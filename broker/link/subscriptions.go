package link

import (
	"slices"
	"sync"
)

// Subscribe adds sub to the subscriptions of the link, or replaces the one with its filter.
// It does not wait: the session that is up requests it at once, or else the next one, and
// every later session requests it again, until Unsubscribe. As with Config.Subscribe, the
// session ends if the broker refuses it. For a filter that the link already subscribes to,
// the broker sends the retained messages again.
func (l *Link) Subscribe(sub Subscription) error {
	if err := sub.check(); err != nil {
		return err
	}
	l.subs.add(sub)
	return nil
}

// Unsubscribe ends the subscription with that filter. Messages that are on their way still
// arrive.
func (l *Link) Unsubscribe(filter string) { l.subs.remove(filter) }

// subscriptions are those of a link, and what the session that is up has yet to send about
// them. That is kept by filter and not as a queue of packets, so that of any calls the last
// one counts.
type subscriptions struct {
	changed chan struct{} // capacity 1: there may be something to send
	engine  Engine

	mu         sync.Mutex
	all        []Subscription
	toRequest  map[string]byte // filter -> QoS
	toEnd      []string
	unanswered bool // one SUBSCRIBE at a time: packetChecker expects the grants of one
}

func newSubscriptions(engine Engine, all []Subscription) *subscriptions {
	return &subscriptions{engine: engine, changed: make(chan struct{}, 1), all: slices.Clone(all), toRequest: map[string]byte{}}
}

func (s *subscriptions) add(sub Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.discard(sub.Filter)
	s.all = append(s.all, sub)
	s.toRequest[sub.Filter] = s.engine.SubscribeQoS(sub.QoS)
	s.wake()
}

func (s *subscriptions) remove(filter string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.discard(filter) {
		s.toEnd = append(s.toEnd, filter)
		s.wake()
	}
}

// discard removes a filter wherever it is, and reports whether it was subscribed to.
func (s *subscriptions) discard(filter string) (was bool) {
	n := len(s.all)
	s.all = slices.DeleteFunc(s.all, func(sub Subscription) bool { return sub.Filter == filter })
	s.toEnd = slices.DeleteFunc(s.toEnd, func(f string) bool { return f == filter })
	delete(s.toRequest, filter)
	return len(s.all) < n
}

// renew requests the subscriptions with Renew again. A broker that still has them grants
// them again and nothing changes; one that lost them has them again.
func (s *subscriptions) renew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.all {
		if sub.Renew {
			s.toRequest[sub.Filter] = s.engine.SubscribeQoS(sub.QoS)
		}
	}
	s.wake()
}

func (s *subscriptions) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// first returns all filters, for the first SUBSCRIBE of a session.
func (s *subscriptions) first() map[string]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := map[string]byte{}
	for _, sub := range s.all {
		f[sub.Filter] = s.engine.SubscribeQoS(sub.QoS)
	}
	clear(s.toRequest)
	s.toEnd, s.unanswered = nil, false
	return f
}

// next returns what to send now. If it returns filters to request, it returns nothing more
// until answered is called.
func (s *subscriptions) next() (end []string, request map[string]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unanswered {
		return nil, nil
	}
	end, request = s.toEnd, s.toRequest
	s.toEnd, s.toRequest, s.unanswered = nil, map[string]byte{}, len(request) > 0
	return end, request
}

// answered is called when the broker has answered the SUBSCRIBE.
func (s *subscriptions) answered() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unanswered = false
	s.wake()
}

// isOptional reports whether the link stays up if the broker refuses the filter.
func (s *subscriptions) isOptional(filter string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.all, func(sub Subscription) bool { return sub.Filter == filter && sub.Optional })
}
