// Package notifier sends notifications about alerts and events. The leader steps the routes and tries what waits in the
// database, so a notification arrives at least once, whatever ends in between; one that arrives twice has the same id.
package notifier

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"github.com/google/uuid"

	"troupe/fleetd/change"
	"troupe/fleetd/notify"
	"troupe/fleetd/store"
	"troupe/fleetd/trace"
	"troupe/schema"
)

const (
	// pollInterval is how often the present alerts are looked at: one that is over sooner may not be noticed.
	pollInterval = time.Second
	// eventsInterval is how often new events are read, if a route wants some.
	eventsInterval = 3 * time.Second
	// eventsAtOnce bounds the events of one query, eventsPages the queries of one look; the next look goes on there.
	eventsAtOnce = 2000
	eventsPages  = 5
	// saveWithin bounds the transaction after a try.
	saveWithin = 10 * time.Second
)

// Notifier steps routes and delivers notifications while this instance leads.
type Notifier struct {
	deps Deps
	wake chan struct{}

	mu     sync.Mutex
	busy   map[string]bool // receivers with a try that is under way or not saved
	counts Counts

	// Owned by Run.
	routes     map[string]*route
	readEvents time.Time
	page       *store.Event // the last event of a look that did not reach the end
}

// Counts are the tries of this instance.
type Counts struct{ Sent, Failed, Dead int64 }

// route is a route as it is in the database.
type route struct {
	store.Route
	compiled notify.Compiled
}

// Deps is what a Notifier needs.
type Deps struct {
	Log    *slog.Logger
	Now    func() time.Time
	Leads  func() bool
	Failed func(what string, err error) // records a failure of the database
	Ready  func() bool                  // the robots are known
	// Alerts lists the present alerts, without events.
	Alerts func(ctx context.Context) (notify.Input, error)
	SiteOf func(robot string) string
	Save   *change.Notifications
	// Send delivers a notification once: Sender.Send.
	Send   func(ctx context.Context, r change.Receiver, n notify.Notification, try int) notify.Result
	Tracer *trace.Tracer // nil = nothing is traced
}

// New makes a notifier.
func New(d Deps) *Notifier {
	return &Notifier{deps: d, wake: make(chan struct{}, 1), busy: map[string]bool{}}
}

// Counts returns what became of the tries of this instance.
func (n *Notifier) Counts() Counts {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.counts
}

// Wake makes Run look now.
func (n *Notifier) Wake() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// Run steps and delivers until ctx ends, and waits for the tries under way.
func (n *Notifier) Run(ctx context.Context, db *store.Store) {
	var tries sync.WaitGroup
	defer tries.Wait()
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		if n.deps.Leads() && n.deps.Ready() {
			n.step(ctx, db)
			n.deliver(ctx, db, &tries)
		} else {
			n.routes = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		case <-poll.C:
		}
	}
}

// step takes one step of each route.
func (n *Notifier) step(ctx context.Context, db *store.Store) {
	if err := n.read(ctx, db); err != nil {
		n.deps.Failed("routes of notifications not read", err)
		return
	}
	if len(n.routes) == 0 {
		return
	}
	in, err := n.deps.Alerts(ctx)
	if err == nil {
		in.Events, in.EventsEnd, err = n.events(ctx, db)
	}
	if err != nil {
		n.deps.Failed("alerts for notifications not read", err)
		return
	}
	now := n.deps.Now()
	for id, r := range n.routes {
		was := r.State
		if was.Series == "" {
			was.Series, was.EventsTo = uuid.NewString(), schema.TimeOf(now)
		}
		next, send := notify.Step(&r.compiled, was, in, now)
		for i := range send {
			send[i].Route = id
		}
		if len(send) == 0 && reflect.DeepEqual(next, r.State) {
			continue
		}
		err := db.Tx(ctx, func(tx *store.Tx) error { return tx.StepRoute(ctx, r.Route, next, send, now) })
		switch {
		case errors.Is(err, store.ErrConflict): // a person changed it, or another instance led meanwhile
			delete(n.routes, id)
		case err != nil:
			delete(n.routes, id) // it may have been saved
			n.deps.Failed("notifications not saved", fmt.Errorf("route %s: %w", id, err))
		default:
			r.State, r.Step = next, r.Step+1
		}
	}
}

// read reads the routes again if one was changed.
func (n *Notifier) read(ctx context.Context, db *store.Store) error {
	versions, err := db.RouteVersions(ctx)
	if err != nil {
		return err
	}
	same := n.routes != nil && len(versions) == len(n.routes)
	for id, v := range versions {
		r := n.routes[id]
		same = same && r != nil && r.Version == v[0] && r.Step == v[1]
	}
	if same {
		return nil
	}
	all, err := db.Routes(ctx)
	if err != nil {
		return err
	}
	n.routes, n.page = make(map[string]*route, len(all)), nil // a step that was not saved lacks the pages before
	for _, one := range all {
		compiled, found := notify.Compile(one.Route, func(string) bool { return true })
		if len(found) > 0 { // as after the data of time zones lost a name
			n.deps.Log.Error("route not read: it sends nothing until it is written again", "route", one.ID, "problem", found[0])
			disabled := false
			compiled.Enabled = &disabled
		}
		n.routes[one.ID] = &route{one, compiled}
	}
	return nil
}

// events reads the events since the last look that some route wants, and reports whether these are all.
func (n *Notifier) events(ctx context.Context, db *store.Store) (out []notify.Event, end bool, err error) {
	now := n.deps.Now()
	var types []string
	since := now
	for _, r := range n.routes {
		if !r.WantsEvents() || r.State.EventsTo == 0 {
			continue
		}
		types = append(types, r.Events...)
		if at := r.State.EventsSince(); at.Before(since) {
			since = at
		}
	}
	if len(types) == 0 || n.page == nil && now.Sub(n.readEvents).Abs() < eventsInterval {
		return nil, false, nil
	}
	n.readEvents = now
	after := n.page
	n.page = nil // if a page cannot be read, the next look begins again
	for range eventsPages {
		rows, err := db.EventsOf(ctx, types, since, after, eventsAtOnce)
		if err != nil {
			return nil, false, err
		}
		for _, e := range rows {
			one := notify.Event{ID: fmt.Sprintf("%s %s %d", e.Robot, e.Boot, e.Seq), Robot: e.Robot, Site: n.deps.SiteOf(e.Robot), Type: e.Type,
				Level: schema.EventLevel(e.Level), At: schema.TimeOf(e.ReceivedAt)}
			if body, problems := schema.Decode[schema.Event](e.Body); len(problems) == 0 {
				one.Cause = body.Cause
			}
			out = append(out, one)
		}
		if len(rows) < eventsAtOnce {
			return out, true, nil
		}
		after = &rows[len(rows)-1]
	}
	n.page = after
	return out, false, nil
}

// deliver begins to try what is due.
func (n *Notifier) deliver(ctx context.Context, db *store.Store, tries *sync.WaitGroup) {
	due, err := db.DueNotifications(ctx, n.deps.Now())
	if err != nil {
		n.deps.Failed("notifications not read", err)
		return
	}
	for _, one := range due {
		if n.begin(one.Receiver) {
			tries.Go(func() {
				defer n.end(one.Receiver)
				if n.try(ctx, db, one) {
					n.Wake() // the next one of this receiver
				}
			})
		}
	}
}

// begin reports whether a receiver has no try under way, and begins one.
func (n *Notifier) begin(receiver string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.busy[receiver] {
		return false
	}
	n.busy[receiver] = true
	return true
}

func (n *Notifier) end(receiver string) {
	n.mu.Lock()
	delete(n.busy, receiver)
	n.mu.Unlock()
}

// try delivers a notification once, and saves what became of it. It reports whether that is saved. The receiver stays busy
// until then: otherwise, while nothing can be saved, as on a full disk, it would get the same again and again.
func (n *Notifier) try(ctx context.Context, db *store.Store, one store.Notification) (saved bool) {
	ctx, span := n.deps.Tracer.Start(ctx, trace.Client, "deliver notification", trace.String("troupe.notification", one.ID),
		trace.String("troupe.receiver", one.Receiver), trace.String("troupe.route", one.Route), trace.Int("troupe.try", one.Tries+1))
	defer span.End()
	var receiver change.Receiver
	read := func() (err error) {
		if receiver, err = db.Receiver(ctx, one.Receiver); errors.Is(err, store.ErrNotFound) {
			receiver, err = change.Receiver{}, nil
		}
		return err
	}
	failures, ok := n.persist(ctx, "receiver not read", one, read)
	if !ok || failures > 0 || !n.deps.Leads() {
		return false // it may have been tried meanwhile, or the new leader tries it
	}
	result := notify.Result{Final: true, Detail: "the receiver was deleted"}
	if receiver.ID != "" {
		result = n.deps.Send(ctx, receiver, one.Notification, one.Tries+1)
		if !result.OK && ctx.Err() != nil {
			return false // the try was cut off because fleetd ends
		}
	}
	if !result.OK {
		span.Fail()
	}
	var state notify.DeliveryState
	var next time.Time
	conflict := false
	_, ok = n.persist(ctx, "delivery of a notification not saved", one, func() (err error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWithin) // what arrived is saved, also while fleetd ends
		defer cancel()
		if state, next, err = n.deps.Save.EndTry(ctx, one, result); errors.Is(err, store.ErrConflict) {
			conflict, err = true, nil // another instance tried it, too
		}
		return err
	})
	if ok && !conflict {
		span.Set(trace.String("troupe.outcome", state))
		n.recordTry(ctx, one, state, next, result)
	}
	return ok
}

// persist does something with the database until it works, with a pause after each failure. It reports how often it failed,
// and whether it worked before ctx ended.
func (n *Notifier) persist(ctx context.Context, what string, of store.Notification, do func() error) (failures int, ok bool) {
	for {
		err := do()
		if err == nil {
			return failures, true
		}
		failures++
		n.deps.Failed(what, fmt.Errorf("notification %s: %w", of.ID, err))
		select {
		case <-ctx.Done():
			return failures, false
		case <-time.After(notify.Pause(failures)):
		}
	}
}

func (n *Notifier) recordTry(ctx context.Context, one store.Notification, state notify.DeliveryState, next time.Time, r notify.Result) {
	attrs := []any{"notification", one.ID, "receiver", one.Receiver, "route", one.Route, "kind", one.Kind, "try", one.Tries + 1}
	n.mu.Lock()
	switch state {
	case notify.Sent:
		n.counts.Sent++
	case notify.Dead:
		n.counts.Failed++
		n.counts.Dead++
	default:
		n.counts.Failed++
	}
	n.mu.Unlock()
	switch state {
	case notify.Sent:
		n.deps.Log.InfoContext(ctx, "notification sent", attrs...)
	case notify.Dead:
		n.deps.Log.ErrorContext(ctx, "notification given up: fleetd notification resend sends it again", append(attrs, "why", r.Detail)...)
	default:
		n.deps.Log.WarnContext(ctx, "notification not delivered yet", append(attrs, "why", r.Detail, "again_at", next)...)
	}
}
