package latch

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

// persistJob is what the worker is to persist.
type persistJob struct {
	own           []spool.Entry  // to be persisted by this instance
	leaders       []spool.Entry  // to be persisted by the leader
	reportedFirst []stop.Request // reported by robots, to be persisted unless they were released
	signAgain     bool           // publish the latched stops again if they would be signed differently today
	notHeld       []string       // robots whose stops are to be published again
	read          bool           // read the latched stops even if nothing was persisted
}

// persisted is the result of a persistJob.
type persisted struct {
	done        []spool.Entry
	answers     []schema.Ack // to each of own
	latched     reading
	read        bool // latched was read
	signedAgain bool
	released    func(stop.Request) bool // of reportedFirst; nil if it could not be read
}

// persist gives the worker what waits to be persisted.
func (s *Stops) persist(ctx context.Context) {
	j := persistJob{reportedFirst: s.dueReported(), signAgain: !s.signedAgain, notHeld: s.notHeld, read: !s.loaded}
	s.notHeld = nil
	leads := s.deps.Leads()
	for _, e := range s.waiting {
		if leads || !e.Request.Observed() {
			j.own = append(j.own, e)
		} else {
			j.leaders = append(j.leaders, e)
		}
	}
	if len(j.own)+len(j.leaders)+len(j.reportedFirst)+len(j.notHeld) == 0 && !j.signAgain && !j.read {
		return
	}
	db, err := s.deps.Store()
	if err != nil {
		return
	}
	s.start(func() func() {
		var p persisted
		s.readReleased(ctx, db, j, &p)
		s.runPersistJob(ctx, db, j, &p)
		return func() { s.applyPersisted(j, p) }
	})
}

// runPersistJob persists what a job has. After a failure the rest is tried again with the next job.
func (s *Stops) runPersistJob(ctx context.Context, db Store, j persistJob, p *persisted) {
	ctx, cancel := context.WithTimeout(ctx, persistWithin)
	defer cancel()
	answers, err := s.persistEntries(ctx, db, j.own)
	if err != nil {
		s.deps.Failed("stops not persisted", err)
		return
	}
	if j.signAgain {
		if err := s.signAgain(ctx, db); err != nil {
			s.deps.Failed("stops not signed", err)
			return
		}
		p.signedAgain = true
	}
	if err := s.publishAgain(ctx, db, j.notHeld); err != nil {
		s.deps.Failed("stops not published again", err)
		return
	}
	ofLeader, err := s.persistedByLeader(ctx, db, j.leaders)
	if err != nil {
		s.deps.Failed("stops not read", err)
	}
	done := append(slices.Clone(j.own), ofLeader...)
	if len(done) > 0 || j.read {
		if p.latched, err = s.readLatched(ctx, db); err != nil { // before they stop waiting, so that every stop is always listed
			s.deps.Failed("stops not read", err)
			return
		}
		p.read = true
	}
	p.done, p.answers = done, answers
}

// applyPersisted applies the result of a job.
func (s *Stops) applyPersisted(j persistJob, p persisted) {
	s.signedAgain = s.signedAgain || p.signedAgain
	if p.read {
		s.setLatched(p.latched)
		s.MarkCurrent()
	}
	if len(p.done) > 0 {
		s.removePersisted(p.done)
	}
	for i, a := range p.answers {
		s.answer(j.own[i].Request, a)
	}
	if p.released == nil {
		return
	}
	for _, o := range j.reportedFirst {
		robot := o.Robots[0]
		of, reported := s.reportedSince[robot][o.ID] // false if it was released meanwhile
		switch {
		case !reported:
		case p.released(o):
			of.released = true
			s.reportedSince[robot][o.ID] = of
		case !s.isPersisted(robot, o.ID, o.Level) && !s.isQueued(o):
			s.enqueueReported(o)
		}
	}
}

// releasedTimeout bounds readReleased: other stops wait for it.
const releasedTimeout = 2500 * time.Millisecond

// dueReported takes the stops out of reportedFirst that robots have reported for persistReportedAfter.
func (s *Stops) dueReported() (due []stop.Request) {
	now := s.deps.Now()
	s.reportedFirst = slices.DeleteFunc(s.reportedFirst, func(o stop.Request) bool {
		is := now.Sub(o.At) >= persistReportedAfter
		if is {
			due = append(due, o)
		}
		return is
	})
	return due
}

// readReleased reads which of the stops that robots report were released.
func (s *Stops) readReleased(ctx context.Context, db Store, j persistJob, p *persisted) {
	if len(j.reportedFirst) == 0 {
		return
	}
	ctx = store.WithQueryTimeout(ctx, releasedTimeout)
	ctx, cancel := context.WithTimeout(ctx, persistWithin)
	defer cancel()
	var rows stop.Rows
	if err := db.Tx(ctx, func(tx *store.Tx) (err error) {
		rows, err = tx.StopsFor(ctx, stop.Need{Requests: j.reportedFirst})
		return err
	}); err != nil {
		s.deps.Failed("robots' latched stops not compared with the database", err)
		return
	}
	p.released = stop.ReleasesOf(rows).Include
}

// persistEntries persists entries, and returns the answer to each.
func (s *Stops) persistEntries(ctx context.Context, db Store, waiting []spool.Entry) (answers []schema.Ack, err error) {
	if len(waiting) == 0 {
		return nil, nil
	}
	var requests []stop.Request
	for _, e := range waiting {
		requests = append(requests, e.Request)
	}
	err = db.Tx(ctx, func(tx *store.Tx) error {
		rows, err := tx.StopsFor(ctx, stop.Need{Requests: requests})
		if err != nil {
			return err
		}
		answers = nil
		for _, o := range requests {
			answers = append(answers, answerTo(rows, o))
		}
		now := s.deps.Now()
		c, err := stop.Persist(rows, requests, now)
		if err != nil || c.Empty() {
			return err
		}
		return tx.ApplyStops(ctx, c, now)
	})
	if err != nil {
		return nil, err
	}
	s.deps.WakeOutbox()
	return answers, nil
}

// answerTo is the answer to a request that is persisted beside these rows; only clients of live stops get one.
func answerTo(rows stop.Rows, o stop.Request) schema.Ack {
	switch {
	case o.Client == "":
		return schema.Ack{}
	case stop.IDReused(rows, o):
		return schema.Ack{Status: schema.StatusRejected, Reason: schema.ReasonIDReuse, Retry: schema.RetryAfterFix,
			Detail: "a stop with this id was released, and fleetd latches an id once: robots that received this one have stopped, others have " +
				"not; send it with an id that is new"}
	case !o.All && !slices.ContainsFunc(rows.Robots, func(r stop.Robot) bool { return o.Includes(r.ID, r.Labels) }):
		return schema.Ack{Status: schema.StatusRejected, Reason: schema.ReasonUnknownRobot, Retry: schema.RetryAfterFix,
			Detail: "nothing is latched: no robot of the fleet has this name or these labels; name other robots, or leave robots and labels out " +
				"to stop all"}
	}
	return schema.Ack{Status: schema.StatusSucceeded, Result: schema.ResultOK, Detail: "latched; fleetd stop release " + o.ID +
		" --why REASON releases it"}
}

// persistedByLeader are the entries that another instance has persisted.
func (s *Stops) persistedByLeader(ctx context.Context, db Store, entries []spool.Entry) (out []spool.Entry, err error) {
	if len(entries) == 0 {
		return nil, nil
	}
	var requests []stop.Request
	for _, e := range entries {
		requests = append(requests, e.Request)
	}
	err = db.Tx(ctx, func(tx *store.Tx) error {
		out = nil
		rows, err := tx.StopsFor(ctx, stop.Need{Requests: requests})
		for _, e := range entries {
			if err == nil && stop.AlreadyPersisted(rows, e.Request) {
				out = append(out, e)
			}
		}
		return err
	})
	return out, err
}

// signAgain publishes latched stops again that were published unsigned or signed by another key.
func (s *Stops) signAgain(ctx context.Context, db Store) error {
	published := 0
	err := db.Tx(ctx, func(tx *store.Tx) error {
		rows, err := tx.StopsFor(ctx, stop.Need{All: true})
		if err != nil {
			return err
		}
		documents, err := tx.StopDocuments(ctx)
		if err != nil {
			return err
		}
		now := s.deps.Now()
		c, err := stop.SignAgain(rows, documents, now)
		if published = len(c.Documents); err != nil || published == 0 {
			return err
		}
		return tx.ApplyStops(ctx, c, now)
	})
	if err != nil || published == 0 {
		return err
	}
	s.deps.Log.Info("latched stops signed and published again", "documents", published)
	s.deps.WakeOutbox()
	return nil
}

// publishAgain publishes the latched stops of robots again that do not report them.
func (s *Stops) publishAgain(ctx context.Context, db Store, robots []string) error {
	if len(robots) == 0 {
		return nil
	}
	err := db.Tx(ctx, func(tx *store.Tx) error {
		rows, err := tx.StopsFor(ctx, stop.Need{All: true})
		if err != nil {
			return err
		}
		now := s.deps.Now()
		c, err := stop.PublishAgain(rows, append(robots, ""), now)
		if err != nil || len(c.Documents) == 0 {
			return err
		}
		return tx.ApplyStops(ctx, c, now)
	})
	if err != nil {
		return err
	}
	s.deps.Log.Warn("stops published again: robots do not report them, as after the restore of a database", "robots",
		strings.Join(robots, " "))
	s.deps.WakeOutbox()
	return nil
}

// Read reads the latched stops after another instance has changed them.
func (s *Stops) Read(ctx context.Context, db Store) error {
	latched, err := s.readLatched(ctx, db)
	if err != nil {
		return err
	}
	s.MarkCurrent()
	s.mail.post(func() { s.setLatched(latched) })
	return nil
}

// reading is a list of the latched stops as the database had it. The worker and Read both read, so
// the owner may receive them in another order than that in which they began; a later one is newer.
type reading struct {
	n     int64
	stops []stop.Latch
}

func (s *Stops) readLatched(ctx context.Context, db Store) (reading, error) {
	n := s.readings.Add(1)
	latched, err := db.LatchedStops(ctx)
	return reading{n, latched}, err
}

// readAgainWithin bounds how long a persisted release waits for the list.
const readAgainWithin = 2500 * time.Millisecond

// readAgain has the worker read the latched stops after a release, even if its caller has
// disconnected, and then calls do. If that fails, the list is incomplete until the next job has
// read it.
func (s *Stops) readAgain(ctx context.Context, db Store, do func()) {
	s.start(func() func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readAgainWithin)
		defer cancel()
		latched, err := s.readLatched(ctx, db)
		if err != nil {
			s.deps.Failed("stops not read", err)
		}
		return func() {
			if err != nil {
				s.loaded, s.due, s.dirty = false, true, true
			} else {
				s.setLatched(latched)
				s.MarkCurrent()
			}
			do()
		}
	})
}
