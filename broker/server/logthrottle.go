package server

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// gatherFor is how long repetitions are only counted.
	gatherFor = 5 * time.Second
	// gatherMost is for how many complaints repetitions are counted separately. All others
	// are counted together.
	gatherMost = 512
)

// complaint identifies a log line: the message, a reason, and who caused it, an address or
// a name. Values that clients choose freely are not part of it.
type complaint struct {
	level            slog.Level
	what, why, whose string
}

// gathered throttles log lines. The first of a kind is logged at once; repetitions are
// counted, and logged once per interval with their number. An unknown client can make the
// same mistake a thousand times a second, and the log must stay readable.
type gathered struct {
	of map[complaint]*told
}

// told counts the repetitions since a line was logged.
type told struct {
	at     time.Time
	count  int
	latest []any // attributes of the last repetition
}

// saying is a log line to write.
type saying struct {
	complaint
	attrs []any
}

// add records an event and returns the lines to log now.
func (g *gathered) add(now time.Time, p complaint, attrs []any) (say []saying) {
	if g.of == nil {
		g.of = map[complaint]*told{}
	}
	if g.of[p] == nil && len(g.of) >= gatherMost {
		if p.whose = "others"; g.of[p] == nil && len(g.of) >= 2*gatherMost {
			return nil // there cannot be so many kinds; bounds the memory
		}
	}
	if t := g.of[p]; t != nil {
		t.count++
		t.latest = attrs
		return nil
	}
	g.of[p] = &told{at: now}
	return []saying{{p, attrs}}
}

// due returns the repetitions to log now, or with all every one that was not logged, and
// forgets kinds without repetitions.
func (g *gathered) due(now time.Time, all bool) (say []saying) {
	for p, t := range g.of {
		switch {
		case now.Sub(t.at) < gatherFor && !all:
		case t.count == 0:
			delete(g.of, p)
		default:
			say = append(say, saying{p, append(t.latest, "count", t.count, "within", now.Sub(t.at).Round(time.Second))})
			*t = told{at: now}
		}
	}
	return say
}

// logThrottle logs what clients cause, and throttles repetitions.
type logThrottle struct {
	log *slog.Logger

	mu     sync.Mutex
	said   gathered
	timer  *time.Timer // runs while there are recent events
	closed bool
}

// tell logs an event. whose is a name or an address.
func (c *logThrottle) tell(level slog.Level, what, why, whose string, attrs ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.say(c.said.add(time.Now(), complaint{level, what, why, whose}, attrs))
	if c.timer == nil && !c.closed {
		c.timer = time.AfterFunc(gatherFor, c.later)
	}
}

func (c *logThrottle) later() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.say(c.said.due(time.Now(), false))
	if c.timer = nil; len(c.said.of) > 0 {
		c.timer = time.AfterFunc(gatherFor, c.later)
	}
}

// close logs the remaining repetitions.
func (c *logThrottle) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.timer != nil {
		c.timer.Stop()
	}
	c.say(c.said.due(time.Now(), true))
}

func (c *logThrottle) say(lines []saying) {
	for _, l := range lines {
		c.log.Log(context.Background(), l.level, l.what, l.attrs...)
	}
}
