package check

import (
	"fmt"
	"strings"
	"time"

	"troupe/schema"
	"troupe/schema/bus"
)

func sendsStates(c *checker) string {
	if !c.until(answerLimit, func() bool { return c.state != nil }) {
		return fmt.Sprintf("no usable state came within %v", answerLimit)
	}
	from := c.state.Seq
	c.pass(2 * time.Second)
	want := 2000 / c.about.StateMS
	if got := c.state.Seq - from; got < want/2 {
		return fmt.Sprintf("%d states came in 2 s, want %d", got, want)
	}
	return ""
}

func waitsIdle(c *checker) string {
	c.pass(200 * time.Millisecond)
	if !c.all("idle") {
		return "without an order a unit is in " + c.others("idle")
	}
	return ""
}

func refusesDisabled(c *checker) string {
	if hasDrive(c) {
		c.velocity(0.5, 400*time.Millisecond)
	}
	var wrong []string
	for _, u := range c.about.Units {
		if !u.Kind.Moves() {
			continue
		}
		e, ok := c.answer(c.startGently(u, ""), answerLimit)
		switch {
		case !ok:
			wrong = append(wrong, fmt.Sprintf("in idle a start for %s was not answered within %v", u.ID, answerLimit))
		case e.Kind != bus.Failed || e.Reason != schema.ReasonSafetyDisabled:
			wrong = append(wrong, fmt.Sprintf("in idle a start for %s was answered with %q %q", u.ID, e.Kind, e.Reason))
		}
	}
	if c.isMoving() {
		wrong = append(wrong, "the drive moves in idle")
	}
	return strings.Join(wrong, "; ")
}

// staysInForce leaves out ticks while nothing moves: the watchdog trips only for a unit that moves.
func staysInForce(c *checker) string {
	if why := c.enable(); why != "" {
		return why
	}
	c.feeds = false
	c.pass(5 * bus.Watchdog)
	was := c.others("run")
	c.feeds = true
	if was != "" {
		return fmt.Sprintf("it stood still without ticks for %v, and a unit is in %s", 5*bus.Watchdog, was)
	}
	return ""
}

func obeysOrders(c *checker) string {
	for _, step := range []struct {
		order bus.Order
		want  string
	}{
		{bus.OrderRun, "run"}, {bus.OrderStop, "idle"}, {bus.OrderRun, "run"}, {bus.OrderIdle, "idle"},
		{bus.OrderRun, "run"}, {bus.OrderError, "error"}, {bus.OrderReset, "idle"}, {bus.OrderError, "error"}, {bus.OrderReset, "idle"},
		{bus.OrderRun, "run"}, {bus.OrderHalt, "error"}, {bus.OrderReset, "idle"},
	} {
		c.setOrder(step.order)
		if !c.until(3*time.Second, func() bool { return c.all(step.want) }) {
			return fmt.Sprintf("the order %s did not lead to %s: a unit is in %s", step.order, step.want, c.others(step.want))
		}
		c.pass(400 * time.Millisecond)
	}
	return ""
}

func unknownOrder(c *checker) string {
	if why := c.enable(); why != "" {
		return why
	}
	c.setOrder("dance")
	if !c.until(time.Second, func() bool { return c.all("error") }) {
		return "under an unknown order a unit is in " + c.others("error")
	}
	return ""
}

func errorStays(c *checker) string {
	c.setOrder(bus.OrderError)
	c.until(time.Second, func() bool { return c.all("error") })
	for _, o := range []bus.Order{bus.OrderRun, bus.OrderIdle, bus.OrderStop, bus.OrderRun} {
		c.setOrder(o)
		if c.pass(500 * time.Millisecond); !c.all("error") {
			return fmt.Sprintf("the order %s led out of error to %s", o, c.others("error"))
		}
	}
	return ""
}

func robotdGone(c *checker) string {
	if why := c.enable(); why != "" {
		return why
	}
	c.feeds = false
	c.publishPresence(c.gone(c.link.Session()))
	gone := c.until(bus.Watchdog+100*time.Millisecond, func() bool { return c.all("error") })
	was := c.others("error")
	c.publishPresence(c.presence(c.link.Session()))
	c.setOrder(bus.OrderIdle)
	c.pass(100 * time.Millisecond)
	if !gone {
		return "robotd was gone, and a unit was in " + was
	}
	return ""
}
