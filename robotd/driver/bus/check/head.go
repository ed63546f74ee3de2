package check

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"troupe/schema"
	"troupe/schema/bus"
	"troupe/schema/score"
)

var axes = [3]string{"yaw_rad", "pitch_rad", "roll_rad"}

const (
	turnLimit = int64(5000) // ms for a turn of the check
	nearly    = 0.1         // rad by which a servo may miss an angle
	stands    = 0.05        // rad by which a head that stands may shake
)

func hasHead(c *checker) bool {
	_, ok := c.find(schema.UnitHead)
	return ok
}

// noAngles says why the standstill of a head cannot be checked.
func noAngles(c *checker) string {
	for _, u := range c.about.Units {
		if _, ok := c.axis(u); ok {
			return ""
		}
	}
	return "no head sends its angles (yaw_rad, pitch_rad, roll_rad of its state), so look at it: end robotd while it turns"
}

func reachOf(u schema.Unit) [3]*schema.Range {
	return [3]*schema.Range{u.YawRad, u.PitchRad, u.RollRad}
}

// angle returns where a head says that it is.
func (c *checker) angle(u schema.Unit, axis int) *float64 {
	if c.state == nil {
		return nil
	}
	now := c.state.Units[u.ID]
	return now.Angles()[axis]
}

// axis returns the first axis of a head whose angle it sends.
func (c *checker) axis(u schema.Unit) (int, bool) {
	axis := slices.IndexFunc([]int{0, 1, 2}, func(i int) bool {
		return u.Kind == schema.UnitHead && reachOf(u)[i] != nil && c.angle(u, i) != nil
	})
	return axis, axis >= 0
}

// beyond returns which angle of a head that may move is not within those that it describes.
func (c *checker) beyond(u schema.Unit, now bus.UnitState) string {
	if u.Kind != schema.UnitHead || now.State != "run" || !c.config.Move {
		return ""
	}
	for i, angle := range now.Angles() {
		if reach := reachOf(u)[i]; angle != nil && reach != nil && (*angle < reach.Min-nearly || *angle > reach.Max+nearly) {
			return fmt.Sprintf("%s is at %s %.3g, and describes %g to %g", u.ID, axes[i], *angle, reach.Min, reach.Max)
		}
	}
	return ""
}

// turn starts to turn a head to a share of its reach, 0..1.
func (c *checker) turn(u schema.Unit, axis int, share, speed float64) (key uint64, to float64) {
	limit := turnLimit
	reach := reachOf(u)[axis]
	to = reach.Min + share*(reach.Max-reach.Min)
	do := score.Action{TimeoutMS: &limit, Do: score.Head{Speed: &speed}}
	do.SetNumber(axes[axis], to)
	return c.start(u.ID, true, "", do), to
}

// turns lets each head turn each axis half as far as it describes, and back to the middle.
func turns(c *checker) string {
	if why := c.enable(); why != "" {
		return why
	}
	var wrong []string
	for _, u := range c.about.Units {
		if u.Kind != schema.UnitHead {
			continue
		}
		for axis, reach := range reachOf(u) {
			if reach == nil {
				continue
			}
			for _, share := range []float64{0.25, 0.75, 0.5} {
				key, to := c.turn(u, axis, share, 1)
				why := c.notDone(u.ID, key)
				if why == "" && !c.until(time.Second, func() bool {
					is := c.angle(u, axis)
					return is == nil || math.Abs(*is-to) <= nearly
				}) {
					why = fmt.Sprintf("it answered done and is at %.3g", *c.angle(u, axis))
				}
				if why != "" {
					wrong = append(wrong, fmt.Sprintf("turned to %s %g: %s", axes[axis], to, why))
				}
			}
		}
	}
	return strings.Join(wrong, "; ")
}

func headStops(c *checker) string {
	return c.interrupted("the order stop", func() { c.setOrder(bus.OrderStop) }, "idle")
}

func headWatchdog(c *checker) string {
	return c.interrupted("the last tick", func() { c.feeds = false }, "error")
}

// interrupted does something while a head turns slowly, and returns what is wrong if the head
// turns on or is in another state afterwards.
func (c *checker) interrupted(what string, do func(), want string) string {
	const late = bus.Watchdog + 100*time.Millisecond
	for _, u := range c.about.Units {
		axis, ok := c.axis(u)
		if !ok {
			continue
		}
		c.calm()
		if why := c.enable(); why != "" {
			return why
		}
		key, _ := c.turn(u, axis, 0.25, 1)
		if why := c.notDone(u.ID, key); why != "" {
			return why
		}
		_, to := c.turn(u, axis, 0.75, 0.3)
		c.pass(200 * time.Millisecond)
		reach := reachOf(u)[axis]
		turning := math.Abs(*c.angle(u, axis)-to) > (reach.Max-reach.Min)/4
		do()
		c.pass(late)
		if now := c.state.Units[u.ID]; turning && now.State != want {
			return fmt.Sprintf("%v after %s %s is in %s, want %s", late, what, u.ID, now.State, want)
		}
		c.pass(late) // a servo needs a little to come to rest
		from := *c.angle(u, axis)
		c.pass(time.Second)
		if is := *c.angle(u, axis); math.Abs(is-from) > stands {
			return fmt.Sprintf("%s turned on after %s, from %s %.3g to %.3g", u.ID, what, axes[axis], from, is)
		}
	}
	return ""
}
