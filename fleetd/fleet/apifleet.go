package fleet

import (
	"context"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/fleetd/library"
	"troupe/fleetd/presence"
	"troupe/fleetd/retained"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/fleetd/view"
	"troupe/schema"
)

// pace is how long the stream gathers changes.
const pace = 250 * time.Millisecond

var _ api.Fleet = (*Fleet)(nil)

// Now is the fleet's clock.
func (f *Fleet) Now() time.Time { return time.Now() }

// Robots lists every robot that was ever seen.
func (f *Fleet) Robots() []api.Robot { return f.view.Robots() }

// Robot is everything about one robot.
func (f *Fleet) Robot(id string) (api.Detail, bool) { return f.view.Robot(id) }

// Document is the newest of that kind that a robot told.
func (f *Fleet) Document(robot string, kind schema.TopicKind) []byte {
	return f.view.Document(robot, kind)
}

// Orphans are the retained documents of robots that the database does not know.
func (f *Fleet) Orphans() []api.Orphan { return f.view.Orphans() }

// Issuer is what certificates are issued with.
func (f *Fleet) Issuer() (api.Issuer, error) { return f.identity.Issuer(f.EnrolURL()) }

// Leaving says what the decommission of a robot waits for.
func (f *Fleet) Leaving(robot string) string { return f.revocations.Waiting(robot) }

// Catalogue is what the bodies of the fleet's robots can play and show.
func (f *Fleet) Catalogue() library.Catalogue { return f.view.Catalogue() }

// Watch tells of changes until it is closed.
func (f *Fleet) Watch() api.Watch { return f.view.Watch(pace) }

// Status is how fleetd stands.
func (f *Fleet) Status() api.Status {
	complete := f.HeldComplete()
	held := f.Latched()
	for i := range held {
		held[i].Robots = []string{}
	}
	led, now := f.leadership.Status(), time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	s := api.Status{
		Latched: held, HeldComplete: complete, Kept: kept(f.retained.List(now)),
		Leadership: api.Leadership{Leads: led.Leads, Leader: led.Leader, Why: led.Why, Since: schema.TimeOf(led.Since)},
		TS:         schema.TimeOf(now), Version: f.cfg.Version, Name: f.cfg.Name,
		Broker: f.broker, Database: f.database, Dropped: f.keeper.Dropped(),
	}
	if !f.rivalAt.IsZero() && time.Since(f.rivalAt) < presence.Disputed {
		s.Disputed = f.rival
	}
	if f.db != nil {
		s.FleetID = f.db.FleetID()
	}
	return s
}

func kept(messages []retained.Message) (out []api.Kept) {
	for _, m := range messages {
		out = append(out, api.Kept{At: schema.TimeOf(m.At), Topic: m.Topic, Client: m.Client, Why: m.Why})
	}
	return out
}

// Targets are the robots that s means, as the dispatcher would send to them now.
func (f *Fleet) Targets(s selector.Selector, stop bool) (targets []command.Target, unknown []string) {
	return f.view.Targets(s, stop)
}

// Changed makes known what a transaction changed: labels and desired documents to the view,
// the outbox to the broker.
func (f *Fleet) Changed(ctx context.Context) {
	f.publisher.Wake()
	f.revocations.Wake()
	db, err := f.Store()
	if err != nil {
		return
	}
	if err := f.refresh(context.WithoutCancel(ctx), db); err != nil {
		f.databaseFailed("fleet not read", err)
	}
}

// Labelled reports whether the robots' labels were read.
func (f *Fleet) Labelled() bool { return f.labelled.Load() }

// refresh reads what the database knows of robots into the view.
func (f *Fleet) refresh(ctx context.Context, db *store.Store) error {
	f.knowing.Lock()
	defer f.knowing.Unlock()
	robots, err := db.Robots(ctx, selector.All())
	if err != nil {
		return err
	}
	f.view.Sync(robots)
	f.labelled.Store(true)
	return nil
}

// Adopt makes a robot known to the fleet.
func (f *Fleet) Adopt(ctx context.Context, id string) error {
	db, err := f.Store()
	if err != nil {
		return err
	}
	return f.adopt(ctx, db, id, time.Now())
}

// newPersister makes what writes behind the view. In a fleet for development it adopts
// robots by itself.
func (f *Fleet) newPersister() *view.Persister {
	d := view.PersisterDeps{
		Now: time.Now, Failed: f.databaseFailed, Well: f.databaseWell,
		Leads: f.leadership.Leads, Followed: f.leadership.Followed,
	}
	if f.cfg.Dev {
		d.Adopt = func(ctx context.Context, robot string) error {
			if f.TakenBy(robot) != "" {
				return nil // a person who asks for it is told why not
			}
			return f.Adopt(ctx, robot)
		}
	}
	return view.NewPersister(f.view, d)
}

func (f *Fleet) adopt(ctx context.Context, db *store.Store, id string, now time.Time) error {
	added, err := db.AddRobot(ctx, id, now)
	if err != nil {
		return err
	}
	if added {
		f.log.Info("robot is known from now on", "robot", id)
	}
	f.knowing.Lock()
	defer f.knowing.Unlock()
	robot, err := db.Robot(ctx, id)
	if err != nil {
		return err
	}
	f.view.Known([]store.Robot{robot})
	return nil
}
