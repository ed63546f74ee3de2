package dispatch

import (
	"context"
	"time"

	"troupe/schema/verb"
)

// A stop of many robots goes out as one live stop, which the broker multiplies, and as a command to each. Robots answer both, and the
// answer to the live stop says all that a person waits for. So in a large fleet the command goes only to those that have not
// answered the live stop: answers come sooner if there are fewer messages.

const (
	// answersFlow is how long after the newest answer to a live stop others are still expected: commands would only delay them.
	answersFlow = 500 * time.Millisecond
	// commandsAfter is when those who have not answered by then get the command, even if others still answer. They have been sent the stop's
	// document meanwhile, too: on two cores ten thousand robots take 15 s to answer, and a command to each made that 30 s.
	commandsAfter = 20 * time.Second
	// earlyFor is how long answers to a live stop are kept whose commands have not come.
	earlyFor = 5 * time.Second
)

// earlyAnswers are answers to live stops whose commands are still being made: the live stop goes first, and robots answer it meanwhile.
type earlyAnswers struct {
	answers []event
	since   time.Time // when the first of them came
}

// answersLive reports whether a robot's answer to a live stop says the same as the one to the command. To a soft stop it does not: the
// robot answers the command when the shutdown act has ended.
func answersLive(id string) bool { return id == "safety/stop" || id == "safety/halt" }

// liveStopped returns the command in progress that stands for the live stop with that id; nil = none.
func (d *Dispatcher) liveStopped(robot, id string) *activeCommand {
	for _, c := range d.robots[robot] {
		if c.handle.live != "" && c.handle.live == id {
			return c
		}
	}
	return nil
}

// awaitsLive reports whether a command is not sent yet because answers to its live stop still come.
func (c *activeCommand) awaitsLive(now time.Time) bool {
	return c.handle.live != "" && now.Sub(c.handle.answeredAt) < answersFlow && now.Sub(c.CreatedAt) < commandsAfter
}

// keepEarly keeps an answer whose command is not known if it is one to a live stop.
func (d *Dispatcher) keepEarly(now time.Time, p event) {
	if p.ack.Verb != verb.LiveStop {
		return
	}
	if len(d.early.answers) == 0 {
		d.early.since = now
	}
	d.early.answers = append(d.early.answers, p)
}

// takeEarly applies the answers that came before the commands of a batch.
func (d *Dispatcher) takeEarly(ctx context.Context, now time.Time, t *Handle) {
	if t.live == "" {
		return
	}
	early := d.early.answers
	d.early = earlyAnswers{}
	for _, p := range early {
		d.answer(ctx, now, p)
	}
}

// forgetEarly drops answers for which no command came.
func (d *Dispatcher) forgetEarly(now time.Time) {
	if len(d.early.answers) > 0 && now.Sub(d.early.since) >= earlyFor {
		d.early = earlyAnswers{}
	}
}
