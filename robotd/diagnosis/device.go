package diagnosis

import (
	"time"

	"troupe/schema"
)

// lateTimes is the number of commands in a row that ended by their time-out after which a unit
// is shown as late. The unit stays in use: it may hang, or the time-outs are too short for it.
const lateTimes = 3

// device is the health of one unit.
type device struct {
	unit  schema.Unit
	phase Phase
	since schema.Time

	reported    bool   // its driver has reported it
	silent      bool   // it had not reported when it had to
	broken      string // what its driver says
	lost        bool   // broken is about the connection to the unit; nothing is known of the unit itself
	calibration string // why its calibration failed
	unanswered  bool   // a command was not answered in time
	key         uint64 // of the oldest command without an answer; 0 = none
	asked       time.Duration
	until       time.Duration // the time-out of that command; 0 = it takes no time
	late        int           // how many commands in a row were ended by their time-out
	heat        heat

	damage      string // what damaged it, until that is acknowledged
	savedDamage string // the damage on the disk
	heatSaved   bool   // the disk has its heat
	shown       shown
}

// shown is what is reported of a device.
type shown struct {
	phase Phase
	heat  schema.Heat
	fault string
	late  bool
	lost  bool
}

// fault is what is wrong with a unit, its heat aside.
func (d *device) fault() string {
	switch {
	case d.broken != "":
		return d.broken
	case d.silent:
		return "it has reported no state"
	case d.unanswered:
		return "it has not answered a command"
	}
	return d.calibration
}

// isUnknown reports whether nothing is known of the unit itself.
func (d *device) isUnknown() bool { return d.silent || d.lost }

func (d *device) finding(of schema.DeviceSeverity) Event {
	fault, hot := d.fault() != "", heats[d.heat.level]
	switch {
	case of == schema.SeverityCritical && fault && !d.isUnknown():
		return FoundDamage
	case of == schema.SeverityCritical && fault || d.restsByHeat(of):
		return FoundUnusable
	case of != schema.SeverityNegligible && (fault || hot == schema.HeatHot || hot == schema.HeatCritical):
		return FoundSerious
	case fault || hot != schema.HeatNormal || d.isLate():
		return FoundMinor
	}
	return FoundNothing
}

// isUnanswered reports whether the fault of the unit is that it has not answered.
func (d *device) isUnanswered() bool { return d.unanswered && d.broken == "" && !d.silent }

// isUnmeasured reports whether only the heat of before the restart is wrong with the unit.
func (d *device) isUnmeasured() bool { return d.fault() == "" && d.heat.level > 0 && !d.heat.known }

// isLate reports whether the unit has not finished its last commands in their time.
func (d *device) isLate() bool { return d.late >= lateTimes }

// current returns what has to be reported of the unit now.
func (d *device) current() shown {
	return shown{d.phase, d.heat.reported(), d.fault(), d.isLate(), d.lost}
}

// transition changes the phase if the table has a row for the event, and reports whether it has.
func (d *device) transition(on Event, now schema.Time) bool {
	row, ok := Table.Next(d.phase, on)
	if !ok {
		return false
	}
	d.phase, d.since = row.To, now
	switch row.To {
	case Damaged:
		d.damage = d.fault()
	case Normal:
		d.damage = ""
	}
	return true
}

// rests reports whether a unit in this phase keeps the robot at rest.
func (p Phase) rests() bool { return p == Resting || p == Damaged || p == Repaired }

// restsByHeat reports whether a unit of this severity keeps the robot at rest by its heat.
func (d *device) restsByHeat(of schema.DeviceSeverity) bool {
	return of == schema.SeverityCritical && heats[d.heat.level] == schema.HeatCritical
}

func (d *device) disabled() bool { return d.phase == Disabled || d.phase.rests() }
