package dispatch

import (
	"context"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/command"
	"troupe/schema/verb"
)

const (
	// firstWindow is how many commands may await their first answer at the start, and minWindow and maxWindow are how many may at least
	// and at most.
	firstWindow = 512
	minWindow   = 32
	maxWindow   = 4096
	// pacedFrom is how many commands a batch has at least that is paced.
	pacedFrom = 256
	// patience is how long a command may wait for its turn: later it is not sent, because nobody expects it any more.
	patience = 30 * time.Second
	// turnsAtOnce bounds the turns between two looks at what else came, such as a stop that has to be sent again.
	turnsAtOnce = 64
	// lossPause is the least time between two reductions of the window: what one burst lost counts once.
	lossPause = 2 * time.Second
)

// pace bounds the commands of large batches that were sent and await their first answer, as the congestion window of TCP bounds packets:
// each answer lets one more be under way, and a command that has to be sent again leaves the window and halves it. So a batch for the
// whole fleet goes out as fast as robots answer, and a command that comes meanwhile finds no queue of thousands before it in the link and
// the broker.
//
// Nothing else waits: no stop and no cancellation, nothing that drives a robot, takes control of it or lets it move, no command of a small
// batch, none that is resumed after a restart, and none for a robot that is not reachable. A command of another batch for a robot gives
// that robot's waiting one its turn, so that it does not wait behind it. The time to live of a command begins at its turn, if that comes
// within patience; otherwise it has expired.
type pace struct {
	window   int
	underWay int              // commands that await their first answer
	waiting  []*activeCommand // for their turn, in the order of issue
	lossAt   time.Time        // when the window was reduced last
}

// mustWait reports whether a new command has to wait for its turn.
func (d *Dispatcher) mustWait(c *activeCommand) bool {
	return c.State == command.Queued && c.paced() && (len(d.pace.waiting) > 0 || !d.pace.hasRoom()) && d.deps.Robots.Reachable(c.Robot)
}

// paced reports whether the command counts for the window.
func (c *activeCommand) paced() bool {
	group, _, _ := strings.Cut(c.Verb, "/")
	return c.handle.large && c.class != verb.ClassStop && !slices.Contains([]string{"manual", "control", "safety"}, group) &&
		c.Verb != "sys/cancel"
}

func (p *pace) hasRoom() bool { return p.underWay < p.window }

// giveTurns begins waiting commands as far as the window has room.
func (d *Dispatcher) giveTurns(ctx context.Context) {
	for range turnsAtOnce {
		if len(d.pace.waiting) == 0 || !d.pace.hasRoom() {
			return
		}
		c := d.pace.waiting[0]
		d.pace.waiting[0] = nil
		if d.pace.waiting = d.pace.waiting[1:]; len(d.pace.waiting) == 0 {
			d.pace.waiting = nil
		}
		d.giveTurn(ctx, c)
	}
	signal(d.wake)
}

// giveTurn begins a waiting command. One whose robot has gone meanwhile is as old as it is: it is sent if the robot comes in time.
func (d *Dispatcher) giveTurn(ctx context.Context, c *activeCommand) {
	if !c.waits {
		return
	}
	c.waits = false
	n := command.Event{Kind: command.Begin}
	if now := d.deps.Now(); d.deps.Robots.Reachable(c.Robot) && now.Sub(c.CreatedAt) <= patience {
		n.Kind = command.Turn
	}
	d.step(ctx, d.deps.Now(), c.ID, n)
}

// letPass gives the waiting commands of a robot their turn, because another one for it comes behind them.
func (d *Dispatcher) letPass(ctx context.Context, robot string) {
	for _, c := range slices.Clone(d.robots[robot]) {
		d.giveTurn(ctx, c)
	}
}

// sent records that a command is being sent.
func (p *pace) sent(c *activeCommand, now time.Time) {
	if c.paced() && c.Sends > 1 {
		p.landed(c)
		p.reduce(now)
	}
}

// changed records that a command was in state before.
func (p *pace) changed(c *activeCommand, before command.State, now time.Time) {
	switch {
	case !c.paced():
	case before != command.Sent && c.State == command.Sent:
		c.underWay = true
		p.underWay++
	case before == command.Sent && c.State != command.Sent:
		p.landed(c)
		if c.Answer != nil {
			p.window = min(p.window+1, maxWindow)
		} else {
			p.reduce(now)
		}
	}
}

// landed ends that a command counts for the window: it was answered, expired, or its robot is gone and answers nothing for now.
func (p *pace) landed(c *activeCommand) {
	if c.underWay {
		c.underWay = false
		p.underWay--
	}
}

func (p *pace) reduce(now time.Time) {
	if now.Sub(p.lossAt) >= lossPause {
		p.window, p.lossAt = max(p.window/2, minWindow), now
	}
}

// forgetBurst replaces the maps of commands when none is in progress: a map keeps the size that it had once, and is walked at that length.
func (d *Dispatcher) forgetBurst() {
	if len(d.open) == 0 {
		d.open, d.robots = map[string]*activeCommand{}, map[string][]*activeCommand{}
	}
}
