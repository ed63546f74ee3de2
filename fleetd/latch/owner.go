package latch

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/spool"
	"troupe/fleetd/stop"
	"troupe/schema"
)

// Run owns the state until ctx ends.
func (s *Stops) Run(ctx context.Context) {
	var beside sync.WaitGroup
	beside.Go(func() { s.out.run(ctx) })
	beside.Go(func() { s.relays.run(ctx) })
	beside.Go(func() {
		for do := range s.work {
			s.done <- do()
		}
	})
	defer beside.Wait()
	defer close(s.work)
	defer close(s.ended)
	look := time.NewTicker(retryEvery)
	defer look.Stop()
	for {
		s.take()
		s.next(ctx)
		s.publish()
		select {
		case <-ctx.Done():
			for s.busy { // the caller waits for the result
				s.finish(<-s.done)
			}
			s.take()
			s.spoolAllLive()
			s.publish()
			return
		case <-s.mail.wake:
		case after := <-s.done:
			s.finish(after)
		case <-look.C:
			s.due = true
			s.findNotHeld()
		}
	}
}

// take handles everything in the mailbox.
func (s *Stops) take() {
	for _, do := range s.mail.takePosts() {
		do()
	}
	for robot, reported := range s.mail.takeReported() {
		s.handleReported(robot, reported)
	}
	if len(s.unspooledLive) == 0 {
		s.unspooledLive = s.mail.takeLive()
	}
	some := s.unspooledLive[:min(len(s.unspooledLive), spoolAtOnce)]
	s.unspooledLive = s.unspooledLive[len(some):]
	s.spoolLive(some)
	if len(s.unspooledLive) > 0 {
		signal(s.mail.wake)
	}
}

// spoolAllLive handles all live stops that have arrived.
func (s *Stops) spoolAllLive() {
	s.spoolLive(s.unspooledLive)
	s.unspooledLive = nil
	s.spoolLive(s.mail.takeLive())
}

// exclusiveJob is a release or a removal that waits for the worker. The owner claims it to run
// it; the caller claims it to give up. Only one of them succeeds.
type exclusiveJob struct {
	claimed atomic.Bool
	run     func()
}

func (j *exclusiveJob) claim() bool { return j.claimed.CompareAndSwap(false, true) }

// queueJob queues a job for the worker.
func (s *Stops) queueJob(j *exclusiveJob) {
	s.mail.post(func() { s.queuedJobs = append(s.queuedJobs, j) })
}

// next gives an idle worker its next job: a release or a removal, or else what waits to be persisted.
func (s *Stops) next(ctx context.Context) {
	for !s.busy && len(s.queuedJobs) > 0 {
		j := s.queuedJobs[0]
		s.queuedJobs = s.queuedJobs[1:]
		if j.claim() {
			j.run()
		}
	}
	if !s.busy && s.due {
		s.due = false
		s.persist(ctx)
	}
}

// start gives the worker a job. The owner calls the function that the job returns, see finish.
func (s *Stops) start(do func() (after func())) {
	s.busy = true
	s.work <- do
}

// finish applies the result of the worker's job.
func (s *Stops) finish(after func()) {
	s.busy = false
	after()
	s.publish()
}

// findNotHeld notes the robots that do not report what is latched for them, so that the leader publishes
// it to them again.
func (s *Stops) findNotHeld() {
	if !s.loaded {
		return
	}
	now := s.deps.Now()
	robots := s.deps.Robots.NotHeld(s.latchedOn, now)
	was := s.publishedAgain
	s.publishedAgain, s.notHeld = map[string]time.Time{}, nil
	for _, robot := range robots {
		s.publishedAgain[robot] = was[robot]
		if s.deps.Leads() && now.Sub(was[robot]) >= publishAgainEvery {
			s.publishedAgain[robot] = now
			s.notHeld = append(s.notHeld, robot)
		}
	}
}

// reply calls do when the snapshot includes the present state.
func (s *Stops) reply(do func()) { s.replies = append(s.replies, do) }

// spoolLive writes live stops of other clients to this machine's disk, and answers them.
func (s *Stops) spoolLive(lives []live) {
	var arrived, again, relayed []stop.Request
	for _, l := range lives {
		if l.empty && l.request.Client == s.removingClient {
			signal(s.removalArrived)
		}
		o := s.assignID(l.request, arrived)
		if s.deps.Instance(o.Client) && !o.NoOwnID && len(l.request.Robots) == 0 { // a live stop cannot name robots
			relayed = append(relayed, l.request)
		}
		if i := slices.IndexFunc(arrived, func(f stop.Request) bool { return same(&f, &o) }); i >= 0 {
			arrived[i].At = o.At
		} else if !s.mergeWithWaiting(o) {
			s.deps.Log.Warn("live stop received", "stop", o.ID, "client", o.Client, "by", o.By, "why", o.Why)
			arrived = append(arrived, o)
		} else if !slices.ContainsFunc(again, func(a stop.Request) bool { return same(&a, &o) }) {
			again = append(again, o)
		}
	}
	if len(arrived)+len(again) == 0 {
		return
	}
	anotherLeads := s.deps.AnotherLeads() // then the leader answers
	for _, o := range again {
		if !anotherLeads {
			s.answer(o, schema.Ack{Status: schema.StatusAccepted, Detail: "fleetd has it already", Dup: true})
		}
	}
	defer func() {
		s.publish()
		for _, o := range relayed {
			s.relayHeard(o)
		}
	}()
	for _, o := range arrived {
		e, err := s.append(o)
		s.enqueue(e)
		if anotherLeads {
			continue
		}
		a := schema.Ack{Status: schema.StatusAccepted, Detail: "fleetd has it; it stays latched until it is released"}
		if err != nil {
			a.Detail = "fleetd has it, and could not keep it on its disk"
		}
		s.answer(o, a)
	}
}

// enqueue has a stop persisted.
func (s *Stops) enqueue(e spool.Entry) {
	s.waiting = append(s.waiting, e)
	s.queued.add(e.Request)
	s.due, s.dirty = true, true
}

// handleReported compares the latches that a robot reports with the persisted stops. If nobody has
// persisted one, the stop was given while fleetd did not receive it, and is persisted after
// persistReportedAfter. If it was released (the robot may not know yet), it is persisted only when the robot has reported it for
// releaseArrives, and if the database does not answer whether it was, for reportedFor.
func (s *Stops) handleReported(robot string, reported reportedLatches) {
	was := s.reportedSince[robot]
	delete(s.reportedSince, robot)
	defer func() {
		if len(was)+len(s.reportedSince[robot]) > 0 {
			s.dirty = true
		}
	}()
	if !s.loaded || len(reported.latches) == 0 || !s.deps.Robots.Adopted(robot) || !s.deps.Leads() {
		return
	}
	for _, l := range reported.latches {
		o, named := stop.RequestFromRobot(robot, l, reported.ahead, reported.at)
		if !named || s.isPersisted(robot, l.ID, o.Level) || s.isQueued(o) {
			continue
		}
		of, before := was[l.ID]
		if !before {
			of.since = reported.at
			at, released := s.releasedAt[l.ID]
			// The database says precisely which stop was released. A robot that has one from a document reports the fleet's time of it,
			// which may be ahead of its own clock, and then SinceFleetClock is later than that.
			of.released = released && reported.at.Sub(at) < releaseArrives &&
				(o.SinceFleetClock.Before(at) || o.SinceRobotClock.Before(at))
			if len(reported.latches) <= maxStopIDs { // more come from a flood of stops; those are persisted after reportedFor only
				s.reportedFirst = append(s.reportedFirst, o)
				time.AfterFunc(persistReportedAfter, s.PersistNow)
			}
		}
		if s.reportedSince[robot] == nil {
			s.reportedSince[robot] = map[string]reportedStop{}
		}
		s.reportedSince[robot][l.ID] = of
		wait := reportedFor
		if of.released {
			wait = releaseArrives
		}
		if before && reported.at.Sub(of.since) >= wait {
			s.enqueueReported(o)
		}
	}
}

// isPersisted reports whether the database has the stop for that robot, by its name or as a stop
// of all robots: a robot that joins later reports those too. One of a lower level is not that stop.
func (s *Stops) isPersisted(robot, id string, level schema.StopLevel) bool {
	persists := func(robot string) bool {
		l, latched := s.latchedOn[robot][id]
		return latched && l.Stronger(level) == l
	}
	return persists(robot) || persists("")
}

// isQueued reports whether a stop that a robot reports waits to be persisted already.
func (s *Stops) isQueued(o stop.Request) bool {
	return s.queued[o.ID][""] || s.queued[o.ID][o.Robots[0]]
}

// queuedStops are the ids of stops that wait to be persisted, each with the robots that report it; the empty name stands for a stop
// that waits for all whom it was sent to. Each robot of a fleet may report a stop, and none walks over what all others report.
type queuedStops map[string]map[string]bool

func (q queuedStops) add(o stop.Request) {
	if q[o.ID] == nil {
		q[o.ID] = map[string]bool{}
	}
	if o.FromRobot && !o.All {
		q[o.ID][o.Robots[0]] = true
	} else {
		q[o.ID][""] = true
	}
}

// setWaiting replaces the stops that wait to be persisted.
func (s *Stops) setWaiting(waiting []spool.Entry) {
	s.waiting, s.queued = waiting, queuedStops{}
	for _, e := range waiting {
		s.queued.add(e.Request)
	}
}

// enqueueReported has a stop persisted that a robot reports.
func (s *Stops) enqueueReported(o stop.Request) {
	s.enqueue(spool.Entry{Request: o})
	s.deps.Log.Warn("robot holds a stop that is not persisted; persisting it", "robot", o.Robots[0], "stop", o.ID, "all", o.All, "by", o.By)
}

// removePersisted removes entries that are persisted.
func (s *Stops) removePersisted(done []spool.Entry) {
	if err := s.spool.Done(done...); err != nil {
		s.deps.Log.Error("persisted stops not removed from the spool", "error", err)
	}
	over := map[entryKey]bool{}
	for _, e := range done {
		over[keyOf(e)] = true
	}
	s.setWaiting(slices.DeleteFunc(s.waiting, func(e spool.Entry) bool { return over[keyOf(e)] }))
	s.dirty = true
}

// entryKey identifies an entry. An entry into which a later stop was merged since has another key.
type entryKey struct {
	n  int64
	id string
	at int64
}

func keyOf(e spool.Entry) entryKey { return entryKey{e.N, e.Request.ID, e.Request.At.UnixMicro()} }

// setLatched replaces the latched stops by those of the database, unless a newer list has arrived.
func (s *Stops) setLatched(r reading) {
	if r.n < s.newest {
		return
	}
	s.newest = r.n
	unheard := s.unheard(r.stops)
	s.latched, s.loaded, s.dirty, s.latchedOn = r.stops, true, true, map[string]map[string]schema.StopLevel{}
	for _, l := range r.stops {
		if s.latchedOn[l.Robot] == nil {
			s.latchedOn[l.Robot] = map[string]schema.StopLevel{}
		}
		s.latchedOn[l.Robot][l.ID] = l.Level
	}
	s.recountStopIDs()
	s.publish() // the sender looks there whether a stop was released
	s.relayPersisted(unheard)
}

// sendWaiting sends the waiting stops to a robot that became reachable.
func (s *Stops) sendWaiting(robot string) {
	if len(s.waiting) == 0 {
		return
	}
	s.publish() // sendTo reads the snapshot
	labels := s.deps.Robots.Labels(robot)
	for _, e := range s.waiting {
		if o := e.Request; !o.FromRobot && o.Includes(robot, labels) {
			s.out.post(func(ctx context.Context) { s.sendTo(ctx, robot, e) })
		}
	}
}

// sendTo sends a waiting stop to a robot, unless it was released meanwhile. The sender calls
// it.
func (s *Stops) sendTo(ctx context.Context, robot string, e spool.Entry) {
	o := e.Request
	c, err := stopCommand(robot, o.ID, o.Level, o.By, o.Why, o.At)
	if err != nil {
		s.deps.Log.Error("stop not encoded", "stop", o.ID, "error", err)
		return
	}
	if !s.deps.Releases.DeferIfReleasing(c) && s.list.Load().waits(e) {
		// in this order: a release removes its stops from waiting before it ends
		s.deps.Dispatcher.SendNow(ctx, c)
	}
}

// answer sends the client of a live stop fleetd's answer. Robots send their own.
func (s *Stops) answer(o stop.Request, a schema.Ack) {
	if o.Client != "" {
		s.out.post(func(ctx context.Context) { s.sendAnswer(ctx, o, a) })
	}
}

func (s *Stops) sendAnswer(ctx context.Context, o stop.Request, a schema.Ack) {
	a.TS, a.Session, a.ID, a.Verb = schema.TimeOf(s.deps.Now()), s.deps.Session(), &o.ID, "fleet/stop"
	payload, err := schema.Encode(&a)
	if err != nil {
		s.deps.Log.Error("answer not encoded", "error", err)
		return
	}
	m := link.Message{Topic: s.deps.Namespace.Topic(schema.TopicFleetAck, o.Client), Payload: payload, QoS: 1}
	ctx, cancel := context.WithTimeout(ctx, time.Second) // stops wait for it
	defer cancel()
	if err := s.deps.Publish(ctx, m); err != nil {
		s.deps.Log.Debug("answer not sent", "client", o.Client, "error", err)
	}
}
