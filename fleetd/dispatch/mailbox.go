package dispatch

import (
	"context"
	"slices"

	"troupe/fleetd/command"
	"troupe/fleetd/stop"
	"troupe/schema"
)

// maxEvents bounds the events in the mailbox. Beyond it what robots answer and
// show, presence changes and cancellations are dropped: the dispatcher queries a
// command that stays unanswered, and a cancellation ends with its request.
const maxEvents = 100_000

// event is something that happened to commands.
type event struct {
	kind            eventKind
	robot           string
	ack             schema.Ack
	last            schema.LastRequest
	handle          *Handle
	id              string                     // of a command to be cancelled
	ended           chan bool                  // capacity 1: whether it was cancelled
	latchesReleased func(command.Command) bool // of eventRelease: reports whether a command would latch what was released
	done            func()                     // of eventRelease: called when those commands have ended

	released []stop.Latch      // of eventReleased
	unsent   []command.Command // of eventUnsent
}

type eventKind string

const (
	eventBatch   eventKind = "batch" // new commands
	eventAnswer  eventKind = "answer"
	eventShown   eventKind = "shown"
	eventOnline  eventKind = "online"
	eventOffline eventKind = "offline"
	eventCancel  eventKind = "cancel"
	eventRelease eventKind = "release" // this instance releases stops: see EndReleased

	eventReleased eventKind = "released" // the stops that any instance has released lately: see ReadReleased
	eventUnsent   eventKind = "unsent"   // commands that were not sent, and of which fleetd does not know whether they were saved
)

// post puts an event into the mailbox; it does not block. New commands, releases, and
// commands of which fleetd does not know whether they were saved are never dropped.
func (d *Dispatcher) post(p event) {
	d.mu.Lock()
	if len(d.events) >= maxEvents && p.kind != eventBatch && p.kind != eventRelease && p.kind != eventReleased && p.kind != eventUnsent {
		d.dropped++
		d.mu.Unlock()
		return
	}
	d.events = append(d.events, p)
	d.mu.Unlock()
	signal(d.wake)
}

// ReceiveAnswer posts a robot's answer to a command of this instance.
func (d *Dispatcher) ReceiveAnswer(robot string, a schema.Ack) {
	d.post(event{kind: eventAnswer, robot: robot, ack: a})
}

// ReceiveLastRequest posts the last command of this instance that a robot's state names.
func (d *Dispatcher) ReceiveLastRequest(robot string, last schema.LastRequest) {
	d.post(event{kind: eventShown, robot: robot, last: last})
}

// RobotOnline posts that a robot became reachable, and RobotOffline that it became
// unreachable.
func (d *Dispatcher) RobotOnline(robot string)  { d.post(event{kind: eventOnline, robot: robot}) }
func (d *Dispatcher) RobotOffline(robot string) { d.post(event{kind: eventOffline, robot: robot}) }

// EndReleased ends the commands that would latch again what was released, and then calls done.
func (d *Dispatcher) EndReleased(latchesReleased func(command.Command) bool, done func()) {
	d.post(event{kind: eventRelease, latchesReleased: latchesReleased, done: done})
}

// Cancel ends a command that was not sent yet, and reports whether it cancelled it.
func (d *Dispatcher) Cancel(ctx context.Context, id string) bool {
	ended := make(chan bool, 1)
	d.post(event{kind: eventCancel, id: id, ended: ended})
	select {
	case e := <-ended:
		return e
	case <-ctx.Done():
		return false
	}
}

// take handles all events of the mailbox.
func (d *Dispatcher) take(ctx context.Context) {
	d.mu.Lock()
	events := d.events
	d.events = nil
	d.mu.Unlock()
	for _, p := range events {
		now := d.deps.Now()
		switch p.kind {
		case eventBatch:
			d.begin(ctx, now, p.handle)
			d.takeEarly(ctx, now, p.handle)
		case eventAnswer:
			d.answer(ctx, now, p)
		case eventShown:
			if d.isInProgress(p.robot, p.last.ID) {
				d.step(ctx, now, p.last.ID, command.Event{Kind: command.Shown, Last: p.last})
			}
		case eventCancel:
			waits := d.open[p.id] != nil && d.open[p.id].State == command.Queued
			d.step(ctx, now, p.id, command.Event{Kind: command.CancelRequested})
			p.ended <- waits
		case eventRelease:
			d.endReleased(ctx, now, p.latchesReleased)
			p.done()
		case eventReleased:
			d.released = releasedStopsOf(p.released)
			d.endReleased(ctx, now, d.isReleased)
		case eventUnsent:
			d.unsent = append(d.unsent, newUnsent(p.unsent))
		case eventOnline, eventOffline:
			kind := command.RobotOnline
			if p.kind == eventOffline {
				kind = command.RobotOffline
			}
			for _, c := range slices.Clone(d.robots[p.robot]) {
				if p.kind == eventOffline {
					d.pace.landed(c)
				}
				d.step(ctx, now, c.ID, command.Event{Kind: kind})
			}
		}
	}
}

// signal wakes the goroutine that waits at c; it does not block.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
