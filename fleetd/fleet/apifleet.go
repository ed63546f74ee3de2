package fleet

import (
	"context"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/fleetd/library"
	"troupe/fleetd/presence"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
	"troupe/schema"
)

// pace is how long the stream gathers changes.
const pace = 250 * time.Millisecond

var _ api.Fleet = (*Fleet)(nil)

// Now is the fleet's clock.
func (f *Fleet) Now() time.Time { return time.Now() }

// Robots lists every robot that was ever seen.
func (f *Fleet) Robots() []api.Robot { return f.hub.list() }

// Robot is everything about one robot.
func (f *Fleet) Robot(id string) (api.Detail, bool) { return f.hub.detail(id) }

// Document is the newest of that kind that a robot told.
func (f *Fleet) Document(robot string, kind schema.TopicKind) []byte {
	return f.hub.document(robot, kind)
}

// Catalogue is what the bodies of the fleet's robots can play and show.
func (f *Fleet) Catalogue() library.Catalogue { return f.hub.catalogue() }

// Watch tells of changes until it is closed.
func (f *Fleet) Watch() api.Watch { return f.hub.watch(pace) }

// Status is how fleetd stands.
func (f *Fleet) Status() api.Status {
	complete := f.HeldComplete()
	held := f.Latched()
	for i := range held {
		held[i].Robots = []string{}
	}
	led, now := f.leadership.status(), time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	s := api.Status{
		Latched: held, HeldComplete: complete, Kept: f.sweeper.kept(now), Leadership: led,
		TS: schema.TimeOf(now), Version: f.cfg.Version, Name: f.cfg.Name,
		Broker: f.broker, Database: f.database, Dropped: f.keeper.dropped.Load(),
	}
	if !f.rivalAt.IsZero() && time.Since(f.rivalAt) < presence.Disputed {
		s.Disputed = f.rival
	}
	if f.db != nil {
		s.FleetID = f.db.FleetID()
	}
	return s
}

// Targets are the robots that s means, as the driver would send to them now. A
// stop means also those that the database does not know, seen or not; who asks
// for anything else gets the names that he must correct.
func (f *Fleet) Targets(s selector.Selector, stop bool) (targets []command.Target, unknown []string) {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	for id, e := range f.hub.robots {
		if !s.Match(id, e.kept.Labels) {
			continue
		}
		if !e.adopted && !stop {
			if len(s.IDs) > 0 {
				unknown = append(unknown, id)
			}
			continue
		}
		targets = append(targets, e.target(id))
	}
	for _, id := range s.IDs {
		if f.hub.robots[id] == nil {
			if stop {
				targets = append(targets, command.Target{Robot: id})
			} else {
				unknown = append(unknown, id)
			}
		}
	}
	slices.SortFunc(targets, func(a, b command.Target) int { return strings.Compare(a.Robot, b.Robot) })
	slices.Sort(unknown)
	return targets, slices.Compact(unknown)
}

func (e *entry) target(id string) command.Target {
	t := command.Target{Robot: id, Present: e.shown.View.Reachable(), Caps: e.caps}
	if e.heartbeat != nil {
		t.SeenMonoMS, t.SeenBoot = e.heartbeat.MonoMS, e.heartbeat.Boot
	}
	return t
}

// Changed makes known what a transaction changed: labels and desired documents to the hub,
// the outbox to the broker.
func (f *Fleet) Changed(ctx context.Context) {
	signal(f.outbox.wake)
	signal(f.warden.wake)
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

// refresh reads what the database knows of robots into the hub.
func (f *Fleet) refresh(ctx context.Context, db *store.Store) error {
	f.knowing.Lock()
	defer f.knowing.Unlock()
	robots, err := db.Robots(ctx, selector.All())
	if err != nil {
		return err
	}
	f.hub.known(robots)
	f.hub.forgetOthers(robots)
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
	f.hub.known([]store.Robot{robot})
	return nil
}

// remember puts a document of the database into the hub, unless the robot said
// something newer already. It is no sign of life.
func (f *Fleet) remember(d store.Document) {
	f.hub.change(d.Robot, time.Now(), func(e *entry) {
		if _, newer := e.documents[d.Kind]; newer {
			return
		}
		if e.recall(d) {
			e.documents[d.Kind] = d
			e.hear(f.hub.fleetID, d.Kind, d.Body)
		}
	})
}

// recall decodes one document of the database; one of an older form is left.
func (e *entry) recall(d store.Document) bool {
	switch d.Kind {
	case schema.TopicPresence:
		return recall(d, func(v *schema.Presence) { e.facts = presence.Facts{}.Heard(*v, true, d.ReceivedAt) })
	case schema.TopicState:
		return recall(d, func(v *schema.State) { e.state, e.stateAt = v, d.ReceivedAt })
	case schema.TopicModes:
		return recall(d, func(v *schema.Modes) { e.modes = v })
	case schema.TopicCaps:
		return recall(d, func(v *schema.Caps) { e.caps = v })
	case schema.TopicActs:
		return recall(d, func(v *schema.Acts) { e.acts = v })
	case schema.TopicReportedStory:
		return recall(d, func(v *schema.ReportedStory) { e.reported = v })
	}
	return false
}

func recall[T any](d store.Document, use func(*T)) bool {
	v, problems := schema.Decode[T](d.Body)
	if len(problems) > 0 {
		return false
	}
	use(&v)
	return true
}
