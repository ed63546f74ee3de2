package dispatch

import (
	"context"
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
	// lossPause is the least time between two reductions of the window: what one burst lost counts once.
	lossPause = 2 * time.Second
)

// pace bounds the commands that were sent and await their first answer, as the congestion window of TCP bounds packets: each answer lets
// one more be under way, and a command that has to be sent again halves the window. So a batch for the whole fleet goes out as fast as
// robots answer, and a command that comes meanwhile finds no queue of thousands before it in the link and the broker.
//
// Stops, and cancellations, which make room for others, do not wait. Neither do commands for robots that are not reachable: they are sent
// when their robots come. The time to live of a command begins when it gets its turn.
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
func (c *activeCommand) paced() bool { return c.class != verb.ClassStop && c.Verb != "sys/cancel" }

func (p *pace) hasRoom() bool { return p.underWay < p.window }

// giveTurns begins waiting commands as far as the window has room.
func (d *Dispatcher) giveTurns(ctx context.Context) {
	for len(d.pace.waiting) > 0 && d.pace.hasRoom() {
		c := d.pace.waiting[0]
		d.pace.waiting[0] = nil
		if d.pace.waiting = d.pace.waiting[1:]; len(d.pace.waiting) == 0 {
			d.pace.waiting = nil
		}
		c.waits = false
		d.step(ctx, d.deps.Now(), c.ID, command.Event{Kind: command.Turn})
	}
}

// sent records that a command is being sent.
func (p *pace) sent(c *activeCommand, now time.Time) {
	if c.paced() && c.Sends > 1 {
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
