package publish

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/selector"
	"troupe/fleetd/store"
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
	// askEach is the mean pause between two robots that are asked. A robot answers with some ten documents, so all answers are about a
	// thousand messages per second, a tenth of what a broker on one core passes on.
	askEach = 10 * time.Millisecond
	// maxAsked bounds the robots that are asked after one look; the others are asked after a later one.
	maxAsked = int(driftLook / askEach)
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

// due lists the robots to be asked now, at most so many. lacking are the online robots that differ from
// their desired state; the checker forgets all others.
func (d *driftChecker) due(lacking []string, now time.Time, most int) (ask []string) {
	still := map[string]nextAttempt{}
	for _, id := range lacking {
		was, ok := d.at[id]
		switch {
		case !ok:
			was = nextAttempt{at: now.Add(driftGrace), pause: driftGrace}
		case !now.Before(was.at) && len(ask) < most:
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
			left := maxAsked
			for _, id := range shuffled(d.deps.Robots.StatesOutdated(now)) {
				if left > 0 && ctx.Err() == nil && d.deps.Leads() && d.askedForState.allows(id, now) {
					left--
					d.deps.Log.Warn("robot's newest state did not arrive; asked the robot for all its documents", "robot", id)
					d.resync(ctx, id, d.deps.Now())
					d.pause(ctx)
				}
			}
			if ask := d.due(shuffled(d.deps.Robots.NotConverged(revs, now)), now, left); len(ask) > 0 {
				d.ask(ctx, db, ask, now)
			}
		}
	}
}

// shuffled orders robots at random, so that after the loss of a connection not the same ones are asked first each time.
func shuffled(robots []string) []string {
	rand.Shuffle(len(robots), func(i, j int) { robots[i], robots[j] = robots[j], robots[i] })
	return robots
}

// pause waits askEach on average, or until ctx ends.
func (d *driftChecker) pause(ctx context.Context) {
	wait := time.NewTimer(time.Duration((0.5 + rand.Float64()) * float64(askEach)))
	defer wait.Stop()
	select {
	case <-ctx.Done():
	case <-wait.C:
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
		desired := map[string][]store.Outgoing{}
		for _, w := range documents {
			desired[w.Target] = append(desired[w.Target], w)
		}
		for _, id := range some {
			if ctx.Err() != nil || !d.deps.Leads() {
				return
			}
			for _, w := range desired[id] {
				d.outbox.enqueue(d.outbox.message(w))
			}
			d.deps.Log.Info("robot does not report its desired state; published it again and asked the robot for all its documents", "robot", id)
			d.resync(ctx, id, d.deps.Now())
			d.pause(ctx)
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
