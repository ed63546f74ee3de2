package fleet

import (
	"context"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/latch"
	"troupe/fleetd/stop"
	"troupe/schema"
)

// newStops makes what holds stops. It opens the file on this machine where they wait.
func (f *Fleet) newStops() (*latch.Stops, error) {
	return latch.New(latch.Deps{
		Log: f.log, Namespace: f.ns, Name: f.cfg.Name, Spool: f.cfg.Spool, Now: time.Now, Failed: f.databaseFailed,
		Leads: f.leadership.Leads, Followed: f.leadership.Followed,
		Store:      func() (latch.Store, error) { return f.Store() },
		Session:    func() string { return f.link.Session() },
		Publish:    func(ctx context.Context, m link.Message) error { return f.link.Publish(ctx, m) },
		Dispatcher: f.dispatcher, Robots: f.view, Wake: f.publisher.Wake,
		Live: func() { f.retained.Soon() },
	})
}

// Hold stops robots and holds the stop.
func (f *Fleet) Hold(ctx context.Context, o stop.Order, batch command.Batch, commands []command.Command) (api.Ticket, error) {
	ctx = context.WithoutCancel(ctx) // who asked for a stop may hang up; it goes on
	var t *dispatch.Handle
	kept := f.stops.Hold(ctx, o, func() { t = f.dispatcher.Stop(ctx, batch, commands) })
	t.AwaitPersisted()
	return t, kept
}

// Latched lists the latched stops, and HeldComplete reports whether they are all.
func (f *Fleet) Latched() []api.LatchedStop { return f.stops.Latched() }
func (f *Fleet) HeldComplete() bool         { return f.stops.Complete() }

// Release releases stops by their ids.
func (f *Fleet) Release(ctx context.Context, ids []string, by, why string) ([]schema.Problem, error) {
	return f.stops.Release(ctx, ids, by, why)
}
