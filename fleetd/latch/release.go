package latch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/spool"
	"troupe/fleetd/stop"
	"troupe/fleetd/store"
	"troupe/schema"
)

// releaseWait is how long a release waits for the one before it, or for stops that are
// being persisted: a database that hangs would keep it for ever.
const releaseWait = time.Second

// Release releases stops by their ids. What waits is persisted first, and so is
// where robots show that they hold what is released: a robot lets go only of what it
// was told, and nothing that was released comes back.
func (s *Stops) Release(ctx context.Context, ids []string, by, why string) ([]schema.Problem, error) {
	db, err := s.deps.Store()
	if err != nil {
		return nil, err
	}
	over, err := s.aloneWithin(ctx, releaseWait)
	if err != nil {
		return nil, err
	}
	defer over()
	began, leads := s.deps.Now(), s.deps.Leads()
	s.keepHeard(ctx) // what was heard before is before
	let := s.letting(ids, began)
	settled := false
	defer func() {
		if !settled {
			s.stand(context.WithoutCancel(ctx), let)
		}
	}()
	s.mu.Lock()
	waiting := slices.Clone(s.waiting)
	s.mu.Unlock()
	all := append(slices.Clone(ids), idsOf(waiting)...)
	slices.Sort(all)
	all = slices.Compact(all)
	var problems []schema.Problem
	err = db.Tx(ctx, func(tx *store.Tx) error {
		problems = nil
		now := s.deps.Now()
		rows, err := tx.Stops(ctx, all...)
		if err != nil {
			return err
		}
		var orders []stop.Order
		for _, e := range waiting {
			// What the leader heard nobody else writes down: robots that were stopped
			// again under the same id let go only of what they were told.
			if leads || !e.Order.Overheard() || !stop.Recorded(rows, e.Order) {
				orders = append(orders, e.Order)
			}
		}
		ours, elsewhere := s.deps.Robots.Showing(ids, now)
		for _, o := range ours {
			if toBeTold(rows.Latches, o.ID, now) {
				orders = append(orders, o)
			}
		}
		c, err := stop.Hold(rows, orders, now)
		if err != nil {
			return err
		}
		if !c.Empty() {
			if err := tx.ApplyStops(ctx, c, now); err != nil {
				return err
			}
			if rows, err = tx.Stops(ctx, all...); err != nil {
				return err
			}
		}
		if c, problems, err = stop.Release(rows, ids, elsewhere, by, why, now); err != nil || len(problems) > 0 {
			return err
		}
		return tx.ApplyStops(ctx, c, now)
	})
	if err != nil || len(problems) > 0 {
		return problems, err
	}
	settled = true
	s.letGo(ctx, slices.DeleteFunc(waiting, func(e spool.Entry) bool { return !slices.Contains(ids, e.Order.ID) }))
	s.deps.Dispatcher.EndReleased(let.means, func() { s.released(let) })
	s.deps.Log.Warn("stops released", "stops", strings.Join(ids, " "), "by", by, "why", why)
	s.mu.Lock()
	s.shown = map[string]map[string]time.Time{}
	s.mu.Unlock()
	s.readAgain(ctx, db)
	s.deps.Wake()
	return nil, nil
}

// release is a release of stops under way. Robots hear of it by a document, and a
// command that came after that document would hold them again. So from before the
// release is persisted until the commands that hold its stops have been called off,
// none of those is sent: they wait, and are sent after all if nothing was released.
type release struct {
	ids []string
	at  time.Time // what was asked for since is another stop, even under the same id

	putOff []command.Command // guarded by stops.mu
}

// means reports whether a command would hold what is released.
func (l *release) means(c command.Command) bool {
	if c.CreatedAt.After(l.at) {
		return false
	}
	id := command.Holds(c)
	return id != "" && slices.Contains(l.ids, id)
}

// toBeTold reports whether robots that show a stop have to be told of it before it is
// released. They need not if it is held on all: the document of all releases it
// wherever it holds it. And what was released a moment ago they show for a moment.
func toBeTold(latches []stop.Latch, id string, now time.Time) bool {
	some, let := false, false
	for _, l := range latches {
		switch {
		case l.ID != id:
		case l.FromRobot() && l.Robot == "":
			return false
		case l.FromRobot():
			some = true
		case now.Sub(l.ReleasedAt) < shownFor:
			let = true
		}
	}
	return some || !let
}

// release begins to release stops.
func (s *Stops) letting(ids []string, now time.Time) *release {
	l := &release{ids: ids, at: now}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lettings = append(s.lettings, l)
	return l
}

// PutsOff reports whether a command waits for the outcome of a release.
func (s *Stops) PutsOff(c command.Command) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lettings {
		if l.means(c) {
			l.putOff = append(l.putOff, c)
			return true
		}
	}
	return false
}

// alone waits for the turn of a release, or of the removal of a live stop.
func (s *Stops) alone(ctx context.Context) (over func(), err error) {
	select {
	case s.turn <- struct{}{}:
		return s.over, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// aloneWithin is alone for so long at most.
func (s *Stops) aloneWithin(ctx context.Context, wait time.Duration) (over func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, fmt.Errorf("wait for other changes of stops: %w", store.ErrBusy))
	defer cancel()
	return s.alone(ctx)
}

// aloneNow does not wait: what is being heard meanwhile has to be kept.
func (s *Stops) aloneNow() bool {
	select {
	case s.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

// over ends a turn.
func (s *Stops) over() {
	<-s.turn
	signal(s.wake)
}

// awaits tells when an empty message has come from a client's button; none is
// awaited under no name.
func (s *Stops) awaits(client string) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.awaiting: // of one that was awaited before
	default:
	}
	s.awaited = client
	return s.awaiting
}

// released ends a release: what waited for it is not sent.
func (s *Stops) released(l *release) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lettings = slices.DeleteFunc(s.lettings, func(other *release) bool { return other == l })
}

// stand ends what released nothing: what waited for it is sent.
func (s *Stops) stand(ctx context.Context, l *release) {
	s.released(l) // from here on nothing is added to it
	for _, c := range l.putOff {
		s.deps.Dispatcher.Send(ctx, c)
	}
}
