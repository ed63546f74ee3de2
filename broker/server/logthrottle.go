package server

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	// throttleInterval is how long repetitions are only counted.
	throttleInterval = 5 * time.Second
	// maxLineKeys is for how many kinds of lines repetitions are counted separately. All others
	// are counted together.
	maxLineKeys = 512
)

// lineKey identifies a kind of log line: the message, a reason, and who caused it, an address or
// a name. Values that clients choose freely are not part of it.
type lineKey struct {
	level            slog.Level
	what, why, whose string
}

// throttle throttles log lines. The first of a kind is logged at once; repetitions are
// counted, and logged once per interval with their number. An unknown client can make the
// same mistake a thousand times a second, and the log must stay readable.
type throttle struct {
	byKey map[lineKey]*repetitions
}

// repetitions counts the repetitions since a line was logged.
type repetitions struct {
	at     time.Time
	count  int
	latest []any // attributes of the last repetition
}

// logLine is a log line to write.
type logLine struct {
	lineKey
	attrs []any
}

// add records an event and returns the lines to log now.
func (g *throttle) add(now time.Time, p lineKey, attrs []any) (lines []logLine) {
	if g.byKey == nil {
		g.byKey = map[lineKey]*repetitions{}
	}
	if g.byKey[p] == nil && len(g.byKey) >= maxLineKeys {
		if p.whose = "others"; g.byKey[p] == nil && len(g.byKey) >= 2*maxLineKeys {
			return nil // there cannot be so many kinds; bounds the memory
		}
	}
	if t := g.byKey[p]; t != nil {
		t.count++
		t.latest = attrs
		return nil
	}
	g.byKey[p] = &repetitions{at: now}
	return []logLine{{p, attrs}}
}

// due returns the repetitions to log now, or with all every one that was not logged, and
// forgets kinds without repetitions.
func (g *throttle) due(now time.Time, all bool) (lines []logLine) {
	for p, t := range g.byKey {
		switch {
		case now.Sub(t.at) < throttleInterval && !all:
		case t.count == 0:
			delete(g.byKey, p)
		default:
			lines = append(lines, logLine{p, append(t.latest, "count", t.count, "within", now.Sub(t.at).Round(time.Second))})
			*t = repetitions{at: now}
		}
	}
	return lines
}

// logThrottle logs what clients cause, and throttles repetitions.
type logThrottle struct {
	log *slog.Logger

	mu       sync.Mutex
	throttle throttle
	timer    *time.Timer // runs while there are recent events
	closed   bool
}

// add logs an event. whose is a name or an address.
func (c *logThrottle) add(level slog.Level, what, why, whose string, attrs ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.write(c.throttle.add(time.Now(), lineKey{level, what, why, whose}, attrs))
	if c.timer == nil && !c.closed {
		c.timer = time.AfterFunc(throttleInterval, c.flushDue)
	}
}

func (c *logThrottle) flushDue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.write(c.throttle.due(time.Now(), false))
	if c.timer = nil; len(c.throttle.byKey) > 0 {
		c.timer = time.AfterFunc(throttleInterval, c.flushDue)
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
	c.write(c.throttle.due(time.Now(), true))
}

func (c *logThrottle) write(lines []logLine) {
	for _, l := range lines {
		c.log.Log(context.Background(), l.level, l.what, l.attrs...)
	}
}
