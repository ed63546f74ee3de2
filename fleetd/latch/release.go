package latch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/spool"
	"troupe/fleetd/stop"
	"troupe/fleetd/store"
	"troupe/schema"
)

// releaseWait is how long a release waits for the worker, which a hanging database may keep
// busy.
const releaseWait = time.Second

// Release releases stops by their ids. Before that, in the same transaction, it persists the
// stops that wait, and these stops for robots that report them: a robot releases only a stop
// that a document has named before, and so nothing that was released comes back, unless more
// stops are latched on a robot than its document has room for.
func (s *Stops) Release(ctx context.Context, p auth.Principal, ids []string, by, why string) (problems []schema.Problem, err error) {
	db, err := s.deps.Store()
	if err != nil {
		return nil, err
	}
	over := make(chan struct{})
	j := &exclusiveJob{run: func() {
		s.release(ctx, db, p, ids, by, why, func(found []schema.Problem, failed error) {
			problems, err = found, failed
			s.reply(func() { close(over) })
		})
	}}
	s.queueJob(j)
	wait, cancel := context.WithTimeoutCause(ctx, releaseWait, fmt.Errorf("wait for other changes of stops: %w", store.ErrBusy))
	defer cancel()
	select {
	case <-over:
		return problems, err
	case <-wait.Done():
	case <-s.ended:
	}
	if j.claim() {
		return nil, cmp.Or(context.Cause(wait), errEnded)
	}
	<-over
	return problems, err
}

// release has the worker release stops, and calls over with the result.
func (s *Stops) release(ctx context.Context, db Store, p auth.Principal, ids []string, by, why string, over func([]schema.Problem, error)) {
	s.spoolAllLive() // a stop that was received before the release is part of it
	leads, waiting := s.deps.Leads(), slices.Clone(s.waiting)
	released := s.deps.Releases.begin(ids, s.deps.Now())
	s.start(func() func() {
		problems, err := s.persistRelease(ctx, db, p, ids, waiting, leads, by, why)
		return func() {
			if err != nil || len(problems) > 0 {
				for _, c := range s.deps.Releases.end(released) { // no more are added from here on
					s.out.post(func(ctx context.Context) { s.deps.Dispatcher.Send(ctx, c) })
				}
				over(problems, err)
				return
			}
			ended := slices.DeleteFunc(waiting, func(e spool.Entry) bool { return !slices.Contains(ids, e.Request.ID) })
			s.removePersisted(ended)
			for _, e := range ended {
				s.answer(e.Request, schema.Ack{Status: schema.StatusSucceeded, Result: schema.ResultOK, Detail: "latched, and released since"})
			}
			s.publish() // sendTo reads the snapshot
			s.deps.Dispatcher.EndReleased(released.isLatchedAgainBy, func() { s.deps.Releases.end(released) })
			s.deps.Log.Warn("stops released", "stops", strings.Join(ids, " "), "by", by, "why", why)
			s.reportedSince = map[string]map[string]reportedStop{}
			now := s.deps.Now()
			maps.DeleteFunc(s.releasedAt, func(_ string, at time.Time) bool { return now.Sub(at) >= releaseArrives })
			for _, id := range ids {
				s.releasedAt[id] = now
			}
			s.readAgain(ctx, db, func() {
				over(nil, nil)
				s.deps.WakeOutbox()
			})
		}
	})
}

// persistRelease persists a release in one transaction. The worker calls it.
func (s *Stops) persistRelease(ctx context.Context, db Store, p auth.Principal, ids []string, waiting []spool.Entry, leads bool, by,
	why string) (problems []schema.Problem, err error) {
	err = db.Tx(ctx, func(tx *store.Tx) error {
		problems = nil
		now := s.deps.Now()
		ours, elsewhere := s.deps.Robots.ReportedStops(ids, now)
		need := stop.Need{Requests: slices.Clone(ours), Release: ids}
		for _, e := range waiting {
			need.Requests = append(need.Requests, e.Request)
		}
		rows, err := tx.StopsFor(ctx, need)
		if err != nil {
			return err
		}
		var requests []stop.Request
		for _, e := range waiting {
			// The leader persists also what seems to be persisted: it may be a second press
			// within seconds, and robots that were stopped again under the same id release only
			// what a newer document has named.
			if leads || !e.Request.Observed() || !stop.AlreadyPersisted(rows, e.Request) {
				requests = append(requests, e.Request)
			}
		}
		first := map[string]bool{}
		for _, id := range ids {
			first[id] = persistsFirst(rows.Latches, id, now)
		}
		for _, o := range ours { // of these ids
			if first[o.ID] {
				requests = append(requests, o)
			}
		}
		c, err := stop.Persist(rows, requests, now)
		if err != nil {
			return err
		}
		if !c.Empty() {
			if err := tx.ApplyStops(ctx, c, now); err != nil {
				return err
			}
			if rows, err = tx.StopsFor(ctx, need); err != nil {
				return err
			}
		}
		if c, err = stop.PublishAgain(rows, stop.NotRecorded(rows, ours), now); err != nil {
			return err
		}
		if len(c.Documents) > 0 {
			if err := tx.ApplyStops(ctx, c, now); err != nil {
				return err
			}
			if rows, err = tx.StopsFor(ctx, need); err != nil {
				return err
			}
		}
		if c, problems, err = stop.Release(rows, ids, elsewhere, by, why, now); err != nil || len(problems) > 0 {
			return err
		}
		tx.ActFor(p)
		return tx.ApplyStops(ctx, c, now)
	})
	return problems, err
}

// persistsFirst reports whether a stop that robots report has to be persisted for them before it
// is released. It need not if it is latched on all robots: their common document releases it on
// each. Nor if it was released a moment ago, since robots report it for a moment longer.
func persistsFirst(latches []stop.Latch, id string, now time.Time) bool {
	some, released := false, false
	for _, l := range latches {
		switch {
		case l.ID != id:
		case l.IsLatched() && l.Robot == "":
			return false
		case l.IsLatched():
			some = true
		case now.Sub(l.ReleasedAt) < reportedFor:
			released = true
		}
	}
	return some || !released
}
