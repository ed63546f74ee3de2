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
	// bereftLook is how often the leader looks for commands whose fleetd is gone.
	bereftLook = 2 * time.Second
	// observedFor is how long answers to other fleetd instances are kept: a fleetd instance counts as gone
	// only some time after its last word, and its robots have answered by then.
	observedFor = 2 * time.Minute
	// maxObserved bounds them; beyond it the oldest are left out.
	maxObserved = 10_000
)

// Orphaned are the commands whose fleetd is gone. Fleetd that leads brings them to an
// end, and applies what their robots say; it sends none of them.
type Orphaned struct {
	deps Deps

	mu    sync.Mutex
	heard []observed // answers to other fleetd instances, the oldest first
}

type observed struct {
	robot, owner string
	ack          schema.Ack
	at           time.Time
}

func NewOrphaned(d Deps) *Orphaned { return &Orphaned{deps: d} }

// Overhear keeps a robot's answer to somebody else for a while. It runs on the link's
// own goroutine.
func (b *Orphaned) Overhear(p schema.TopicParams, payload []byte, now time.Time) {
	a, problems := schema.Decode[schema.Ack](payload)
	if len(problems) > 0 || a.ID == nil {
		return // whom it was meant for says so
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.heard) >= maxObserved {
		b.heard = b.heard[1:]
	}
	b.heard = append(b.heard, observed{p.RID, p.CID, a, now})
}

// answers are those that were overheard, by the id of their command.
func (b *Orphaned) answers(now time.Time) map[string][]observed {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heard = slices.DeleteFunc(b.heard, func(o observed) bool { return now.Sub(o.at) > observedFor })
	out := map[string][]observed{}
	for _, o := range b.heard {
		out[*o.ack.ID] = append(out[*o.ack.ID], o)
	}
	return out
}

// Run ends them until ctx ends.
func (b *Orphaned) Run(ctx context.Context, db Store) {
	if db.Alone() {
		return
	}
	look := time.NewTicker(bereftLook)
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
			rows, err := db.OthersCommands(ctx, b.deps.Name, now.Add(-goBack))
			if err != nil {
				b.deps.Failed("commands of other fleetd instances not read", err)
				continue
			}
			for _, c := range rows {
				if !b.deps.Instances.Gone(c.Owner, now) {
					continue
				}
				if c, news := inherit(c, answers[c.ID], now); news {
					b.bury(ctx, db, c)
				}
			}
		}
	}
}

// inherit is what is known of a command whose fleetd is gone.
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

func (b *Orphaned) bury(ctx context.Context, db Store, c command.Command) {
	switch err := db.SaveCommands(ctx, []command.Command{c}); {
	case errors.Is(err, store.ErrConflict): // its fleetd is there after all, and has ended it
	case err != nil:
		b.deps.Failed("command of another instance not ended", err)
	default:
		b.deps.Log.Warn("a command's fleetd is gone", "fleetd", c.Owner, "command", c.ID, "robot", c.Robot, "verb", c.Verb, "state", c.State, "because", c.Because)
	}
}
