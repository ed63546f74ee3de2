package dispatch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"troupe/fleetd/command"
	"troupe/fleetd/store"
	"troupe/schema"
)

const (
	// orphanLook is how often the leader looks for commands of instances that are gone.
	orphanLook = 2 * time.Second
	// observedFor is how long answers to other instances are kept: an instance counts as
	// gone only some time after its last heartbeat, and robots have answered by then.
	observedFor = 2 * time.Minute
	// maxObserved bounds them; beyond it the oldest are dropped.
	maxObserved = 10_000
)

// OrphanEnder ends orphaned commands: those of instances that are gone. The leader applies the
// answers of robots that it observed; it sends none of these commands. (Documents of unknown
// robots, which people call orphans too, are view.StrayDocuments.)
type OrphanEnder struct {
	deps Deps

	mu       sync.Mutex
	received []observed // answers to other clients, fleetd instances among them; the oldest first
}

type observed struct {
	robot, owner string
	ack          schema.Ack
	at           time.Time
}

// NewOrphanEnder returns an OrphanEnder that has observed no answer yet.
func NewOrphanEnder(d Deps) *OrphanEnder { return &OrphanEnder{deps: d} }

// Observe keeps a robot's answer to another client for a while. The link's goroutine calls
// it.
func (b *OrphanEnder) Observe(p schema.TopicParams, payload []byte, now time.Time) {
	a, problems := schema.Decode[schema.Ack](payload)
	if len(problems) > 0 || a.ID == nil {
		return // the client that it is for reports that
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.received) >= maxObserved {
		b.received = b.received[1:]
	}
	b.received = append(b.received, observed{p.RID, p.CID, a, now})
}

// answers are the observed answers, by the id of the command.
func (b *OrphanEnder) answers(now time.Time) map[string][]observed {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.received = slices.DeleteFunc(b.received, func(o observed) bool { return now.Sub(o.at) > observedFor })
	out := map[string][]observed{}
	for _, o := range b.received {
		out[*o.ack.ID] = append(out[*o.ack.ID], o)
	}
	return out
}

// Run ends orphaned commands until ctx ends.
func (b *OrphanEnder) Run(ctx context.Context, db Store) {
	if db.SingleInstance() {
		return
	}
	look := time.NewTicker(orphanLook)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-look.C:
			answers := b.answers(now)
			if !b.deps.Leads() {
				continue
			}
			rows, err := db.OpenCommandsOfOthers(ctx, b.deps.Name, now.Add(-takeUpFor))
			if err != nil {
				b.deps.Failed("commands of other fleetd instances not read", err)
				continue
			}
			for _, c := range rows {
				if !b.deps.Instances.Gone(c.Owner, now) {
					continue
				}
				if c, news := inherit(c, answers[c.ID], now); news {
					b.end(ctx, db, c)
				}
			}
		}
	}
}

// inherit applies what is known of a command whose instance is gone.
func inherit(was command.Command, answers []observed, now time.Time) (c command.Command, news bool) {
	c = was
	for _, o := range answers {
		if o.robot == c.Robot && o.owner == c.Owner {
			c = command.Observe(c, o.at, o.ack)
		}
	}
	c = command.Orphan(c, now)
	return c, c.State != was.State
}

func (b *OrphanEnder) end(ctx context.Context, db Store, c command.Command) {
	switch err := db.SaveCommands(ctx, []command.Command{c}); {
	case errors.Is(err, store.ErrConflict): // its instance is running after all, and has ended it
	case err != nil:
		b.deps.Failed("command of another instance not ended", err)
	default:
		b.deps.Log.Warn("command ended: its fleetd instance is gone", "fleetd", c.Owner, "command", c.ID, "robot", c.Robot, "verb", c.Verb,
			"state", c.State, "because", c.Because)
	}
}
