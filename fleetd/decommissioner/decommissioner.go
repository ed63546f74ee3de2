// Package decommissioner carries out the decommission of robots: it takes the steps that
// fleetd/decommission decides.
package decommissioner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"troupe/broker/link"
	"troupe/fleetd/decommission"
	"troupe/fleetd/enrol"
	"troupe/fleetd/store"
	"troupe/schema"
	"troupe/schema/verb"
)

// pollInterval is how often Run reads the decommissions without a wake-up: presence changes, and another instance
// may have begun a decommission.
const pollInterval = time.Second

// confirmWithin bounds the wait for the broker's confirmation of a stop.
const confirmWithin = time.Second

// Decommissioner carries out the steps of decommissions.
type Decommissioner struct {
	deps Deps
	wake chan struct{}

	waiting atomic.Pointer[map[string]string] // what a decommission waits for, by robot; replaced, never changed
}

// Deps is what a Decommissioner needs.
type Deps struct {
	Log        *slog.Logger
	Namespace  schema.Namespace
	Name       string // of this instance
	Now        func() time.Time
	Leads      func() bool
	Failed     func(what string, err error) // records a failure of the database
	Connection func(robot string, now time.Time) decommission.Connection
	Publish    func(ctx context.Context, m link.Message) error // returns when the broker has confirmed the message
	Wake       func()                                          // makes the publisher send what is in the outbox
	Refresh    func(ctx context.Context) error                 // reads the robots from the database again
}

// Store is the part of the database with decommissions.
type Store interface {
	FleetID() string
	Decommissions(ctx context.Context, all bool) ([]decommission.Decommission, error)
	DecommissionPublished(ctx context.Context, robot string) (bool, error)
	IsNameRevoked(ctx context.Context, robot string) (bool, error)
	Tx(ctx context.Context, do func(tx *store.Tx) error) error
}

// New makes a decommissioner.
func New(d Deps) *Decommissioner {
	return &Decommissioner{deps: d, wake: make(chan struct{}, 1)}
}

// Run carries out steps until ctx ends.
func (d *Decommissioner) Run(ctx context.Context, db Store) {
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		d.advanceAll(ctx, db)
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
		case <-poll.C:
		}
	}
}

// Wake makes Run advance the decommissions now.
func (d *Decommissioner) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// advanceAll advances every open decommission as far as possible. A follower only records what
// each waits for, since the leader writes the steps.
func (d *Decommissioner) advanceAll(ctx context.Context, db Store) {
	leads := d.deps.Leads()
	open, err := db.Decommissions(ctx, false)
	if err != nil {
		d.deps.Failed("decommissions not read", err)
		return
	}
	waiting := map[string]string{}
	for _, one := range open {
		for !one.Step.Over() {
			now := d.deps.Now()
			next, err := d.next(ctx, db, one, now)
			if err == nil && next.Stop && leads {
				if failed := d.stop(ctx, one, now); failed != nil {
					waiting[one.Robot] = fmt.Sprintf("it has to be stopped first, and the broker has not confirmed the stop: %v", failed)
					break
				}
			}
			reached := next.To
			if err == nil && next.On != "" && leads {
				now = d.deps.Now()
				reached, err = d.step(ctx, db, one, next, now)
			}
			if errors.Is(err, store.ErrConflict) {
				break // another instance took the step
			}
			if err != nil {
				d.deps.Failed("decommission step failed", fmt.Errorf("robot %s: %w", one.Robot, err))
				break
			}
			if next.On == "" || !leads {
				waiting[one.Robot] = next.Why
				break
			}
			if reached == next.To {
				d.deps.Log.Info("decommission", "robot", one.Robot, "from", one.Step, "to", next.To, "why", next.Why)
			} else {
				d.deps.Log.Info("decommission continues: desired documents of the robot were written meanwhile, and are deleted first", "robot",
					one.Robot, "step", reached)
			}
			one.Step, one.StepAt = reached, now
		}
	}
	d.waiting.Store(&waiting)
}

// next decides the next step of a decommission.
func (d *Decommissioner) next(ctx context.Context, db Store, one decommission.Decommission,
	now time.Time) (next decommission.Decision, err error) {
	// the clock may have been set back
	facts := decommission.Facts{Connection: d.deps.Connection(one.Robot, now), InStep: now.Sub(one.StepAt).Abs()}
	if facts.Confirmed, err = db.DecommissionPublished(ctx, one.Robot); err != nil {
		return next, err
	}
	if facts.NameRevoked, err = db.IsNameRevoked(ctx, one.Robot); err != nil {
		return next, err
	}
	return decommission.Next(one, facts), nil
}

// step carries out one step of a decommission, and returns the step at which it is then: see
// store.Tx.StepDecommission.
func (d *Decommissioner) step(ctx context.Context, db Store, one decommission.Decommission, next decommission.Decision,
	now time.Time) (reached decommission.Step, err error) {
	err = db.Tx(ctx, func(tx *store.Tx) error {
		if next.To == decommission.Revoked {
			held, err := tx.Certificates(ctx, one.Robot)
			if err != nil {
				return err
			}
			if err := tx.Revoke(ctx, enrol.Revoke(held, one.Robot, one.By, "decommissioned: "+one.Why, now)); err != nil {
				return err
			}
			if err := tx.EnqueueRevocation(ctx, db.FleetID(), now); err != nil {
				return err
			}
		}
		if err := tx.StepDecommission(ctx, one, next.To, now); err != nil {
			return err
		}
		after, err := tx.Decommission(ctx, one.Robot)
		reached = after.Step
		return err
	})
	if err != nil {
		return one.Step, err
	}
	d.deps.Wake()
	if reached == decommission.Archived {
		return reached, d.deps.Refresh(ctx)
	}
	return reached, nil
}

// stop stops a robot before its access is revoked: what it does without a link depends on its
// settings. It waits for the broker's confirmation: the revocation goes over another connection,
// and could overtake the stop.
func (d *Decommissioner) stop(ctx context.Context, one decommission.Decommission, now time.Time) error {
	v, _ := verb.Of("safety", "stop")
	why := "this robot leaves the fleet"
	payload, err := verb.Encode(v, verb.Request{Args: verb.Stop{Why: why}, Envelope: schema.Envelope{ID: uuid.NewString(),
		TS: schema.TimeOf(now), By: one.By, Why: why}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, confirmWithin)
	defer cancel()
	return d.deps.Publish(ctx, link.Message{Topic: d.deps.Namespace.Topic(schema.TopicCmd, one.Robot, d.deps.Name, v.Group, v.Name),
		Payload: payload, QoS: 1})
}

// Waiting says what the decommission of a robot waits for; empty if for nothing.
func (d *Decommissioner) Waiting(robot string) string {
	if waiting := d.waiting.Load(); waiting != nil {
		return (*waiting)[robot]
	}
	return ""
}
