package body

import (
	"slices"

	"troupe/robotd/act"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/score"
)

// Command is what a unit is to do for an act, or why it may do nothing now. It is the
// last gate before the body: no command passes that the safety state forbids to its issuer,
// and no number that is beyond the limits of the unit. The executor starts nothing that the
// gate forbids; that it holds here too does not depend on that.
func (b *State) Command(still safety.Standstill, by safety.Issuer, o *act.Effect,
	out *effect.List) (_ driver.Command, why schema.Reason, detail string) {
	i := slices.IndexFunc(b.units, func(u schema.Unit) bool { return u.ID == o.Unit })
	class := safety.ClassOf(b.units[i].Kind)
	if shut := safety.Gate(still.At, class, by); shut != "" {
		return driver.Command{}, shut, still.Refusal(o.Unit, class)
	}
	do := o.Do
	if b.units[i].HasVolume() {
		do = b.atVolume(do)
	}
	do, waits := b.located(do)
	if waits != "" {
		return driver.Command{}, schema.ReasonNotCalibrated, waits
	}
	do, bad := b.within(do, i, out)
	if bad != "" {
		return driver.Command{}, schema.ReasonOutOfRange, bad
	}
	c := driver.Command{Key: o.Key, Unit: o.Unit, Do: do, Text: o.Text, Choices: o.Choices, From: o.From, Holds: o.Holds}
	b.started(i, &c)
	return c, "", ""
}

// atVolume is an action at the robot's volume.
func (b *State) atVolume(do *score.Action) *score.Action {
	if !b.volume.Given {
		return do
	}
	own, v := *do, b.volume.Value
	for n := range do.Numbers() {
		if n.Name == "volume" {
			v *= n.Value
		}
	}
	own.SetNumber("volume", v)
	return &own
}
