package robot

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"troupe/robotd/identity"
	"troupe/schema/build"
)

// keepEvery is by how much the fleet's time advances until it is saved again. After a loss
// of power the saved time is at most that much too early.
const keepEvery = time.Hour

// certificateClock is the clock by which the robot judges certificates: its own clock, which
// may begin in 1970 at each start, with a lower bound from the build and from the fleet.
type certificateClock struct {
	data string
	log  *slog.Logger
	wall func() time.Time
	news chan struct{} // capacity 1: there is a time to save

	mu         sync.Mutex
	lowerBound identity.TimeLowerBound
	at         time.Time // when lowerBound.FleetTime was received; zero: in an earlier run
	until      time.Time // end of the certificates of the newest connection, after which no fleet time is believed; zero: it has none
	kept       time.Time
}

func openClock(data string, log *slog.Logger) *certificateClock {
	saved, err := identity.LoadFleetTime(data)
	if err != nil {
		log.Warn("saved fleet time not read", "error", err)
	}
	return &certificateClock{data: data, log: log, wall: time.Now, news: make(chan struct{}, 1),
		lowerBound: identity.TimeLowerBound{Built: build.Time(), FleetTime: saved}, kept: saved}
}

func (c *certificateClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.lowerBound
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

// receive takes the fleet's time from a heartbeat. It does not wait for the disk.
func (c *certificateClock) receive(fleet time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.lowerBound.Observe(fleet, c.until)
	if next == c.lowerBound {
		return
	}
	c.lowerBound, c.at = next, time.Now()
	if next.FleetTime.Sub(c.kept) >= keepEvery {
		select {
		case c.news <- struct{}{}:
		default:
		}
	}
}

// saveFleetTime saves the fleet's time from time to time, until ctx ends.
func (c *certificateClock) saveFleetTime(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.news:
		}
		c.mu.Lock()
		received := c.lowerBound.FleetTime
		c.kept = received // even if the write fails, so that a full disk is not written to each second
		c.mu.Unlock()
		if err := identity.SaveFleetTime(c.data, received); err != nil {
			c.log.Warn("fleet time not saved; after a restart an expired certificate may count as valid", "error", err)
		}
	}
}
