package sim

import (
	"fmt"
	"strings"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/score"
)

var ledKind = kind{unit: schema.Unit{ID: led, Kind: schema.UnitLED}, pairs: true, shows: "off", start: (*Sim).startLED}

func (s *Sim) startLED(c driver.Command) {
	do, _ := c.Do.Do.(score.LED)
	what := do.Colour
	if do.Pattern != "" {
		what += " " + do.Pattern
	}
	if do.PeriodMS > 0 {
		what += fmt.Sprintf(" every %d ms", do.PeriodMS)
	}
	if do.LED != "" {
		what += " on " + do.LED
	}
	s.setDisplay(s.displays[c.Unit], c, strings.TrimSpace(what))
}
