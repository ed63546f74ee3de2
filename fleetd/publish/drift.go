package publish

import (
	"context"
	"fmt"
	"slices"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/selector"
	"troupe/schema"
	"troupe/schema/verb"
)

const (
	// driftGrace is how long an online robot may differ from its desired state before
	// it is asked for its documents: most robots follow a desired document within a second.
	driftGrace = 10 * time.Second
	// driftLimit bounds the pause between two questions, each twice the one before: a
	// robot may have a good reason to wait.
	driftLimit = 5 * time.Minute
	driftLook  = 5 * time.Second
	// askAtOnce bounds the robots whose documents are read at once.
	askAtOnce = 100
)

// driftChecker finds robots that do not report what is desired of them. The broker may have
// acknowledged a desired document, or a robot's report, and lost it, and neither side would
// send it again. So the checker publishes the desired documents of such a robot once more,
// and asks the robot for all its documents.
type driftChecker struct {
	deps          Deps
	outbox        *outboxPublisher
	at            map[string]nextAttempt
	renumbered    backoff // desired documents that were renumbered, by topic and robot
	askedForState backoff // robots that were asked for a newer state
}

// nextAttempt is when the checker does something about a robot again, and the pause before it.
type nextAttempt struct {
	at    time.Time
	pause time.Duration
}

// due lists the robots to be asked now. lacking are the online robots that differ from
// their desired state; the checker forgets all others.
func (d *driftChecker) due(lacking []string, now time.Time) (ask []string) {
	still := map[string]nextAttempt{}
	for _, id := range lacking {
		was, ok := d.at[id]
		switch {
		case !ok:
			was = nextAttempt{at: now.Add(driftGrace), pause: driftGrace}
		case !now.Before(was.at):
			ask = append(ask, id)
			was.pause = min(2*was.pause, driftLimit)
			was.at = now.Add(was.pause)
		}
		still[id] = was
	}
	d.at = still
	return ask
}

func (d *driftChecker) run(ctx context.Context, db Store) {
	look := time.NewTicker(driftLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-look.C:
			if !d.deps.Leads() {
				d.at = nil
				continue
			}
			revs, err := db.DesiredRevs(ctx)
			if err != nil {
				d.deps.Failed("desired documents not read", err)
				continue
			}
			d.renumberOvertaken(ctx, db, revs, now)
			for _, id := range d.deps.Robots.StatesOutdated(now) {
				if d.askedForState.allows(id, now) {
					d.deps.Log.Warn("robot's newest state did not arrive; asked the robot for all its documents", "robot", id)
					d.resync(ctx, id, now)
				}
			}
			if ask := d.due(d.deps.Robots.NotConverged(revs, now), now); len(ask) > 0 {
				d.ask(ctx, db, ask, now)
			}
		}
	}
}

// ask publishes the desired documents of robots once more, and asks for theirs.
func (d *driftChecker) ask(ctx context.Context, db Store, robots []string, now time.Time) {
	for some := range slices.Chunk(robots, askAtOnce) {
		documents, err := db.DesiredDocuments(ctx, selector.IDs(some...))
		if err != nil {
			d.deps.Failed("desired documents not read", err)
			return
		}
		for _, w := range documents {
			d.outbox.enqueue(d.outbox.message(w))
		}
		for _, id := range some {
			d.deps.Log.Info("robot does not report its desired state; published it again and asked the robot for all its documents", "robot", id)
			d.resync(ctx, id, now)
		}
	}
}

// resync asks a robot for all its documents.
func (d *driftChecker) resync(ctx context.Context, robot string, now time.Time) {
	v, _ := verb.Of("sys", "resync")
	payload, err := verb.Encode(v, verb.Request{Envelope: schema.Envelope{
		ID: fmt.Sprintf("drift:%d", now.UnixMilli()), TS: schema.TimeOf(now), TTLMS: v.TTL.Milliseconds(),
	}})
	if err != nil {
		d.deps.Log.Error("sys/resync not encoded", "error", err)
		return
	}
	d.deps.Send(ctx, command.Command{Robot: robot, Verb: v.ID(), Payload: payload})
}
