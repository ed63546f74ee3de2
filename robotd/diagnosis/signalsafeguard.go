package diagnosis

import (
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/schema"
)

// stillFor is how long the robot waits after a push, a lift or a fall before it moves.
const stillFor = 3 * time.Second

// signalSafeguards are the safeguards that keep the robot still while a signal of the body is on, and
// stillFor after it.
var signalSafeguards = [...]struct {
	signal driver.Signal
	name   schema.Safeguard
	level  schema.AlertLevel
	detail string
	hint   string
}{
	{driver.Push, schema.SafeguardPushed, schema.AlertInfo, "somebody pushes the robot", "it goes on by itself 3 s after they let go"},
	{driver.Lift, schema.SafeguardMoved, schema.AlertInfo, "somebody lifts or rolls the robot",
		"it goes on by itself 3 s after it stands again"},
	{driver.Fall, schema.SafeguardFell, schema.AlertError, "the robot has fallen, or is about to fall",
		"set it upright when nobody is in its way: it goes on by itself 3 s after its body reports the fall no more"},
}

// signalSafeguard is the state of one of signalSafeguards.
type signalSafeguard struct {
	on     bool          // the signal
	until  time.Duration // end of the wait after it
	active bool          // it keeps the robot from moving
	shown  bool          // its alert is raised
}

// sense notes a signal; a signal that ends begins the wait.
func (g *signalSafeguard) sense(now time.Duration, on bool) {
	if g.on && !on {
		g.until = now + stillFor
	}
	g.on = on
}

// show raises and clears the alert of a safeguard.
func (g *signalSafeguard) show(i int, out *effect.List) {
	if g.active == g.shown {
		return
	}
	g.shown = g.active
	row := signalSafeguards[i]
	if !g.active {
		out.LogTransition("safeguard", "on", "off", "its cause has been gone for a while", string(row.name))
		out.Clear(string(schema.ReasonSafeguard), string(row.name))
		return
	}
	out.LogTransition("safeguard", "off", "on", row.detail, string(row.name))
	out.Raise(string(schema.ReasonSafeguard), row.level, string(row.name), row.detail, row.hint)
}
