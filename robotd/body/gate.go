package body

import (
	"slices"

	"troupe/robotd/act"
	"troupe/robotd/driver"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/score"
)

// Command is what a unit is to do for an act, or why it may do nothing now. It is the
// last gate before the body. The executor starts nothing that the gate forbids; that it
// holds here too does not depend on that.
func (b *State) Command(at schema.SafetyState, o *act.Effect) (driver.Command, schema.Reason) {
	i := slices.IndexFunc(b.units, func(u schema.Unit) bool { return u.ID == o.Unit })
	class := safety.ClassOf(b.units[i].Kind)
	if shut := safety.Gate(at, class, safety.Act); shut != "" {
		return driver.Command{}, shut
	}
	do := o.Do
	if class == safety.Sounds {
		do = b.atVolume(do)
	}
	return driver.Command{Key: o.Key, Unit: o.Unit, Do: b.located(do), Text: o.Text, Choices: o.Choices, From: o.From, Holds: o.Holds}, ""
}

// atVolume is an action at the robot's volume.
func (b *State) atVolume(do *score.Action) *score.Action {
	if !b.volume.Said {
		return do
	}
	own, v := *do, b.volume.Value
	if own.Volume != nil {
		v *= *own.Volume
	}
	own.Volume = &v
	return &own
}
