package check

import (
	"fmt"
	"time"

	"troupe/schema"
	"troupe/schema/bus"
	"troupe/schema/score"
)

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
