package dispatch

import (
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
)

// answersLive reports whether a robot's answer to a live stop says the same as the one to the command. To a soft stop it does not: the
// robot answers the command when the shutdown act has ended.
func answersLive(id string) bool { return id == "safety/stop" || id == "safety/halt" }

// liveStopped returns the command in progress that stands for the live stop with that id; nil = none.
func (d *Dispatcher) liveStopped(robot, id string) *activeCommand {
	for _, c := range d.robots[robot] {
		if c.class == verb.ClassStop && c.handle.live != "" && c.handle.live == id {
			return c
		}
	}
	return nil
}

// awaitsLive reports whether a command is not sent yet because answers to its live stop still come.
func (c *activeCommand) awaitsLive(now time.Time) bool {
	return c.handle.live != "" && now.Sub(c.handle.answeredAt) < answersFlow && now.Sub(c.CreatedAt) < commandsAfter
}
