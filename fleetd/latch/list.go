package latch

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/spool"
	"troupe/schema"
)

// freshFor is how long the list of latched stops counts as complete without a look at the
// database, where other instances may write stops too. An instance looks several times a
// second.
const freshFor = 3 * time.Second

// LatchedStop is one latched stop.
type LatchedStop struct {
	ID        string           `json:"id"`
	Level     schema.StopLevel `json:"level" enum:"soft_stop,stop,halt"`
	By        string           `json:"by,omitempty"`
	Client    string           `json:"client,omitempty" doc:"the MQTT client that sent it without fleetd; by is what this client wrote"`
	Why       string           `json:"why,omitempty"`
	Since     schema.Time      `json:"since" doc:"when it was last requested"`
	All       bool             `json:"all,omitempty" doc:"it applies to every robot, also unknown ones"`
	Robots    []string         `json:"robots" doc:"robots of the fleet that it applies to"`
	Count     int              `json:"count" doc:"number of these robots"`
	Persisted bool             `json:"persisted" doc:"the database has it; until then it is on fleetd's disk"`

	Labels map[string]string `json:"labels,omitempty" doc:"of a stop that is not persisted: it applies to the robots with all of these labels, too"`
}

// listing is a snapshot of the state for other goroutines.
type listing struct {
	latched  []LatchedStop
	loaded   bool
	unlisted []string // robots that report a stop which is not in latched
	waiting  map[waitingKey]bool
}

type waitingKey struct {
	n  int64
	id string
}

// waits reports whether a stop waits to be persisted.
func (l *listing) waits(e spool.Entry) bool { return l.waiting[waitingKey{e.N, e.Request.ID}] }

// publish replaces the snapshot if the state changed, and then calls the replies.
func (s *Stops) publish() {
	if s.dirty {
		l := &listing{latched: s.listed(), loaded: s.loaded, unlisted: s.unlisted(), waiting: map[waitingKey]bool{}}
		for _, e := range s.waiting {
			l.waiting[waitingKey{e.N, e.Request.ID}] = true
		}
		s.list.Store(l)
		s.dirty = false
	}
	replies := s.replies
	s.replies = nil
	for _, reply := range replies {
		reply()
	}
}

// Complete reports whether Latched lists every stop that the database has, and every
// one that a robot reports.
func (s *Stops) Complete() bool {
	db, err := s.deps.Store()
	l := s.list.Load()
	known := l.loaded && err == nil && (db.SingleInstance() || s.deps.Now().Sub(time.Unix(0, s.fresh.Load())) < freshFor)
	// The last state of an unreachable robot may report a stop that was released since.
	return known && !slices.ContainsFunc(l.unlisted, s.deps.Robots.Reachable)
}

// unlisted lists the robots that report a stop which is neither latched nor waiting.
func (s *Stops) unlisted() (robots []string) {
	for robot, reported := range s.reportedSince {
		for id := range reported {
			if !s.isPersisted(robot, id, schema.StopSoft) && len(s.queued[id]) == 0 {
				robots = append(robots, robot)
			}
		}
	}
	return robots
}

// MarkCurrent records that the list is current: no other instance has changed the latched stops
// since they were read.
func (s *Stops) MarkCurrent() { s.fresh.Store(s.deps.Now().UnixNano()) }

// Latched lists the latched stops, the newest first, and those that wait to be
// persisted.
func (s *Stops) Latched() []LatchedStop { return slices.Clone(s.list.Load().latched) }

func (s *Stops) listed() []LatchedStop {
	byID := map[string]*LatchedStop{}
	of := func(id string) *LatchedStop {
		if byID[id] == nil {
			byID[id] = &LatchedStop{ID: id, Robots: []string{}}
		}
		return byID[id]
	}
	for _, l := range s.latched {
		h := of(l.ID)
		h.Level = cmp.Or(h.Level, l.Level).Stronger(l.Level)
		h.By, h.Client, h.Why, h.Since, h.Persisted = l.By, l.Client, l.Why, max(h.Since, schema.TimeOf(l.RequestedAt)), true
		if l.Robot == "" {
			h.All = true
		} else {
			h.Robots = append(h.Robots, l.Robot)
		}
	}
	for _, e := range s.waiting {
		o := e.Request
		if byID[o.ID] == nil {
			h := of(o.ID)
			h.Level, h.By, h.Client, h.Why, h.Since, h.All, h.Robots = o.Level, o.By, o.Client, o.Why, schema.TimeOf(o.At), o.All,
				append(h.Robots, o.Robots...)
			h.Labels = o.Labels
		}
	}
	out := make([]LatchedStop, 0, len(byID))
	for _, h := range byID {
		h.Count = len(h.Robots)
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b LatchedStop) int {
		return cmp.Or(cmp.Compare(b.Since, a.Since), strings.Compare(a.ID, b.ID))
	})
	return out
}
