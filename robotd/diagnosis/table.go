package diagnosis

import "troupe/schema/fsm"

// Phase is what the robot does about a unit.
type Phase string

// The phases.
const (
	Normal   Phase = "normal"
	Noted    Phase = "noted"    // not normal, and used as ever
	Disabled Phase = "disabled" // acts and people do not use it
	Resting  Phase = "resting"  // disabled, and the robot is at rest until this ends by itself
	Damaged  Phase = "damaged"  // disabled, and the robot is at rest
	Repaired Phase = "repaired" // its fault is gone, and nobody has acknowledged that
)

// Phases lists the phases.
var Phases = []Phase{Normal, Noted, Disabled, Resting, Damaged, Repaired}

// Event is what a unit's faults and its heat amount to at its severity.
type Event string

// The events. FoundNothing and those after it are the findings of each check; the others end the
// damage of a unit.
const (
	Mended       Event = "mended" // what damaged it is gone, or the unit is not critical any more
	Acknowledged Event = "acknowledged"

	FoundNothing  Event = "nothing"
	FoundMinor    Event = "minor"    // it is warm, or its faults do not count
	FoundSerious  Event = "serious"  // a fault, or it is hot
	FoundUnusable Event = "unusable" // critical for the robot, and critically hot, lost or not reported yet
	FoundDamage   Event = "damage"   // a fault of a unit that is critical for the robot
)

// Table is the state table of every unit.
var Table = fsm.Table[Phase, Event]{
	{From: fsm.In(Normal, Disabled, Resting), On: FoundMinor, To: Noted, Why: "it is not normal, and can be used"},
	{From: fsm.In(Normal, Noted, Resting), On: FoundSerious, To: Disabled, Why: "nobody uses it until its fault is gone or it has cooled"},
	{From: fsm.In(Normal, Noted, Disabled), On: FoundUnusable, To: Resting, Why: "the robot rests until it has cooled, reports or is back"},
	{From: fsm.In(Normal, Noted, Disabled, Resting, Repaired), On: FoundDamage, To: Damaged, Why: "the robot does not move with this damage"},
	{From: fsm.In(Noted, Disabled, Resting), On: FoundNothing, To: Normal, Why: "its faults are gone and it has cooled"},
	{From: fsm.In(Damaged), On: Mended, To: Repaired, Why: "its fault is gone; a person has to acknowledge the repair"},
	{From: fsm.In(Repaired), On: Acknowledged, To: Normal, Why: "a person acknowledged the repair"},
}
