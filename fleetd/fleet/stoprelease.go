package fleet

import (
	"context"
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
func (s *stops) Release(ctx context.Context, ids []string, by, why string) ([]schema.Problem, error) {
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
