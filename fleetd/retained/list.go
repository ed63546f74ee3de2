package retained

import (
	"slices"
	"strings"
	"time"
)

// listedFor and listedMost bound for how long, and how many, removed messages are listed.
const (
	listedFor  = time.Hour
	listedMost = 20
)

// Message is a retained message that the broker must not have.
type Message struct {
	At     time.Time // when it was removed, or last found
	Topic  string    // without the fleet's namespace
	Client string    // the client whose topic it is
	Why    string    // why it is not removed yet; empty if it was
}

func (s *Sweeper) found(topic, client, why string) Message {
	return Message{At: s.deps.Now(), Topic: strings.TrimPrefix(topic, s.deps.Namespace.Root()), Client: client, Why: why}
}

// setPresent records the messages that the broker has now.
func (s *Sweeper) setPresent(all []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stay = all
}

// addRemoved records that a message was removed; of one topic the newest.
func (s *Sweeper) addRemoved(k Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = append(slices.DeleteFunc(s.gone, func(o Message) bool { return o.Topic == k.Topic }), k)
	s.gone = s.gone[max(0, len(s.gone)-listedMost):]
}

// List lists what is there and what was removed lately, the newest first.
func (s *Sweeper) List(now time.Time) (all []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all = slices.Clone(s.stay[:min(len(s.stay), listedMost)])
	for _, k := range slices.Backward(s.gone) {
		if now.Sub(k.At) < listedFor && !slices.ContainsFunc(s.stay, func(o Message) bool { return o.Topic == k.Topic }) {
			all = append(all, k)
		}
	}
	return all
}
