package fleet

import (
	"context"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/command"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/fleetd/stop"
	"troupe/fleetd/view"
	"troupe/schema"
)

// pace is how long a stream gathers changes.
const pace = 250 * time.Millisecond

var _ api.Fleet = (*Fleet)(nil)

// Now is fleetd's clock.
func (f *Fleet) Now() time.Time { return time.Now() }

// Robots lists all robots.
func (f *Fleet) Robots() []api.Robot { return f.view.Robots() }

// Robot is everything about one robot.
func (f *Fleet) Robot(id string) (api.Detail, bool) { return f.view.Robot(id) }

// Document is the newest document of that kind that a robot published.
func (f *Fleet) Document(robot string, kind schema.TopicKind) []byte {
	return f.view.Document(robot, kind)
}

// Orphans are the retained documents of robots that the database does not know.
func (f *Fleet) Orphans() []api.Orphan { return f.view.Orphans() }

// Issuer is what certificates are issued with, or why none are.
func (f *Fleet) Issuer() (api.Issuer, error) { return f.identity.Issuer(f.EnrolURL()) }

// Leaving says what the decommission of a robot waits for; empty if for nothing.
func (f *Fleet) Leaving(robot string) string { return f.revocations.Waiting(robot) }

// Catalogue is the sounds and faces of the fleet's robots.
func (f *Fleet) Catalogue() library.Catalogue { return f.view.Catalogue() }

// Watch reports changes of robots that a page shows, until it is closed.
func (f *Fleet) Watch() api.Watch { return watch{f.view.Subscribe(view.Everything, pace)} }

// watch is a feed for the API.
type watch struct{ *view.Feed }

// Next returns the newest line of each robot that changed.
func (w watch) Next(ctx context.Context, atMost time.Duration) ([]api.Robot, error) {
	changed, err := w.Feed.Next(ctx, atMost)
	lines := make([]api.Robot, 0, len(changed))
	for _, d := range changed {
		lines = append(lines, d.Line)
	}
	return lines, err
}

// Targets are the robots that a selector matches, and its unknown names.
func (f *Fleet) Targets(s selector.Selector, stop bool) (targets []command.Target, unknown []string) {
	return f.view.Targets(s, stop)
}

// Labelled reports whether the robots' labels were read from the database.
func (f *Fleet) Labelled() bool { return f.labelled.Load() }

// Issue starts commands.
func (f *Fleet) Issue(ctx context.Context, batch command.Batch, commands []command.Command, stop bool) (api.Ticket, error) {
	t, err := f.dispatcher.Issue(ctx, batch, commands, stop)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// CallOff cancels a command that was not sent yet.
func (f *Fleet) CallOff(ctx context.Context, id string) bool { return f.dispatcher.Cancel(ctx, id) }

// Hold stops robots and latches the stop.
func (f *Fleet) Hold(ctx context.Context, o stop.Order, batch command.Batch, commands []command.Command) (api.Ticket, error) {
	ctx = context.WithoutCancel(ctx) // a stop goes on if its caller disconnects
	var t *dispatch.Handle
	kept := f.stops.Hold(ctx, o, func() { t = f.dispatcher.Stop(ctx, batch, commands) })
	t.AwaitPersisted()
	return t, kept
}

// Latched lists the latched stops.
func (f *Fleet) Latched() []api.LatchedStop { return f.stops.Latched() }

// HeldComplete reports whether Latched lists all of them.
func (f *Fleet) HeldComplete() bool { return f.stops.Complete() }

// Release releases stops by their ids.
func (f *Fleet) Release(ctx context.Context, ids []string, by, why string) ([]schema.Problem, error) {
	return f.stops.Release(ctx, ids, by, why)
}

// TakenBy says who uses a name, so that no robot can; empty if nobody is known to. It does
// not look into the database.
func (f *Fleet) TakenBy(name string) string {
	switch {
	case name == f.cfg.Name:
		return "this instance"
	case schema.ReservedName(name):
		return "fleetd instances or people's tools"
	case f.view.IsClient(name):
		return "a client of the broker"
	}
	return ""
}
