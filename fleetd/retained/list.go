package retained

import (
	"slices"
	"strings"
	"time"
)

// toldFor and toldMost bound how long, and how many of, the messages that were
// removed people are told of.
const (
	toldFor  = time.Hour
	toldMost = 20
)

// Message is one that the broker keeps, or kept, and must not.
type Message struct {
	At     time.Time // when it was removed, or found last
	Topic  string    // below the fleet's own root
	Client string    // who sends it
	Why    string    // why it is not removed yet; empty: it was
}

func (s *Sweeper) found(topic, client, why string) Message {
	return Message{At: s.deps.Now(), Topic: strings.TrimPrefix(topic, s.deps.Namespace.Root()), Client: client, Why: why}
}

// stays notes for people what is there.
func (s *Sweeper) stays(all []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stay = all
}

// tells notes for people what was removed; of one topic the newest time.
func (s *Sweeper) tells(k Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = append(slices.DeleteFunc(s.gone, func(o Message) bool { return o.Topic == k.Topic }), k)
	s.gone = s.gone[max(0, len(s.gone)-toldMost):]
}

// List is what people are told, the newest first.
func (s *Sweeper) List(now time.Time) (all []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all = slices.Clone(s.stay[:min(len(s.stay), toldMost)])
	for _, k := range slices.Backward(s.gone) {
		if now.Sub(k.At) < toldFor && !slices.ContainsFunc(s.stay, func(o Message) bool { return o.Topic == k.Topic }) {
			all = append(all, k)
		}
	}
	return all
}
