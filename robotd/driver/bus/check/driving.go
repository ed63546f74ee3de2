package check

import (
	"fmt"
	"math"
	"strings"
	"time"

	"troupe/schema"
	"troupe/schema/bus"
)

func (c *checker) underWay() string {
	if why := c.enable(); why != "" {
		return why
	}
	c.driveOn(0.3, time.Second)
	if !c.isMoving() {
		return "it does not move under a velocity"
	}
	return ""
}

func drivesOn(c *checker) string { return c.underWay() }

func velocityEnds(c *checker) string {
	if why := c.underWay(); why != "" {
		return why
	}
	if !c.until(400*time.Millisecond+c.braking(), func() bool { return !c.isMoving() }) {
		return "it still moves, or is to, after the velocity's time and the time to brake"
	}
	return ""
}

// braking is how long the drive may take to brake, and a little.
func (c *checker) braking() time.Duration {
	u, _, _ := c.drive()
	mps, _ := u.Speeds()
	seconds := 1.0
	if u.BrakingMPS2 > 0 {
		seconds = mps / u.BrakingMPS2
	}
	return time.Duration(seconds*float64(time.Second)) + 300*time.Millisecond
}

// startEndsVelocity starts to stand while a velocity is valid.
func startEndsVelocity(c *checker) string {
	if why := c.underWay(); why != "" {
		return why
	}
	u, _, _ := c.drive()
	limit := int64(60_000)
	do, _ := gentle(u)
	do.EndMS = &limit
	key := c.start(u.ID, true, "", do)
	c.pass(300 * time.Millisecond) // the velocity before is valid for 400 ms
	_, now, _ := c.drive()
	from := math.Abs(value(now.VXMPS))
	c.stop(key)
	if mps, _ := u.Speeds(); from > 0.25*mps {
		return fmt.Sprintf("300 ms after the start of a drive with 0 m/s it did %g m/s", from)
	}
	return ""
}

func clamped(c *checker) string {
	if why := c.enable(); why != "" {
		return why
	}
	u, _, _ := c.drive()
	mps, _ := u.Speeds()
	fastest := 0.0
	for range 50 {
		c.velocity(5, 400*time.Millisecond)
		c.pass(bus.TickEvery)
		_, now, _ := c.drive()
		fastest = max(fastest, math.Abs(value(now.VXMPS)), math.Abs(value(now.SetVXMPS)))
	}
	if why := c.broken["units-of-measure"]; why != "" {
		return why
	}
	if fastest > 1.05*mps {
		return fmt.Sprintf("driven at five times its limit of %g m/s it did %g m/s", mps, fastest)
	}
	return ""
}

func brakes(c *checker) string {
	if why := c.underWay(); why != "" {
		return why
	}
	c.setOrder(bus.OrderStop)
	if !c.until(c.braking(), func() bool { return !c.isMoving() && c.all("idle") }) {
		if c.isMoving() {
			return fmt.Sprintf("%v after the order stop it still moves", c.braking())
		}
		return fmt.Sprintf("%v after the order stop a unit is in %s", c.braking(), c.others("idle"))
	}
	return ""
}

func watchdog(c *checker) string {
	if why := c.underWay(); why != "" {
		return why
	}
	c.velocity(0.3, 400*time.Millisecond)
	c.feeds = false
	fault := ""
	stopped := c.until(bus.Watchdog+100*time.Millisecond, func() bool {
		_, now, _ := c.drive()
		if now.Fault != "" {
			fault = now.Fault
		}
		return now.State == "error" && value(now.SetVXMPS) == 0
	})
	_, now, _ := c.drive()
	switch {
	case !stopped:
		return fmt.Sprintf("300 ms after the last tick the drive is in %s with a set-point of %g m/s", now.State, value(now.SetVXMPS))
	case fault == "":
		return "the drive is in error without a fault"
	case !c.until(c.braking(), func() bool { return !c.isMoving() }):
		return "the drive is in error and does not stand"
	}
	return ""
}

// watchdogEnds tries how a drive gets back into use after its watchdog tripped.
func watchdogEnds(c *checker) string {
	if why := c.underWay(); why != "" {
		return why
	}
	c.feeds = false
	c.pass(bus.Watchdog + c.braking())
	c.feeds = true
	if !c.until(2*time.Second, func() bool { _, now, _ := c.drive(); return now.Fault == "" }) {
		_, now, _ := c.drive()
		return fmt.Sprintf("it stands, and has its fault still: %s", now.Fault)
	}
	c.setOrder(bus.OrderIdle) // a head that stood is in run
	c.pass(100 * time.Millisecond)
	c.setOrder(bus.OrderReset)
	if !c.until(3*time.Second, func() bool { return c.all("idle") }) {
		return "the order reset did not end its error: a unit is in " + c.others("idle")
	}
	return ""
}

func nothingByItself(c *checker) string {
	if why := c.underWay(); why != "" {
		return why
	}
	c.setOrder(bus.OrderError)
	c.pass(time.Second)
	for _, o := range []bus.Order{bus.OrderReset, bus.OrderIdle, bus.OrderRun} {
		c.setOrder(o)
		c.pass(time.Second)
		if c.isMoving() {
			return fmt.Sprintf("under the order %s the drive moves by itself", o)
		}
	}
	return ""
}

// homesInRun looks that a calibration that moves units waits for the permission to move.
func homesInRun(c *checker) string {
	c.key++
	key := c.key
	c.send(bus.InCalibrate, 1, encode(bus.Calibrate{V: bus.Version, Key: key}))
	c.pass(3 * time.Second)
	switch {
	case len(c.answers[key]) > 0:
		return "in idle a calibration of the units " + strings.Join(c.about.Homing, ", ") + " was answered before they were enabled"
	case !c.waited:
		return "in idle a calibration did not report that it waits"
	}
	c.stop(key)
	return ""
}

func calibrates(c *checker) string {
	if why := c.enable(); why != "" {
		return why
	}
	for _, m := range []*bus.Map{nil, {Name: "gone", SHA256: fmt.Sprintf("%064d", 0)}} {
		c.key++
		key := c.key
		c.send(bus.InCalibrate, 1, encode(bus.Calibrate{V: bus.Version, Key: key, Map: m}))
		e, ok := c.answer(key, 60*time.Second)
		switch {
		case !ok:
			return "it did not answer within a minute"
		case e.Kind != bus.CalibrationDone:
			return fmt.Sprintf("it answered with %s", e.Kind)
		case m != nil && e.Map != nil && e.Map.Reason != schema.ReasonBadMap:
			return "a map that is not there was not refused with bad_map"
		}
	}
	return ""
}
