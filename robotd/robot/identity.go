package robot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"troupe/robotd/download"
	"troupe/robotd/event"
	"troupe/robotd/identity"
	"troupe/robotd/renew"
)

// DefaultBroker is where a robot connects that has no other address.
const DefaultBroker = "mqtt://127.0.0.1:1883"

// DefaultFleetd is where a robot asks for large files that has no other address.
const DefaultFleetd = "http://127.0.0.1:8080"

// renewWithin bounds one request for the next certificate.
const renewWithin = 30 * time.Second

// enrolled fills in what the robot's identity says and the settings do not. A robot that
// was enrolled under another name than it is given is a mistake: its broker would refuse
// it, and nobody would see why.
func (c *Config) enrolled() error {
	i, err := identity.Load(c.dir())
	switch {
	case errors.Is(err, identity.ErrNone):
		c.Broker, c.Fleetd = cmp.Or(c.Broker, DefaultBroker), cmp.Or(c.Fleetd, DefaultFleetd)
		return c.checkFleetd()
	case err != nil:
		return fmt.Errorf("%w; robotd enrol --again --data %s, with a new token of fleetd, replaces it", err, c.dir())
	case c.ID != "" && c.ID != i.Robot:
		return fmt.Errorf("robot id %q: the identity in %s is that of %s; leave the id out, or use another data directory", c.ID, c.Data, i.Robot)
	}
	c.ID, c.pinned = i.Robot, i.Fleetd
	if c.Broker == "" && len(i.Fleetd.Brokers) > 0 {
		c.Broker, c.Others = i.Fleetd.Brokers[0], i.Fleetd.Brokers[1:]
	}
	c.Broker = cmp.Or(c.Broker, DefaultBroker)
	c.Fleetd = cmp.Or(c.Fleetd, i.Fleetd.Server, DefaultFleetd)
	return c.checkFleetd()
}

func (c *Config) checkFleetd() error {
	if _, err := download.ParseFleetd(c.Fleetd); err != nil {
		return fmt.Errorf("fleetd: %w", err)
	}
	return nil
}

// renewer asks for the robot's next certificate when it is time, and reports how its
// certificate stands. It ends at once where there is none.
type renewer struct {
	data string
	now  func() time.Time // by which certificates are judged
	log  *slog.Logger
	tell func(event.Event)
	// renewed is called when there is a new certificate. The connection that was made with
	// the old one would end with that.
	renewed func()
}

func (r *renewer) run(ctx context.Context) {
	var state renew.State
	var told renew.Alert
	for {
		i, err := identity.Load(r.data)
		if errors.Is(err, identity.ErrNone) {
			return
		}
		if err != nil {
			r.log.Error("the robot's identity cannot be read", "error", err)
			if !wait(ctx, renew.LongPause) {
				return
			}
			continue
		}
		c := renew.Certificate{Robot: i.Robot, Serial: i.Serial(), NotBefore: i.Leaf().NotBefore, NotAfter: i.Leaf().NotAfter}
		now := i.TLS(r.now).Time()
		d := renew.Decide(state, c, now)
		if d.Renew {
			state = r.renew(ctx, state, c, now)
			d = renew.Decide(state, c, now)
		}
		if d.Alert != told {
			told = d.Alert
			r.tell(event.Credential{Level: told.Level, Detail: told.Detail, Hint: told.Hint})
		}
		// Whatever was decided, it is never asked for more often than that.
		if !wait(ctx, max(d.NextCheck.Sub(now), renew.FirstPause/2)) {
			return
		}
	}
}

func (r *renewer) renew(ctx context.Context, s renew.State, c renew.Certificate, now time.Time) renew.State {
	ctx, cancel := context.WithTimeout(ctx, renewWithin)
	defer cancel()
	next, err := identity.Renew(ctx, r.data, r.now)
	if err != nil {
		s = renew.RecordFailure(s, c, err.Error(), now)
		r.log.Warn("certificate not renewed", "until", c.NotAfter, "failures", s.Failures, "again", s.RetryAt, "error", err)
		return s
	}
	r.log.Info("certificate renewed", "serial", next.Serial(), "until", next.Leaf().NotAfter)
	r.renewed()
	return renew.State{}
}

// wait reports whether the time passed, and not the context.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
