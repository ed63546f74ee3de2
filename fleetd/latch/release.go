package latch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

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
	let := s.deps.Releases.begin(ids, began)
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
	s.deps.Dispatcher.EndReleased(let.means, func() { s.deps.Releases.end(let) })
	s.deps.Log.Warn("stops released", "stops", strings.Join(ids, " "), "by", by, "why", why)
	s.mu.Lock()
	s.shown = map[string]map[string]time.Time{}
	s.mu.Unlock()
	s.readAgain(ctx, db)
	s.deps.Wake()
	return nil, nil
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

// stand ends what released nothing: what waited for it is sent.
func (s *Stops) stand(ctx context.Context, l *release) {
	for _, c := range s.deps.Releases.end(l) {
		s.deps.Dispatcher.Send(ctx, c)
	}
}
