package check

import (
	"fmt"
	"math"
	"time"

	"troupe/schema"
	"troupe/schema/bus"
	"troupe/schema/score"
)

// rule is one rule of the contract. Those without try are watched while the others are
// tried.
type rule struct {
	name    string
	says    string
	moves   bool // it makes units move
	applies func(c *checker) bool
	try     func(c *checker) string // returns what breaks it
}

// rules are all rules, in the order in which they are tried.
var rules = []rule{
	{name: "contract", says: "every message is JSON as the contract has it"},
	{name: "units-of-measure", says: "every number is in its unit of measure"},
	{name: "session", says: "everything has the session of the presence"},
	{name: "states", says: "a state comes every state_ms, whatever happens", try: sendsStates},
	{name: "time", says: "seq and t_ms never go back"},
	{name: "rate", says: "at most 500 messages come in a second"},
	{name: "permission", says: "nothing moves unless its unit is in run, and only reset ends error", applies: moves},
	{name: "starts-idle", says: "a unit that moves waits in idle", applies: moves, try: waitsIdle},
	{name: "disabled", says: "a start for a unit that is not in run fails with safety_disabled, and a velocity is ignored", applies: moves, try: refusesDisabled},
	{name: "orders", says: "run enables, stop and idle lead to idle, halt and error to error, reset to idle", applies: moves, try: obeysOrders},
	{name: "unknown-order", says: "an unknown order grants no permission", applies: moves, try: unknownOrder},
	{name: "error-stays", says: "only reset ends error", applies: moves, try: errorStays},
	{name: "robotd-gone", says: "when robotd is gone, what is in run is in error at once", applies: moves, try: robotdGone},
	{name: "actions", says: "every unit carries out an action and answers done", applies: shows, try: carriesOut},
	{name: "answers-once", says: "each start is answered once, also if it comes twice", applies: shows, try: answersOnce},
	{name: "refuses", says: "what a unit cannot do is refused with a reason and a sentence", try: refuses},
	{name: "stopped", says: "a start that was stopped is not answered", applies: shows, try: notAnswered},
	{name: "garbage", says: "a message that is no JSON changes nothing", try: garbage},
	{name: "drives", says: "a velocity moves the drive", moves: true, applies: drives, try: drivesOn},
	{name: "ttl", says: "a velocity ends after its ttl_ms", moves: true, applies: drives, try: velocityEnds},
	{name: "clamped", says: "a velocity beyond the limits is clamped", moves: true, applies: drives, try: clamped},
	{name: "brakes", says: "the order stop brakes to standstill", moves: true, applies: drives, try: brakes},
	{name: "dead-man", says: "a drive that moves and gets no tick for 200 ms stops by itself, in error with a fault", moves: true, applies: drives, try: deadMan},
	{name: "nothing-by-itself", says: "after reset and run nothing moves by itself", moves: true, applies: drives, try: nothingByItself},
	{name: "calibrates", says: "a calibration is answered once, and a map that is not there with bad_map", moves: true, applies: func(c *checker) bool { return c.about.Calibrates }, try: calibrates},
}

func moves(c *checker) bool {
	for _, u := range c.about.Units {
		if u.Kind.Moves() {
			return true
		}
	}
	return false
}

func drives(c *checker) bool {
	for _, u := range c.about.Units {
		if u.Kind == schema.UnitDrive {
			return true
		}
	}
	return false
}

func sendsStates(c *checker) string {
	c.pass(time.Second)
	if c.state == nil {
		return "no usable state came within a second"
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
	if drives(c) {
		c.velocity(0.5, 400*time.Millisecond)
	}
	for _, u := range c.about.Units {
		if !u.Kind.Moves() {
			continue
		}
		e, ok := c.answer(c.start(u.ID, true, "", gentle(u)), time.Second)
		if !ok || e.Kind != bus.Failed || e.Reason != schema.ReasonSafetyDisabled {
			return fmt.Sprintf("in idle a start for %s was answered with %q %q", u.ID, e.Kind, e.Reason)
		}
	}
	if c.moves() {
		return "the drive moves in idle"
	}
	return ""
}

// gentle is an action that moves a unit as little as possible.
func gentle(u schema.Unit) score.Action {
	limit, zero := int64(5000), 0.0
	switch u.Kind {
	case schema.UnitHead:
		return score.Action{Type: score.TypeHead, YawRad: &zero, TimeoutMS: &limit}
	case schema.UnitDrive:
		return score.Action{Type: score.TypeDrive, VXMPS: &zero, WZRadPS: &zero, EndMS: &limit}
	case schema.UnitSpeaker:
		return score.Action{Type: score.TypeSay, Text: score.Text{"en": "one"}, TimeoutMS: &limit}
	case schema.UnitFace:
		return score.Action{Type: score.TypeFace, Face: append(u.Faces, "smile")[0]}
	case schema.UnitScreen:
		if len(u.Views) > 0 {
			return score.Action{Type: score.TypeScreen, View: u.Views[0]}
		}
		return score.Action{Type: score.TypeScreen, Text: score.Text{"en": "one"}}
	}
	return score.Action{Type: score.TypeLED, Colour: "#102030"}
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
	gone := c.until(bus.DeadMan+100*time.Millisecond, func() bool { return c.all("error") })
	was := c.others("error")
	c.publishPresence(c.presence(c.link.Session()))
	c.setOrder(bus.OrderIdle)
	c.pass(100 * time.Millisecond)
	if !gone {
		return "robotd was gone, and a unit was in " + was
	}
	return ""
}

// carriesOut lets every unit do something harmless.
func carriesOut(c *checker) string {
	if moves(c) {
		if why := c.enable(); why != "" {
			return why
		}
	}
	for _, u := range c.about.Units {
		if u.Kind == schema.UnitBattery || u.Kind == schema.UnitSensor || u.Kind == schema.UnitDrive || u.Kind.Moves() && !c.config.Move {
			continue
		}
		holds := u.Kind == schema.UnitSpeaker || u.Kind == schema.UnitHead
		e, ok := c.answer(c.start(u.ID, holds, "one", gentle(u)), answerLimit)
		switch {
		case !ok:
			return fmt.Sprintf("%s did not answer within %v", u.ID, answerLimit)
		case e.Kind != bus.Done:
			return fmt.Sprintf("%s failed: %s, %s", u.ID, e.Reason, e.Detail)
		}
	}
	return ""
}

// quick returns the first unit that speaks or shows something.
func (c *checker) quick() (schema.Unit, bool) {
	for _, u := range c.about.Units {
		switch u.Kind {
		case schema.UnitSpeaker, schema.UnitFace, schema.UnitLED, schema.UnitScreen:
			return u, true
		}
	}
	return schema.Unit{}, false
}

func shows(c *checker) bool {
	_, ok := c.quick()
	return ok
}

func answersOnce(c *checker) string {
	u, _ := c.quick()
	holds := u.Kind == schema.UnitSpeaker
	key := c.start(u.ID, holds, "one", gentle(u))
	c.restart(key, u.ID, holds, "one", gentle(u))
	c.answer(key, answerLimit)
	c.pass(time.Second)
	if n := len(c.answers[key]); n != 1 {
		return fmt.Sprintf("a start that came twice was answered %d times", n)
	}
	return ""
}

func refuses(c *checker) string {
	if moves(c) {
		if why := c.enable(); why != "" {
			return why
		}
	}
	limit := int64(2000)
	for _, u := range c.about.Units {
		var bad []score.Action
		switch {
		case u.Kind == schema.UnitBattery || u.Kind == schema.UnitSensor:
			continue
		case u.Kind == schema.UnitSpeaker:
			bad = append(bad, score.Action{Type: score.TypeFace, Face: "smile"})
		case u.Kind.Moves():
			bad = append(bad, score.Action{Type: score.TypeSay, Text: score.Text{"en": "one"}, TimeoutMS: &limit})
		}
		if len(u.Faces) > 0 {
			bad = append(bad, score.Action{Type: score.TypeFace, Face: "no-such-face"})
		}
		if len(u.Sounds) > 0 {
			bad = append(bad, score.Action{Type: score.TypeSound, Sound: "no-such-sound", TimeoutMS: &limit})
		}
		if len(u.Views) > 0 {
			bad = append(bad, score.Action{Type: score.TypeScreen, View: "no-such-view"})
		}
		if u.YawRad != nil && u.Kind == schema.UnitHead {
			beyond := u.YawRad.Max + 1
			bad = append(bad, score.Action{Type: score.TypeHead, YawRad: &beyond, TimeoutMS: &limit})
		}
		for _, do := range bad {
			e, ok := c.answer(c.start(u.ID, do.TimeoutMS != nil, "one", do), 2*time.Second)
			if !ok || e.Kind != bus.Failed {
				return fmt.Sprintf("%s answered a %s that it cannot do (%s%s%s) with %q", u.ID, do.Type, do.Face, do.Sound, do.View, e.Kind)
			}
		}
	}
	return ""
}

func notAnswered(c *checker) string {
	u, _ := c.quick()
	key := c.start(u.ID, true, "one two three four five six seven eight nine ten", gentle(u))
	c.pass(100 * time.Millisecond)
	if len(c.answers[key]) > 0 {
		return fmt.Sprintf("%s answered a start that holds at once", u.ID)
	}
	c.stopped[key] = true
	c.stop(key)
	c.stop(99_999)
	c.pass(6 * time.Second)
	return c.broken["stopped"]
}

func garbage(c *checker) string {
	for _, what := range []string{bus.InTick, bus.InStart, bus.InStop, bus.InVelocity} {
		c.send(what, 0, []byte(`{"v":1,`))
		c.send(what, 0, []byte(`[]`))
	}
	from := c.state
	c.pass(500 * time.Millisecond)
	if c.state == from {
		return "no state came after a message that is no JSON"
	}
	if moves(c) && !c.all("idle") {
		return "after a message that is no JSON a unit is in " + c.others("idle")
	}
	return ""
}

func (c *checker) underWay() string {
	if why := c.enable(); why != "" {
		return why
	}
	c.driveOn(0.3, time.Second)
	if !c.moves() {
		return "it does not move under a velocity"
	}
	return ""
}

func drivesOn(c *checker) string { return c.underWay() }

func velocityEnds(c *checker) string {
	if why := c.underWay(); why != "" {
		return why
	}
	if !c.until(400*time.Millisecond+c.braking(), func() bool { return !c.moves() }) {
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
	if !c.until(c.braking(), func() bool { return !c.moves() && c.all("idle") }) {
		return fmt.Sprintf("%v after the order stop it still moves, or a unit is in %s", c.braking(), c.others("idle"))
	}
	return ""
}

func deadMan(c *checker) string {
	if why := c.underWay(); why != "" {
		return why
	}
	c.velocity(0.3, 400*time.Millisecond)
	c.feeds = false
	fault := ""
	stopped := c.until(bus.DeadMan+100*time.Millisecond, func() bool {
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
	case !c.until(c.braking(), func() bool { return !c.moves() }):
		return "the drive is in error and does not stand"
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
		if c.moves() {
			return fmt.Sprintf("under the order %s the drive moves by itself", o)
		}
	}
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
