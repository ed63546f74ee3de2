package publish

import (
	"context"
	"fmt"
	"time"

	"troupe/fleetd/command"
	"troupe/schema"
)

const (
	// doubtPatience is how long a robot that is there may be without what it is
	// desired to have before it is asked for its documents: most desired documents are
	// fulfilled within a second.
	doubtPatience = 10 * time.Second
	// doubtLimit bounds the pauses between two questions; each is twice the one
	// before. A robot may have a good reason to wait.
	doubtLimit = 5 * time.Minute
	doubtLook  = 5 * time.Second
)

// driftChecker find out whether a robot really lacks what it should have. A
// broker may have confirmed a message and lost it, the desired state or the robot's report
// on it: then nothing would ever be said again. So a robot that is in doubt is
// told its desired documents and asked for all its documents.
type driftChecker struct {
	deps    Deps
	outbox  *outbox
	at      map[string]drift
	outdone renumberBackoff // whose desired documents were told again for their number
	behind  renumberBackoff // who was asked for a newer state
}

// drift is one robot's.
type drift struct {
	next time.Time // when it is asked
	wait time.Duration
}

// due lists the robots to be asked now. lacking are those that are there and have
// not what they should have; all others are in no doubt.
func (d *driftChecker) due(lacking []string, now time.Time) (ask []string) {
	still := map[string]drift{}
	for _, id := range lacking {
		was, ok := d.at[id]
		switch {
		case !ok:
			was = drift{next: now.Add(doubtPatience), wait: doubtPatience}
		case !now.Before(was.next):
			ask = append(ask, id)
			was.wait = min(2*was.wait, doubtLimit)
			was.next = now.Add(was.wait)
		}
		still[id] = was
	}
	d.at = still
	return ask
}

func (d *driftChecker) run(ctx context.Context, db Store) {
	look := time.NewTicker(doubtLook)
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
			d.again(ctx, db, revs, now)
			for _, id := range d.deps.Robots.Behind(now) {
				if d.behind.mayNow(id, now) {
					d.deps.Log.Warn("robot's state did not arrive although its heartbeat tells of it; asked to tell all again", "robot", id)
					d.resync(ctx, id, now)
				}
			}
			if ask := d.due(d.deps.Robots.Lacking(revs, now), now); len(ask) > 0 {
				d.ask(ctx, db, ask, now)
			}
		}
	}
}

func (d *driftChecker) ask(ctx context.Context, db Store, robots []string, now time.Time) {
	desired, err := db.Desired(ctx)
	if err != nil {
		d.deps.Failed("desired documents not read", err)
		return
	}
	for _, id := range robots {
		for _, w := range desired {
			if w.Target == id {
				d.outbox.say(d.outbox.message(w))
			}
		}
		d.deps.Log.Info("robot does not report what it should have; told again and asked", "robot", id)
		d.resync(ctx, id, now)
	}
}

// resync asks a robot for all its documents.
func (d *driftChecker) resync(ctx context.Context, robot string, now time.Time) {
	verb, _ := schema.VerbOf("sys", "resync")
	payload, err := schema.EncodeRequest(verb, schema.Request{
		ID: fmt.Sprintf("doubt:%d", now.UnixMilli()), TS: schema.TimeOf(now), TTLMS: verb.TTL.Milliseconds(),
	})
	if err != nil {
		d.deps.Log.Error("question not encoded", "error", err)
		return
	}
	d.deps.Send(ctx, command.Command{Robot: robot, Verb: verb.ID(), Payload: payload})
}
