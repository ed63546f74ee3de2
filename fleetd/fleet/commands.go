package fleet

import (
	"context"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/fleetd/dispatch"
)

// makeDispatcher makes what leads commands through their states, and what looks after
// those of others.
func (f *Fleet) makeDispatcher() {
	d := dispatch.Deps{
		Log: f.log, Namespace: f.ns, Name: f.cfg.Name, Now: time.Now, Failed: f.databaseFailed, Leads: f.leadership.Leads,
		Store:   func() (dispatch.Store, error) { return f.Store() },
		Publish: func(ctx context.Context, m link.Message) error { return f.link.Publish(ctx, m) },
		Robots:  f.view, Instances: &f.instances,
		Defers: func(c command.Command) bool { return f.stops.PutsOff(c) },
	}
	f.dispatcher, f.auditor, f.orphaned = dispatch.New(d), dispatch.NewAuditor(d), dispatch.NewOrphaned(d)
}

// Issue sets commands on their way.
func (f *Fleet) Issue(ctx context.Context, batch command.Batch, commands []command.Command, stop bool) (api.Ticket, error) {
	t, err := f.dispatcher.Issue(ctx, batch, commands, stop)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// CallOff ends a command that was not sent yet.
func (f *Fleet) CallOff(ctx context.Context, id string) bool { return f.dispatcher.Cancel(ctx, id) }
