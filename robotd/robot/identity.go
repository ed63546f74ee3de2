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
	"troupe/schema"
)

// DefaultBroker is the address of the broker for a robot that is configured with none.
const DefaultBroker = "mqtt://127.0.0.1:1883"

// DefaultFleetd is the address of fleetd for a robot that is configured with none.
const DefaultFleetd = "http://127.0.0.1:8080"

// renewWithin bounds one request for the next certificate.
const renewWithin = 30 * time.Second

// applyIdentity completes the settings from the robot's identity. An id that differs from the
// identity's is an error here, because the broker would refuse the robot without a reason
// that people see.
func (c *Config) applyIdentity() error {
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
	c.ID, c.enrolment = i.Robot, i.Fleetd
	if c.Broker == "" && len(i.Fleetd.Brokers) > 0 {
		c.Broker, c.FallbackBrokers = i.Fleetd.Brokers[0], i.Fleetd.Brokers[1:]
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

// renewer requests the robot's next certificate when it is due, and raises alerts about the
// present one. It ends at once if the robot has no certificate.
type renewer struct {
	data string
	now  func() time.Time // the clock that judges certificates
	log  *slog.Logger
	send func(event.Event) // to the loop
	// renewed is called after a renewal, so that the robot reconnects: a connection ends
	// with the certificate that it was opened with.
	renewed func()
}

func (r *renewer) run(ctx context.Context) {
	var state renew.State
	var reported renew.Alert
	for {
		i, err := identity.Load(r.data)
		if errors.Is(err, identity.ErrNone) {
			return
		}
		if err != nil {
			r.log.Error("identity not read", "error", err)
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
		if d.Alert != reported {
			reported = d.Alert
			r.send(event.CertificateState{Level: reported.Level, Detail: reported.Detail, Hint: reported.Hint, Until: schema.TimeOf(c.NotAfter)})
		}
		// A minimum interval between two requests, whatever was decided.
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

// wait waits for d. It returns false if ctx ended first.
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
