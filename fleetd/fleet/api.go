package fleet

import (
	"context"
	"time"

	"troupe/fleetd/api"
	"troupe/fleetd/audit"
	"troupe/fleetd/auth"
	"troupe/fleetd/certificate"
	"troupe/fleetd/change"
	"troupe/fleetd/command"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/latch"
	"troupe/fleetd/stop"
	"troupe/fleetd/store"
	"troupe/fleetd/view"
	"troupe/schema"
)

// changes is what the changes of the database need of the fleet.
func (f *Fleet) changes() change.Deps {
	return change.Deps{Now: f.Now, Store: f.Store, Changed: f.changed, Catalogue: f.view.Catalogue, Caps: f.view.Caps, TakenBy: f.TakenBy}
}

// deps is what the API needs of the fleet.
func (f *Fleet) deps() api.Deps {
	changes := f.changes()
	identities := &change.Identities{Deps: changes}
	entries := &change.Library{Deps: changes}
	return api.Deps{
		Log: f.log, Now: f.Now,
		Instance: f, Robots: f.view, Targets: f.view, Stops: f, Adopter: &change.Adoptions{Deps: changes}, Issuers: f, DecommissionStatus: f, Teleop: f.teleop, Questions: f.questions, Records: f.records,
		History: history{f.Store}, Audit: history{f.Store}, Alerts: &change.Alerts{Deps: changes}, Commands: commands{f.dispatcher, &change.Commands{Deps: changes}, f.Store},
		Library: entries, Entries: entries, Drafts: entries, Imports: entries, Assets: entries,
		Desired: &change.Desired{Deps: changes}, Labels: &change.Labels{Deps: changes},
		Enrolment: identities, Identities: identities, Decommissions: &change.Decommissions{Deps: changes},
		Sessions: f.accounts, ActiveSessions: f.accounts, Provider: f.accounts, Users: f.accounts, AccessTokens: f.accounts, Logins: f.accounts,
		Base: f.cfg.base,
	}
}

// Now is fleetd's clock.
func (f *Fleet) Now() time.Time { return time.Now() }

// Robot is everything about one robot.
func (f *Fleet) Robot(id string) (view.Detail, bool) { return f.view.Robot(id) }

// Document is the newest document of that kind that a robot published.
func (f *Fleet) Document(robot string, kind schema.TopicKind) []byte {
	return f.view.Document(robot, kind)
}

// Orphans lists the retained documents of robots that the database does not know.
func (f *Fleet) Orphans() []view.StrayDocuments { return f.view.Orphans() }

// Issuer is what certificates are issued with, or why none are.
func (f *Fleet) Issuer() (certificate.Issuer, error) { return f.identity.Issuer(f.EnrolURL()) }

// Own lists the certificates that this instance needs to run.
func (f *Fleet) Own() ([]certificate.Own, error) { return f.identity.Own() }

// DecommissionWaitsFor says what the decommission of a robot waits for; empty if for nothing.
func (f *Fleet) DecommissionWaitsFor(robot string) string { return f.decommissions.Waiting(robot) }

// commands sends commands, and reads them from the database.
type commands struct {
	dispatcher *dispatch.Dispatcher
	changes    *change.Commands
	store      func() (*store.Store, error)
}

// Issue sets commands on their way.
func (c commands) Issue(ctx context.Context, batch command.Batch, commands []command.Command, stop bool) (api.BatchHandle, error) {
	t, err := c.dispatcher.Issue(ctx, batch, commands, stop)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Cancel ends a command that was not sent yet.
func (c commands) Cancel(ctx context.Context, p auth.Principal, id string, by audit.Attribution) (bool, error) {
	if !c.dispatcher.Cancel(ctx, id) {
		return false, nil
	}
	return true, c.changes.NoteCancelled(context.WithoutCancel(ctx), p, id, by)
}

func (c commands) Get(ctx context.Context, id string) (command.Command, error) {
	db, err := c.store()
	if err != nil {
		return command.Command{}, err
	}
	return db.Command(ctx, id)
}

func (c commands) List(ctx context.Context, q api.CommandQuery) ([]command.Command, error) {
	db, err := c.store()
	if err != nil {
		return nil, err
	}
	return db.Commands(ctx, store.CommandQuery{Batch: q.Batch, Robot: q.Robot, State: q.State, Limit: q.Limit, Sites: q.Sites})
}

func (c commands) Batch(ctx context.Context, id string) (b command.Batch, rows []command.Command, err error) {
	db, err := c.store()
	if err != nil {
		return b, nil, err
	}
	if b, err = db.Batch(ctx, id); err != nil {
		return b, nil, err
	}
	rows, err = db.Commands(ctx, store.CommandQuery{Batch: id, Limit: max(1, b.Total)})
	return b, rows, err
}

func (c commands) BatchesByID(ctx context.Context, ids []string) ([]command.Batch, error) {
	db, err := c.store()
	if err != nil {
		return nil, err
	}
	return db.BatchesByID(ctx, ids)
}

func (c commands) Batches(ctx context.Context, limit int, sites []string) ([]command.Batch, error) {
	db, err := c.store()
	if err != nil {
		return nil, err
	}
	return db.Batches(ctx, store.BatchQuery{Limit: limit, Sites: sites})
}

// history reads events and the audit from the database.
type history struct {
	store func() (*store.Store, error)
}

func (h history) Events(ctx context.Context, q api.EventQuery) (events []api.Event, err error) {
	db, err := h.store()
	if err != nil {
		return nil, err
	}
	levels := make([]string, len(q.Level))
	for i, l := range q.Level {
		levels[i] = string(l)
	}
	rows, err := db.Events(ctx, store.EventQuery{Robot: q.Robot, Type: q.Type, Level: levels, Since: q.Since, Until: q.Until, Limit: q.Limit, Sites: q.Sites})
	for _, row := range rows {
		if e, problems := schema.Decode[schema.Event](row.Body); len(problems) == 0 {
			e.Level = schema.EventLevel(row.Level)
			events = append(events, api.Event{Robot: row.Robot, Received: schema.TimeOf(row.ReceivedAt), Event: e})
		}
	}
	return events, err
}

func (h history) Audit(ctx context.Context, q api.AuditQuery) ([]audit.Entry, error) {
	db, err := h.store()
	if err != nil {
		return nil, err
	}
	return db.Audit(ctx, store.AuditQuery{
		Who: q.Who, What: q.What, Without: q.Without, Target: q.Target, Via: q.Via, Outcome: q.Outcome, ID: q.ID, Since: q.Since, Until: q.Until, Before: q.Before, Limit: q.Limit,
	})
}

func (h history) AuditChain(ctx context.Context, after int64, limit int) ([]audit.Entry, error) {
	db, err := h.store()
	if err != nil {
		return nil, err
	}
	return db.AuditChain(ctx, after, limit)
}

func (h history) VerifyAudit(ctx context.Context, noted audit.Head) (audit.Verdict, error) {
	db, err := h.store()
	if err != nil {
		return audit.Verdict{}, err
	}
	return db.VerifyAudit(ctx, noted)
}

// StopAndLatch stops robots and latches the stop.
func (f *Fleet) StopAndLatch(ctx context.Context, o stop.Request, batch command.Batch, commands []command.Command) (api.BatchHandle, error) {
	ctx = context.WithoutCancel(ctx) // a stop goes on if its caller disconnects
	var t *dispatch.Handle
	spoolErr := f.stops.StopAndLatch(ctx, o, func() { t = f.dispatcher.SendStop(ctx, batch, commands) })
	t.AwaitPersisted()
	return t, spoolErr
}

// Latched lists the latched stops.
func (f *Fleet) Latched() []latch.LatchedStop { return f.stops.Latched() }

// LatchedComplete reports whether Latched lists all of them.
func (f *Fleet) LatchedComplete() bool { return f.stops.Complete() }

// Release releases stops by their ids.
func (f *Fleet) Release(ctx context.Context, p auth.Principal, ids []string, by, why string) ([]schema.Problem, error) {
	return f.stops.Release(ctx, p, ids, by, why)
}

// TakenBy says to whom a name belongs that no robot may have; empty if it is free, as far as is
// known without the database.
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
