package robot

import (
	"context"
	"sync"
	"time"

	"troupe/robotd/page"
	"troupe/schema"
)

// pageRobot is the robot for its page from the start of robotd on. While the body is not there it
// has no loop: the page says what the robot waits for, and a stop is latched on the disk, so
// that it is in force when the loop begins, or after the next start.
type pageRobot struct {
	// latch latches a stop on the disk and in the memory that the robot begins with, and
	// returns all that are latched.
	latch func(id, why string) ([]schema.StopLatch, error)

	mu      sync.Mutex
	waiting page.Waiting
	begun   bool // robotd goes on from the memory: a stop has to reach the loop
	ready   chan struct{}
	robot   page.Robot // once ready is closed
}

func newPageRobot(bus string, latch func(id, why string) ([]schema.StopLatch, error)) *pageRobot {
	return &pageRobot{latch: latch, waiting: page.Waiting{On: bus, Since: time.Now()}, ready: make(chan struct{})}
}

// waits takes what the body waits for.
func (d *pageRobot) waits(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting.For = what
}

// begin ends the waiting: what is pressed from now on waits for the robot's loop.
func (d *pageRobot) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.begun = true
}

// open hands the page to the robot, whose loop begins.
func (d *pageRobot) open(robot page.Robot) {
	d.robot = robot
	close(d.ready)
}

// awaitRobot returns the robot if its loop comes in time.
func (d *pageRobot) awaitRobot(ctx context.Context) (page.Robot, error) {
	ctx, cancel := context.WithTimeout(ctx, viewWithin)
	defer cancel()
	select {
	case <-d.ready:
		return d.robot, nil
	case <-ctx.Done():
		return nil, page.ErrSilent
	}
}

// stillWaiting reports what the page shows while there is no loop.
func (d *pageRobot) stillWaiting() (page.Waiting, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.waiting, !d.begun
}

// View implements page.Robot.
func (d *pageRobot) View(ctx context.Context) (page.View, error) {
	if waiting, is := d.stillWaiting(); is {
		return page.View{Waiting: &waiting}, nil
	}
	robot, err := d.awaitRobot(ctx)
	if err != nil {
		return page.View{}, err
	}
	return robot.View(ctx)
}

// Ask implements page.Robot.
func (d *pageRobot) Ask(ctx context.Context, verb string, args any) (schema.Ack, error) {
	if ack, done := d.askWaiting(verb, args); done {
		return ack, nil
	}
	robot, err := d.awaitRobot(ctx)
	if err != nil {
		return schema.Ack{}, err
	}
	return robot.Ask(ctx, verb, args)
}

// askWaiting answers while there is no loop.
func (d *pageRobot) askWaiting(verb string, args any) (ack schema.Ack, done bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch given, _ := args.(map[string]any); {
	case d.begun:
		return ack, false
	case verb != "safety/stop":
		return schema.Ack{Status: schema.StatusRejected, Reason: schema.ReasonPrecondition,
			Detail: "the robot waits for its body; until then it takes a stop only"}, true
	default:
		id, _ := given["latch"].(string)
		why, _ := given["why"].(string)
		latched, err := d.latch(id, why)
		d.waiting.Latches = latched
		ack.Status = schema.StatusSucceeded
		if err != nil {
			ack.Reason, ack.Detail = schema.ReasonNotPersisted,
				"the robot is stopped, but its disk does not have the latched stop: a restart of robotd would lose it"
		}
		return ack, true
	}
}

// ReleaseStops implements page.Robot. A robot that waits for its body releases nothing.
func (d *pageRobot) ReleaseStops(ctx context.Context) error {
	robot, err := d.awaitRobot(ctx)
	if err != nil {
		return err
	}
	return robot.ReleaseStops(ctx)
}

// Heartbeat implements page.Robot.
func (d *pageRobot) Heartbeat(ctx context.Context) {
	select {
	case <-d.ready:
		d.robot.Heartbeat(ctx)
	default: // no mode misses heartbeats yet
	}
}
