package fleet

import (
	"slices"
	"strings"
	"time"

	"troupe/fleetd/api"
	"troupe/schema"
)

// toldFor and toldMost bound how long, and how many of, the messages that were
// removed people are told of.
const (
	toldFor  = time.Hour
	toldMost = 20
)

func (s *strayRetained) found(topic, client, why string) api.Kept {
	return api.Kept{At: schema.TimeOf(time.Now()), Topic: strings.TrimPrefix(topic, s.f.ns.Root()), Client: client, Why: why}
}

// stays notes for people what is there.
func (s *strayRetained) stays(all []api.Kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stay = all
}

// tells notes for people what was removed; of one topic the newest time.
func (s *strayRetained) tells(k api.Kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = append(slices.DeleteFunc(s.gone, func(o api.Kept) bool { return o.Topic == k.Topic }), k)
	s.gone = s.gone[max(0, len(s.gone)-toldMost):]
}

// kept is what people are told, the newest first.
func (s *strayRetained) kept(now time.Time) (all []api.Kept) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all = slices.Clone(s.stay[:min(len(s.stay), toldMost)])
	for _, k := range slices.Backward(s.gone) {
		if now.Sub(k.At.Time()) < toldFor && !slices.ContainsFunc(s.stay, func(o api.Kept) bool { return o.Topic == k.Topic }) {
			all = append(all, k)
		}
	}
	return all
}
