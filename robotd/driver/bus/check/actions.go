package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"troupe/schema"
	"troupe/schema/bus"
	"troupe/schema/score"
)

// gentle is an action that moves a unit as little as possible; holds: it takes its time.
func gentle(u schema.Unit) (do score.Action, holds bool) {
	do = score.KindOf(u.Kind).Gentle(&u)
	return do, do.EndMS != nil || do.TimeoutMS != nil
}

// startGently starts a gentle action.
func (c *checker) startGently(u schema.Unit, text string) (key uint64) {
	do, holds := gentle(u)
	return c.start(u.ID, holds, text, do)
}

// carriesOut lets every unit do something harmless.
func carriesOut(c *checker) string {
	var wrong []string
	for _, u := range c.about.Units {
		if !isShown(u) {
			continue
		}
		if why := c.notDone(u.ID, c.startGently(u, "one")); why != "" {
			wrong = append(wrong, why)
		}
	}
	return strings.Join(wrong, "; ")
}

// notDone waits for the answer to a start. It returns why the start was not done.
func (c *checker) notDone(unit string, key uint64) string {
	e, ok := c.answer(key, answerLimit)
	switch {
	case !ok:
		return fmt.Sprintf("%s did not answer within %v", unit, answerLimit)
	case e.Kind != bus.Done:
		return fmt.Sprintf("%s failed: %s, %s", unit, e.Reason, e.Detail)
	}
	return ""
}

// find returns the first unit of a kind.
func (c *checker) find(kind schema.UnitKind) (schema.Unit, bool) {
	i := slices.IndexFunc(c.about.Units, func(u schema.Unit) bool { return u.Kind == kind })
	if i < 0 {
		return schema.Unit{}, false
	}
	return c.about.Units[i], true
}

// A robot lets its leds breathe between acts, without a colour.
func ledWithoutColour(c *checker) string {
	u, _ := c.find(schema.UnitLED)
	return c.notDone(u.ID, c.start(u.ID, false, "", score.Action{Do: score.LED{Pattern: "breathe", PeriodMS: 4000}}))
}

func hasLED(c *checker) bool {
	_, ok := c.find(schema.UnitLED)
	return ok
}

// long is a text that takes seconds to say.
const long = "one two three four five six seven eight nine ten"

func soundBesideSpeech(c *checker) string {
	u, _ := c.find(schema.UnitSpeaker)
	limit := int64(5000)
	speech := c.startGently(u, long)
	c.pass(300 * time.Millisecond)
	sound := c.start(u.ID, true, "", score.Action{TimeoutMS: &limit, Do: score.Sound{Sound: u.Sounds[0]}})
	if why := c.notDone("the speech", speech); why != "" {
		return fmt.Sprintf("when the sound %s began, %s", u.Sounds[0], why)
	}
	c.stop(sound)
	return ""
}

func speaks(c *checker) bool {
	_, ok := c.find(schema.UnitSpeaker)
	return ok
}

func speaksAndPlays(c *checker) bool {
	u, _ := c.find(schema.UnitSpeaker)
	return len(u.Sounds) > 0
}

func supersedes(c *checker) string {
	u, _ := c.find(schema.UnitSpeaker)
	first := c.startGently(u, long)
	c.pass(100 * time.Millisecond)
	second := c.startGently(u, "one")
	e, ok := c.answer(first, time.Second)
	if why := c.notDone("the newer start", second); why != "" {
		return why
	}
	if !ok {
		return "the speech that a newer one took the place of was not answered within 1s; want failed with the reason superseded"
	}
	if e.Kind != bus.Failed || e.Reason != schema.ReasonSuperseded {
		return fmt.Sprintf("the speech that a newer one took the place of was answered with %q %q", e.Kind, e.Reason)
	}
	return ""
}

// unknownFields sends a start as a robotd of a later release may.
func unknownFields(c *checker) string {
	u, _ := c.quick()
	do, holds := gentle(u)
	c.key++
	payload := encode(bus.Start{V: bus.Version, Key: c.key, Unit: u.ID, Holds: holds, Text: "one", Do: &do})
	c.send(bus.InStart, 1, append([]byte(`{"of_a_later_release":true,`), payload[1:]...))
	return c.notDone(u.ID, c.key)
}

// isShown reports whether a unit speaks or shows something.
func isShown(u schema.Unit) bool { return score.KindOf(u.Kind).Gentle != nil && !u.Kind.Moves() }

// quick returns the first unit that speaks or shows something.
func (c *checker) quick() (schema.Unit, bool) {
	i := slices.IndexFunc(c.about.Units, isShown)
	if i < 0 {
		return schema.Unit{}, false
	}
	return c.about.Units[i], true
}

func shows(c *checker) bool {
	_, ok := c.quick()
	return ok
}

func answersOnce(c *checker) string {
	u, _ := c.quick()
	do, holds := gentle(u)
	key := c.start(u.ID, holds, "one", do)
	c.sendStart(key, u.ID, holds, "one", do)
	c.answer(key, answerLimit)
	c.pass(time.Second)
	if n := len(c.answers[key]); n != 1 {
		return fmt.Sprintf("a start that came twice was answered %d times", n)
	}
	return ""
}

func refuses(c *checker) string {
	if hasMovingUnit(c) {
		if why := c.enable(); why != "" {
			return why
		}
	}
	var wrong []string
	for _, u := range c.about.Units {
		impossible := score.KindOf(u.Kind).Impossible
		if impossible == nil {
			continue
		}
		for _, do := range impossible(&u) {
			e, ok := c.answer(c.start(u.ID, do.TimeoutMS != nil, "one", do), answerLimit)
			switch {
			case !ok:
				wrong = append(wrong, fmt.Sprintf("%s did not answer a %s that it cannot do (%s)", u.ID, do.Type(), nameIn(do)))
			case e.Kind != bus.Failed || e.Reason == "" || e.Detail == "":
				wrong = append(wrong, fmt.Sprintf("%s answered a %s that it cannot do (%s) with %q, reason %q and detail %q", u.ID, do.Type(),
					nameIn(do), e.Kind, e.Reason, e.Detail))
			}
		}
	}
	return strings.Join(wrong, "; ")
}

// nameIn returns the name of what an action shows or plays; empty if it names nothing.
func nameIn(do score.Action) string {
	switch do := do.Do.(type) {
	case score.Face:
		return do.Face
	case score.Sound:
		return do.Sound
	case score.Screen:
		return do.View
	}
	return ""
}

func notAnswered(c *checker) string {
	u, _ := c.quick()
	do, _ := gentle(u)
	key := c.start(u.ID, true, long, do)
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
	if hasMovingUnit(c) && !c.all("idle") {
		return "after a message that is no JSON a unit is in " + c.others("idle")
	}
	return ""
}
