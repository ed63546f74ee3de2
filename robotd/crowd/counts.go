package crowd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/robotd/brain"
)

// Counts are how the crowd is doing.
type Counts struct {
	Robots     int
	Away       int // ended in order, to start again
	Connected  int
	Adopted    int // obey a fleet
	Story      int // can perform the story that was assigned to them
	Performing int
	Stopped    int // hold a latched stop or are in E_STOP

	Answered   int64     // commands, since the beginning, by a final answer
	Rejected   int64     // of these, with REJECTED or FAILED
	LiveStops  int64     // received since the beginning
	StopFirst  time.Time // when the first robot received the newest live stop; those less than stopGap apart count as one
	StopLast   time.Time // when the last one did
	Received   int64     // messages
	Published  int64     // messages
	Lost       int64     // connections, since the beginning
	Errors     int64     // of any kind
	ErrorKinds map[string]int64
}

// stopGap is between two live stops that the counts tell apart.
const stopGap = 5 * time.Second

func (c *Counts) add(d Counts) {
	c.Robots += d.Robots
	c.Away += d.Away
	c.Connected += d.Connected
	c.Adopted += d.Adopted
	c.Story += d.Story
	c.Performing += d.Performing
	c.Stopped += d.Stopped
	c.Answered += d.Answered
	c.Rejected += d.Rejected
	c.LiveStops += d.LiveStops
	c.Received += d.Received
	c.Published += d.Published
	c.Lost += d.Lost
	if !d.StopFirst.IsZero() && (c.StopFirst.IsZero() || d.StopFirst.Before(c.StopFirst)) {
		c.StopFirst = d.StopFirst
	}
	if d.StopLast.After(c.StopLast) {
		c.StopLast = d.StopLast
	}
}

// standing is what a robot adds to the counts of its shard now.
type standing struct {
	up, away bool
	brain.Tally
}

// count counts the shard's robots: those that something has happened to since the last count, which may be a moment ago, anew.
func (s *shard) count() Counts {
	for _, r := range s.touched {
		now := standing{up: r.phase == up, away: r.state == nil}
		if r.state != nil {
			now.Tally = r.state.Tally()
		}
		s.own.stand(r.stood, -1)
		s.own.stand(now, 1)
		r.stood, r.touched = now, false
	}
	s.touched = s.touched[:0]
	return s.own
}

// stand adds a robot, or takes one away.
func (c *Counts) stand(o standing, by int) {
	for _, one := range []struct {
		is bool
		n  *int
	}{{o.up, &c.Connected}, {o.away, &c.Away}, {o.Adopted, &c.Adopted}, {o.Story, &c.Story}, {o.Performing, &c.Performing},
		{o.Latched || o.EStop, &c.Stopped}} {
		if one.is {
			*one.n += by
		}
	}
}

// Counts counts the robots. It waits for the shards, which answer within a moment.
func (c *Crowd) Counts() (sum Counts) {
	for _, s := range c.shards {
		answer := make(chan Counts, 1)
		select {
		case s.counts <- answer:
			sum.add(<-answer)
		case <-c.ctx.Done():
		}
	}
	c.totals.mu.Lock()
	defer c.totals.mu.Unlock()
	sum.ErrorKinds = maps.Clone(c.totals.errors)
	for _, n := range sum.ErrorKinds {
		sum.Errors += n
	}
	return sum
}

// String is one line for people and for grep.
func (c Counts) String() string {
	line := fmt.Sprintf("robots=%d connected=%d adopted=%d story=%d performing=%d stopped=%d", c.Robots, c.Connected, c.Adopted, c.Story,
		c.Performing, c.Stopped)
	line += fmt.Sprintf(" answered=%d rejected=%d live_stops=%d lost=%d errors=%d", c.Answered, c.Rejected, c.LiveStops, c.Lost, c.Errors)
	if c.Away > 0 {
		line += fmt.Sprintf(" away=%d", c.Away)
	}
	if c.LiveStops > 0 {
		const ms = "15:04:05.000"
		line += fmt.Sprintf(" stop_first=%s stop_last=%s", c.StopFirst.UTC().Format(ms), c.StopLast.UTC().Format(ms))
	}
	return line
}

// ErrorLines lists the kinds of errors, the most frequent first.
func (c Counts) ErrorLines() (lines []string) {
	for _, what := range slices.SortedFunc(maps.Keys(c.ErrorKinds), func(a, b string) int {
		return int(c.ErrorKinds[b] - c.ErrorKinds[a])
	}) {
		lines = append(lines, fmt.Sprintf("%d times: %s", c.ErrorKinds[what], strings.TrimSpace(what)))
	}
	return lines
}
