package robot

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"troupe/robotd/identity"
	"troupe/schema/build"
)

// keepEvery is by how much the fleet's time is ahead of what the disk holds when it is
// saved again. After a loss of power it is that much too early, at most.
const keepEvery = time.Hour

// certificateClock is the time by which the robot judges certificates: its own, but never
// less than it can be. Its own may begin in 1970 at each start.
type certificateClock struct {
	data string
	log  *slog.Logger
	wall func() time.Time
	news chan struct{} // 1: there is something to keep

	mu    sync.Mutex
	floor identity.Floor
	at    time.Time // when floor.Heard was heard; zero: in an earlier run
	until time.Time // when the certificates of the newest connection end; zero: it has none
	kept  time.Time
}

func openClock(data string, log *slog.Logger) *certificateClock {
	heard, err := identity.LoadFleetTime(data)
	if err != nil {
		log.Warn("the time when the fleet was heard last is not known", "error", err)
	}
	return &certificateClock{data: data, log: log, wall: time.Now, news: make(chan struct{}, 1), floor: identity.Floor{Built: build.Time(), FleetTime: heard}, kept: heard}
}

func (c *certificateClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.floor
	if !c.at.IsZero() {
		f.FleetTime = f.FleetTime.Add(time.Since(c.at))
	}
	return f.Now(c.wall())
}

// connected notes until when the certificates of a new connection are valid.
func (c *certificateClock) connected(until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = until
}

// hear takes the fleet's time. It does not wait for the disk.
func (c *certificateClock) hear(fleet time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.floor.Observe(fleet, c.until)
	if next == c.floor {
		return
	}
	c.floor, c.at = next, time.Now()
	if next.FleetTime.Sub(c.kept) >= keepEvery {
		select {
		case c.news <- struct{}{}:
		default:
		}
	}
}

// keep saves the fleet's time, until ctx ends.
func (c *certificateClock) keep(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.news:
		}
		c.mu.Lock()
		heard := c.floor.FleetTime
		c.kept = heard // also when it fails: a disk that is full is not written to each second
		c.mu.Unlock()
		if err := identity.SaveFleetTime(c.data, heard); err != nil {
			c.log.Warn("the fleet's time is not kept; a clock that begins anew is then believed to begin earlier", "error", err)
		}
	}
}
