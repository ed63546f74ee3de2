package fleet

import (
	"time"

	"troupe/fleetd/api"
	"troupe/schema"
)

// Status is the state of this instance.
func (f *Fleet) Status() api.Status {
	complete := f.stops.Complete()
	held := f.stops.Latched()
	for i := range held { // the status is sent often, and a stop may hold the whole fleet; GET /stops names the robots
		held[i].Robots = []string{}
	}
	led, now := f.leadership.Status(), time.Now()
	s := api.Status{
		Latched: held, LatchedComplete: complete, RetainedCommands: f.retained.List(now),
		Leadership: api.Leadership{Leads: led.Leads, Leader: led.Leader, Why: led.Why, Since: schema.TimeOf(led.Since)},
		TS:         schema.TimeOf(now), Version: f.cfg.Version, Name: f.cfg.Name, Dev: f.cfg.Dev,
		Dropped: f.persister.Dropped(), Messages: f.received.Load(), Others: f.instances.Others(f.cfg.Name, now),
	}
	for _, b := range f.notify.buttons.List(now) {
		one := api.StopButton{Name: b.Name, Listed: b.Listed}
		if !b.HeardAt.IsZero() {
			one.HeardAt = schema.TimeOf(b.HeardAt)
		}
		if !b.SilentAt.IsZero() {
			one.SilentSince = schema.TimeOf(b.SilentAt)
		}
		s.StopButtons = append(s.StopButtons, one)
	}
	f.health.fill(&s, now)
	s.Instances = f.instanceList(s.Broker.OK, now)
	return s
}

// instanceList lists this instance, by what it knows of itself, and the others by their heartbeats.
func (f *Fleet) instanceList(connected bool, now time.Time) []api.InstanceHealth {
	own := f.instance()
	all := []api.InstanceHealth{{Name: f.cfg.Name, This: true, Version: own.Version, StartedAt: own.StartedAt, Leads: own.Leads,
		Database: own.Database, Broker: connected}}
	for _, i := range f.instances.List(now) {
		if i.Name == f.cfg.Name {
			all[0].HeardAt = schema.TimeOf(i.LastSeen)
			continue
		}
		there := connected && !i.Silent
		all = append(all, api.InstanceHealth{
			Name: i.Name, Version: i.Version, StartedAt: i.StartedAt, Leads: i.Leads && there, Database: i.Database, Broker: there,
			HeardAt: schema.TimeOf(i.LastSeen),
		})
	}
	return all
}
