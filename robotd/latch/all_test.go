package latch

import (
	"testing"

	"troupe/robotd/event"
	"troupe/schema"
)

// obeys is the first document of a fleet that the robot obeys from then on.
type obeys string

func (obeys) input() {}

func TestLatchKeepsThatItWasAskedOfAll(t *testing.T) {
	const now = schema.Time(1_800_000_000_000)
	stop := func(id string, all bool) schema.StopLatch {
		return schema.StopLatch{ID: id, Level: schema.StopStop, Since: now, All: all}
	}
	for _, row := range []struct {
		name   string
		inputs []Input
		want   bool
	}{
		{"of all", []Input{Asked{StopLatch: stop("k", true)}}, true},
		{"of some", []Input{Asked{StopLatch: stop("k", false)}}, false},
		{"of some, then of all", []Input{Asked{StopLatch: stop("k", false)}, Asked{StopLatch: stop("k", true)}}, true},
		{"of all, then of some", []Input{Asked{StopLatch: stop("k", true)}, Asked{StopLatch: stop("k", false)}}, true},
		{"of all, then by the robot's document", []Input{
			Asked{StopLatch: stop("k", true)}, Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 7, FleetID: "one",
				Stops: []schema.StopLatch{stop("k", false)}}}}, true},
		{"by the document of all below the robot's", []Input{
			Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 7, FleetID: "one", Stops: []schema.StopLatch{stop("k", false)}}},
			Document{StopDocument: event.StopDocument{From: event.FleetStops, Rev: 6, FleetID: "one", Stops: []schema.StopLatch{stop("k", true)}}}},
			true},
		{"by an unverified document for all robots", []Input{
			Document{StopDocument: event.StopDocument{From: event.FleetStops, Rev: 7, FleetID: "one", Stops: []schema.StopLatch{stop("k", true)}},
				Verification: Unverified}}, false},
		{"by another fleet's document of all", []Input{
			Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 7, FleetID: "one"}},
			Document{StopDocument: event.StopDocument{From: event.FleetStops, Rev: 7, FleetID: "two", Stops: []schema.StopLatch{stop("k", true)}}}},
			false},
		{"of all and released, then of some", []Input{
			Document{StopDocument: event.StopDocument{From: event.FleetStops, Rev: 7, FleetID: "one", Stops: []schema.StopLatch{stop("k", true)}}},
			Document{StopDocument: event.StopDocument{From: event.FleetStops, Rev: 8, FleetID: "one"}}, Asked{StopLatch: stop("k", false),
				Anew: true}}, false},
		{"by the document of all, then the robot obeys another fleet", []Input{
			Document{StopDocument: event.StopDocument{From: event.FleetStops, Rev: 7, FleetID: "one", Stops: []schema.StopLatch{stop("k", true)}}},
			obeys("two")}, false},
		{"live of all, then the robot obeys another fleet", []Input{
			Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 7, FleetID: "one"}}, Asked{StopLatch: stop("k", true)},
			obeys("two")}, false},
	} {
		var s Latched
		for i, in := range row.inputs {
			was := len(s.Latches) == 1 && s.Latches[0].All
			facts := Facts{Robot: "r1"}
			if fleet, ok := in.(obeys); ok {
				facts.FleetID, in = string(fleet), Document{StopDocument: event.StopDocument{From: event.RobotStops, Rev: 1, FleetID: string(fleet)}}
			}
			d := s.step(now, facts, in)
			if is := len(s.Latches) == 1 && s.Latches[0].All; is != was && !d.Changed {
				t.Errorf("%s: input %d changed what is kept and does not say so", row.name, i)
			}
		}
		if len(s.Latches) != 1 || s.Latches[0].All != row.want {
			t.Errorf("%s: %+v", row.name, s.Latches)
		}
	}
}
