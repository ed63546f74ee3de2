package latch

import (
	"context"
	"slices"
	"time"

	"troupe/fleetd/spool"
	"troupe/fleetd/stop"
	"troupe/fleetd/store"
	"troupe/schema"
)

// persist persists what waits, and reads what is held. Whoever has the turn now
// has it done after him.
func (s *Stops) persist(ctx context.Context) {
	if !s.aloneNow() {
		return
	}
	defer func() { <-s.turn }()
	s.learn(ctx)
	leads := s.deps.Leads()
	var write, watch []spool.Entry
	s.mu.Lock()
	loaded := s.loaded
	for _, e := range s.waiting {
		if leads || !e.Order.Overheard() {
			write = append(write, e)
		} else {
			watch = append(watch, e)
		}
	}
	s.mu.Unlock()
	if len(write)+len(watch) == 0 && loaded && s.renewed {
		return
	}
	db, err := s.deps.Store()
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, stopsWithin)
	defer cancel()
	means, err := s.write(ctx, db, write)
	if err != nil {
		s.deps.Failed("stops not persisted", err)
		return
	}
	if !s.renewed {
		if err := s.renew(ctx, db); err != nil {
			s.deps.Failed("stops not signed", err)
			return
		}
		s.renewed = true
	}
	recorded, err := s.recorded(ctx, db, watch)
	if err != nil {
		s.deps.Failed("stops not read", err)
	}
	if done := append(write, recorded...); len(done) > 0 || !loaded {
		if err := s.Read(ctx, db); err != nil { // first: at no moment is a stop in neither list
			s.deps.Failed("stops not read", err)
			return
		}
		s.settled(done)
	}
	for i, e := range write {
		a := schema.Ack{Status: schema.StatusSucceeded, Result: schema.ResultOK, Detail: "held; fleetd stop release " + e.Order.ID + " --why REASON releases it"}
		if !means[i] {
			a = schema.Ack{Status: schema.StatusRejected, Reason: schema.ReasonUnknownRobot, Retry: schema.RetryAfterFix,
				Detail: "fleetd holds nothing: no robot of the fleet has this name or these labels; name others, or nobody to stop all"}
		}
		s.answer(ctx, e.Order, a)
	}
}

// learnPatience is how long one question about stops that robots show may take.
const learnPatience = 2500 * time.Millisecond

// learn has stops written down that robots show, and that were never released.
func (s *Stops) learn(ctx context.Context) {
	var learned []stop.Order
	now := s.deps.Now()
	s.mu.Lock()
	s.learned = slices.DeleteFunc(s.learned, func(o stop.Order) bool {
		due := now.Sub(o.At) >= learnAfter
		if due {
			learned = append(learned, o)
		}
		return due
	})
	s.mu.Unlock()
	db, err := s.deps.Store()
	if len(learned) == 0 || err != nil {
		return
	}
	ctx = store.WithPatience(ctx, learnPatience) // what waits to be persisted waits for it
	ctx, cancel := context.WithTimeout(ctx, stopsWithin)
	defer cancel()
	var rows stop.Rows
	if err := db.Tx(ctx, func(tx *store.Tx) (err error) {
		rows, err = tx.StopsFor(ctx, learned...)
		return err
	}); err != nil {
		s.deps.Failed("stops that robots hold not compared", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range learned {
		_, shown := s.shown[o.Robots[0]][o.ID] // not, if it was released meanwhile
		if shown && !s.on[o.Robots[0]][o.ID] && !stop.Released(rows, o) && !s.awaitsRecord(o) {
			s.writeDown(o)
		}
	}
}

// letGo forgets what was persisted by its release.
func (s *Stops) letGo(ctx context.Context, ended []spool.Entry) {
	s.settled(ended)
	for _, e := range ended {
		s.answer(ctx, e.Order, schema.Ack{Status: schema.StatusSucceeded, Result: schema.ResultOK, Detail: "held, and released since"})
	}
}

// idsOf are the ids of orders, each once.
func idsOf(entries []spool.Entry) []string {
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.Order.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// write persists what waits, and says of each whether it means a robot.
func (s *Stops) write(ctx context.Context, db Store, waiting []spool.Entry) (means []bool, err error) {
	if len(waiting) == 0 {
		return nil, nil
	}
	var orders []stop.Order
	for _, e := range waiting {
		orders = append(orders, e.Order)
	}
	err = db.Tx(ctx, func(tx *store.Tx) error {
		rows, err := tx.StopsFor(ctx, orders...)
		if err != nil {
			return err
		}
		means = nil
		for _, o := range orders {
			means = append(means, o.All || slices.ContainsFunc(rows.Robots, func(r stop.Robot) bool { return o.Means(r.ID, r.Labels) }))
		}
		now := s.deps.Now()
		c, err := stop.Hold(rows, orders, now)
		if err != nil || c.Empty() {
			return err
		}
		return tx.ApplyStops(ctx, c, now)
	})
	if err != nil {
		return nil, err
	}
	s.deps.Wake()
	return means, nil
}

// recorded are those that another instance has persisted.
func (s *Stops) recorded(ctx context.Context, db Store, watch []spool.Entry) (out []spool.Entry, err error) {
	if len(watch) == 0 {
		return nil, nil
	}
	var orders []stop.Order
	for _, e := range watch {
		orders = append(orders, e.Order)
	}
	err = db.Tx(ctx, func(tx *store.Tx) error {
		out = nil
		rows, err := tx.StopsFor(ctx, orders...)
		for _, e := range watch {
			if err == nil && stop.Recorded(rows, e.Order) {
				out = append(out, e)
			}
		}
		return err
	})
	return out, err
}

// settled forgets what is persisted.
func (s *Stops) settled(done []spool.Entry) {
	if err := s.spool.Done(done...); err != nil {
		s.deps.Log.Error("stops persisted not forgotten on this machine", "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	over := map[entryKey]bool{}
	for _, e := range done {
		over[spokenOf(e)] = true
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(e spool.Entry) bool { return over[spokenOf(e)] })
}

// entryKey tells entries apart: one that was asked for again since is another one.
type entryKey struct {
	n  int64
	id string
	at int64
}

func spokenOf(e spool.Entry) entryKey { return entryKey{e.N, e.Order.ID, e.Order.At.UnixMicro()} }

func (s *Stops) waits(e spool.Entry) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.waiting, func(w spool.Entry) bool { return w.N == e.N && w.Order.ID == e.Order.ID })
}

// renew tells again, signed, what is held and was told unsigned or by another key.
func (s *Stops) renew(ctx context.Context, db Store) error {
	told := 0
	err := db.Tx(ctx, func(tx *store.Tx) error {
		rows, err := tx.StopsFor(ctx)
		if err != nil {
			return err
		}
		documents, err := tx.ToldStops(ctx)
		if err != nil {
			return err
		}
		now := s.deps.Now()
		c, err := stop.Renew(rows, documents, now)
		if told = len(c.Documents); err != nil || told == 0 {
			return err
		}
		return tx.ApplyStops(ctx, c, now)
	})
	if err != nil || told == 0 {
		return err
	}
	s.deps.Log.Info("latched stops are told again, signed", "documents", told)
	s.deps.Wake()
	return nil
}

// Read learns what is held.
func (s *Stops) Read(ctx context.Context, db Store) error {
	held, err := db.LatchedStops(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latched, s.loaded, s.current, s.on = held, true, s.deps.Now(), map[string]map[string]bool{}
	for _, l := range held {
		if s.on[l.Robot] == nil {
			s.on[l.Robot] = map[string]bool{}
		}
		s.on[l.Robot][l.ID] = true
	}
	s.recount()
	return nil
}

// readAgain reads what is held after a change that is persisted, also for a client that
// left meanwhile. If it cannot, the list is incomplete until record has read it.
func (s *Stops) readAgain(ctx context.Context, db Store) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readAgainWithin)
	defer cancel()
	if err := s.Read(ctx, db); err != nil {
		s.mu.Lock()
		s.loaded = false
		s.mu.Unlock()
		s.deps.Failed("stops not read", err)
	}
}

// readAgainWithin bounds how long a release that is persisted waits for the list.
const readAgainWithin = 2500 * time.Millisecond
