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

// list is what people are shown. Run replaces it and never changes it.
type list struct {
	gone []Message // removed, the newest last
	stay []Message // not removed yet, as of the last sweep
}

// setPresent records the messages that the broker has now.
func (s *Sweeper) setPresent(all []Message) {
	s.list.Store(&list{gone: s.list.Load().gone, stay: all})
}

// addRemoved records that a message was removed; of one topic the newest.
func (s *Sweeper) addRemoved(k Message) {
	was := s.list.Load()
	gone := append(slices.DeleteFunc(slices.Clone(was.gone), func(o Message) bool { return o.Topic == k.Topic }), k)
	s.list.Store(&list{gone: gone[max(0, len(gone)-listedMost):], stay: was.stay})
}

// List lists what is there and what was removed lately, the newest first.
func (s *Sweeper) List(now time.Time) (all []Message) {
	l := s.list.Load()
	all = slices.Clone(l.stay[:min(len(l.stay), listedMost)])
	for _, k := range slices.Backward(l.gone) {
		if now.Sub(k.At) < listedFor && !slices.ContainsFunc(l.stay, func(o Message) bool { return o.Topic == k.Topic }) {
			all = append(all, k)
		}
	}
	return all
}
