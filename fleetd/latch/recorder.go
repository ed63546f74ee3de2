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

// batch is what the recorder is to persist.
type batch struct {
	write   []spool.Entry // by this instance
	watch   []spool.Entry // by the one that leads
	learned []stop.Order  // shown by robots; unless they were released
	renew   bool          // what is held, as it would be published today
	read    bool          // what is held, in any case
}

// persisted is what came of a batch.
type persisted struct {
	done     []spool.Entry
	means    []bool // of those written: whether any robot is meant
	held     []stop.Latch
	read     bool // held is what the database has
	renewed  bool
	released func(stop.Order) bool // of those learned; nil: not known
}

// persist has the recorder persist what waits, and read what is held.
func (s *Stops) persist(ctx context.Context) {
	b := batch{learned: s.dueLearned(), renew: !s.renewed, read: !s.loaded}
	leads := s.deps.Leads()
	for _, e := range s.waiting {
		if leads || !e.Order.Observed() {
			b.write = append(b.write, e)
		} else {
			b.watch = append(b.watch, e)
		}
	}
	if len(b.write)+len(b.watch)+len(b.learned) == 0 && !b.renew && !b.read {
		return
	}
	db, err := s.deps.Store()
	if err != nil {
		return
	}
	s.start(func() func() {
		var p persisted
		s.learn(ctx, db, b, &p)
		s.record(ctx, db, b, &p)
		return func() { s.recorded(b, p) }
	})
}

// record persists a batch. What it did not come to is tried again.
func (s *Stops) record(ctx context.Context, db Store, b batch, p *persisted) {
	ctx, cancel := context.WithTimeout(ctx, stopsWithin)
	defer cancel()
	means, err := s.write(ctx, db, b.write)
	if err != nil {
		s.deps.Failed("stops not persisted", err)
		return
	}
	if b.renew {
		if err := s.renew(ctx, db); err != nil {
			s.deps.Failed("stops not signed", err)
			return
		}
		p.renewed = true
	}
	watched, err := s.watched(ctx, db, b.watch)
	if err != nil {
		s.deps.Failed("stops not read", err)
	}
	done := append(slices.Clone(b.write), watched...)
	if len(done) > 0 || b.read {
		if p.held, err = db.LatchedStops(ctx); err != nil { // first: at no moment is a stop in neither list
			s.deps.Failed("stops not read", err)
			return
		}
		p.read = true
	}
	p.done, p.means = done, means
}

// recorded takes in what came of a batch.
func (s *Stops) recorded(b batch, p persisted) {
	s.renewed = s.renewed || p.renewed
	if p.read {
		s.hold(p.held)
		s.Unchanged()
	}
	if len(p.done) > 0 {
		s.settled(p.done)
	}
	for i := range p.means {
		e := b.write[i]
		a := schema.Ack{Status: schema.StatusSucceeded, Result: schema.ResultOK, Detail: "held; fleetd stop release " + e.Order.ID + " --why REASON releases it"}
		if !p.means[i] {
			a = schema.Ack{Status: schema.StatusRejected, Reason: schema.ReasonUnknownRobot, Retry: schema.RetryAfterFix,
				Detail: "fleetd holds nothing: no robot of the fleet has this name or these labels; name others, or nobody to stop all"}
		}
		s.answer(e.Order, a)
	}
	if p.released == nil {
		return
	}
	for _, o := range b.learned {
		_, shown := s.shown[o.Robots[0]][o.ID] // not, if it was released meanwhile
		if shown && !s.on[o.Robots[0]][o.ID] && !p.released(o) && !s.awaitsRecord(o) {
			s.writeDown(o)
		}
	}
}

// learnPatience is how long one question about stops that robots show may take.
const learnPatience = 2500 * time.Millisecond

// dueLearned takes out the stops that robots have shown for long enough.
func (s *Stops) dueLearned() (due []stop.Order) {
	now := s.deps.Now()
	s.learned = slices.DeleteFunc(s.learned, func(o stop.Order) bool {
		is := now.Sub(o.At) >= learnAfter
		if is {
			due = append(due, o)
		}
		return is
	})
	return due
}

// learn finds out which stops that robots show were released.
func (s *Stops) learn(ctx context.Context, db Store, b batch, p *persisted) {
	if len(b.learned) == 0 {
		return
	}
	ctx = store.WithPatience(ctx, learnPatience) // what waits to be persisted waits for it
	ctx, cancel := context.WithTimeout(ctx, stopsWithin)
	defer cancel()
	var rows stop.Rows
	if err := db.Tx(ctx, func(tx *store.Tx) (err error) {
		rows, err = tx.StopsFor(ctx, b.learned...)
		return err
	}); err != nil {
		s.deps.Failed("stops that robots hold not compared", err)
		return
	}
	p.released = func(o stop.Order) bool { return stop.Released(rows, o) }
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

// watched are those that another instance has persisted.
func (s *Stops) watched(ctx context.Context, db Store, watch []spool.Entry) (out []spool.Entry, err error) {
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
			if err == nil && stop.AlreadyPersisted(rows, e.Order) {
				out = append(out, e)
			}
		}
		return err
	})
	return out, err
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

// Read takes in what is held after another instance changed it.
func (s *Stops) Read(ctx context.Context, db Store) error {
	held, err := db.LatchedStops(ctx)
	if err != nil {
		return err
	}
	s.Unchanged()
	s.mail.post(func() { s.hold(held) })
	return nil
}

// readAgainWithin bounds how long a release that is persisted waits for the list.
const readAgainWithin = 2500 * time.Millisecond

// readAgain has the recorder read what is held after a change that is persisted, also
// for a client that left meanwhile, and then calls do. If it cannot, the list is
// incomplete until the next batch has read it.
func (s *Stops) readAgain(ctx context.Context, db Store, do func()) {
	s.start(func() func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readAgainWithin)
		defer cancel()
		held, err := db.LatchedStops(ctx)
		if err != nil {
			s.deps.Failed("stops not read", err)
		}
		return func() {
			if err != nil {
				s.loaded, s.due, s.dirty = false, true, true
			} else {
				s.hold(held)
				s.Unchanged()
			}
			do()
		}
	})
}
