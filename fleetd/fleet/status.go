package fleet

import (
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/presence"
	"troupe/fleetd/retained"
	"troupe/schema"
)

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
