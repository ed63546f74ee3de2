package retained

import (
	"slices"
	"strings"
	"time"

	"troupe/schema"
)

// listedFor and listedMost bound for how long, and how many, removed messages are listed.
const (
	listedFor  = time.Hour
	listedMost = 20
)

// Command is a command or live stop that the broker retained although it must not be.
type Command struct {
	At     schema.Time `json:"at" doc:"when it was removed, or last seen"`
	Topic  string      `json:"topic" doc:"without the namespace and version"`
	Client string      `json:"client" doc:"the client that sent it"`
	Why    string      `json:"why,omitempty" doc:"why it is not removed yet; empty once it is removed"`
}

func (s *Sweeper) found(topic, client, why string) Command {
	return Command{At: schema.TimeOf(s.deps.Now()), Topic: strings.TrimPrefix(topic, s.deps.Namespace.Root()), Client: client, Why: why}
}

// list is what people are shown. Run replaces it and never changes it.
type list struct {
	gone []Command // removed, the newest last
	stay []Command // not removed yet, as of the last sweep
}

// setPresent records the commands that the broker has now.
func (s *Sweeper) setPresent(all []Command) {
	s.list.Store(&list{gone: s.list.Load().gone, stay: all})
}

// addRemoved records that a command was removed; of one topic the newest.
func (s *Sweeper) addRemoved(k Command) {
	was := s.list.Load()
	gone := append(slices.DeleteFunc(slices.Clone(was.gone), func(o Command) bool { return o.Topic == k.Topic }), k)
	s.list.Store(&list{gone: gone[max(0, len(gone)-listedMost):], stay: was.stay})
}

// List lists what is there and what was removed lately, the newest first.
func (s *Sweeper) List(now time.Time) (all []Command) {
	l := s.list.Load()
	all = slices.Clone(l.stay[:min(len(l.stay), listedMost)])
	for _, k := range slices.Backward(l.gone) {
		if now.Sub(k.At.Time()) < listedFor && !slices.ContainsFunc(l.stay, func(o Command) bool { return o.Topic == k.Topic }) {
			all = append(all, k)
		}
	}
	return all
}
