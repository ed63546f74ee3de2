package act

import (
	"fmt"

	"troupe/schema/fsm"
)

// Stage is where one action or group of an act stands.
type Stage string

// The stages.
const (
	Pending   Stage = "pending"
	Deferred  Stage = "deferred" // due, but something is in its way
	Executing Stage = "executing"
	Held      Stage = "held" // was executing when a pause, a gate or a higher lane came
	Completed Stage = "completed"
	Missed    Stage = "missed" // was held and does not want to be resumed
	Cancelled Stage = "cancelled"
	Failed    Stage = "failed"
)

// Step is what happens to an action.
type Step string

// The steps.
const (
	Begin   Step = "begin"
	Defer   Step = "defer"
	Hold    Step = "hold"
	Finish  Step = "finish"
	TimeOut Step = "time-out"
	Skip    Step = "skip"
	Cancel  Step = "cancel"
	Fail    Step = "fail"
)

// Stages lists every stage.
var Stages = []Stage{Pending, Deferred, Executing, Held, Completed, Missed, Cancelled, Failed}

// Table is the life of one action.
var Table = fsm.Table[Stage, Step]{
	{From: fsm.In(Pending, Deferred), On: Begin, To: Executing, Why: "its time has come and nothing is in its way"},
	{From: fsm.In(Pending), On: Defer, To: Deferred, Why: "its time has come, but it may not start yet: it waits and then lasts its full time"},
	{From: fsm.In(Executing), On: Hold, To: Held, Why: "a pause, the closed gate or a higher lane took its unit"},
	{From: fsm.In(Held), On: Begin, To: Executing, Why: "the unit is there again; on_resume says from where"},
	{From: fsm.In(Held), On: Skip, To: Missed, Why: "on_resume is skip: what was interrupted is not taken up again"},
	{From: fsm.In(Executing), On: Finish, To: Completed, Why: "the unit is done, the duration is over, or the group is empty"},
	{From: fsm.In(Executing), On: TimeOut, To: Completed, Why: "it had its time; what it was for matters less than going on"},
	{From: fsm.In(Pending, Deferred, Executing, Held, Completed), On: Fail, To: Failed, Why: "the unit cannot do it, which ends the act; a unit may say so after its action was complete"},
	{From: fsm.In(Pending, Deferred, Executing, Held), On: Cancel, To: Cancelled, Why: "its act was ended from outside or by the failure of another action"},
}

// next is the stage that a step leads to. The executor takes listed edges only:
// anything else is a fault of this package.
func (s Stage) next(on Step) Stage {
	row, ok := Table.Next(s, on)
	if !ok {
		panic(fmt.Sprintf("act: an action that is %s cannot %s", s, on))
	}
	return row.To
}
