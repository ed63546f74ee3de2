package act

import (
	"fmt"

	"troupe/schema/fsm"
)

// Stage is the state of one action or group.
type Stage string

// The stages.
const (
	Pending   Stage = "pending"
	Deferred  Stage = "deferred" // due, but blocked
	Executing Stage = "executing"
	Suspended Stage = "suspended" // by a pause, the gate or a higher lane
	Completed Stage = "completed"
	Missed    Stage = "missed" // was suspended and is not resumed
	Cancelled Stage = "cancelled"
	Failed    Stage = "failed"
)

// Event is what happens to an action.
type Event string

// The events.
const (
	Begin   Event = "begin"
	Defer   Event = "defer"
	Suspend Event = "suspend"
	Finish  Event = "finish"
	TimeOut Event = "time-out"
	Skip    Event = "skip"
	Cancel  Event = "cancel"
	Fail    Event = "fail"
)

// Stages lists every stage.
var Stages = []Stage{Pending, Deferred, Executing, Suspended, Completed, Missed, Cancelled, Failed}

// Table is the lifecycle of one action.
var Table = fsm.Table[Stage, Event]{
	{From: fsm.In(Pending, Deferred), On: Begin, To: Executing, Why: "it is due and nothing blocks it"},
	{From: fsm.In(Pending), On: Defer, To: Deferred, Why: "it is due but blocked: it waits and then lasts its full time"},
	{From: fsm.In(Executing), On: Suspend, To: Suspended, Why: "a pause, the closed gate or a higher lane took its unit"},
	{From: fsm.In(Suspended), On: Begin, To: Executing, Why: "the unit is available again; on_resume decides from where it continues"},
	{From: fsm.In(Suspended), On: Skip, To: Missed, Why: "on_resume is skip: a suspended action is not resumed"},
	{From: fsm.In(Executing), On: Finish, To: Completed, Why: "the unit is done, the duration is over, or the group is empty"},
	{From: fsm.In(Executing), On: TimeOut, To: Completed, Why: "its timeout is over; the act continues without its result"},
	{From: fsm.In(Pending, Deferred, Executing, Suspended, Completed), On: Fail, To: Failed,
		Why: "the unit failed, which ends the act; a unit may report that after its action was complete"},
	{From: fsm.In(Pending, Deferred, Executing, Suspended), On: Cancel, To: Cancelled,
		Why: "its act was ended from outside or by the failure of another action"},
}

// next returns the stage that an event leads to. A transition that the table does
// not list is a programming error in this package.
func (s Stage) next(on Event) Stage {
	row, ok := Table.Next(s, on)
	if !ok {
		panic(fmt.Sprintf("act: no transition from %s on %s", s, on))
	}
	return row.To
}
