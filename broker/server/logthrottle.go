package server

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// gatherFor is how long what is said again is only counted.
	gatherFor = 5 * time.Second
	// gatherMost is of how many it is known that they were told of. The others are
	// told of together.
	gatherMost = 512
)

// complaint is one thing to tell of: what happened, for which reason, and whose doing
// it was, an address or a name. What comes from outside and is ever different is no
// part of it.
type complaint struct {
	level            slog.Level
	what, why, whose string
}

// gathered are complaints that came lately: the first is told at once, and of
// those after it one in a while, with how many there were. An unknown client can say the
// same wrong thing a thousand times a second; whoever reads the log shall find in
// it what else there is.
type gathered struct {
	of map[complaint]*told
}

// told is how often something happened since it was told of.
type told struct {
	at     time.Time
	count  int
	latest []any // attributes of the last time
}

// saying is a line of the log.
type saying struct {
	complaint
	attrs []any
}

// add returns what has to be told now.
func (g *gathered) add(now time.Time, p complaint, attrs []any) (say []saying) {
	if g.of == nil {
		g.of = map[complaint]*told{}
	}
	if g.of[p] == nil && len(g.of) >= gatherMost {
		if p.whose = "others"; g.of[p] == nil && len(g.of) >= 2*gatherMost {
			return nil // more kinds of complaints than there are
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

// due returns what has to be told by now, or all that was not, and forgets of whom
// nothing more came.
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

// logThrottle tells the log what clients do, gathered.
type logThrottle struct {
	log *slog.Logger

	mu     sync.Mutex
	said   gathered
	timer  *time.Timer // runs while something was said lately
	closed bool
}

// tell tells that something happened. whose is a name or an address.
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

// close tells what is left.
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
