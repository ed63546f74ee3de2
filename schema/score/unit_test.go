package score

import (
	"slices"
	"testing"

	"troupe/schema"
)

// twoHeads is a robot with two units of a kind.
var twoHeads = schema.Caps{Units: []schema.Unit{
	{ID: "head", Kind: schema.UnitHead, YawRad: &schema.Range{Min: -1, Max: 1}},
	{ID: "head-2", Kind: schema.UnitHead, YawRad: &schema.Range{Min: -2, Max: 2}, Motions: []string{"nod"}},
	{ID: "head-4", Kind: schema.UnitHead},
	{ID: "speaker", Kind: schema.UnitSpeaker},
}}

// turn is a turn of a head from one time to another.
func turn(unit string, yaw float64, from, to int64) Action {
	return Action{Unit: unit, StartMS: from, EndMS: &to, Do: Head{Axes: Axes{YawRad: &yaw}}}
}

func nod(unit string) Action {
	return Action{Unit: unit, TimeoutMS: new(int64(1000)), Do: Motion{Motion: "nod"}}
}

func TestConflictIsJudgedPerUnit(t *testing.T) {
	for _, c := range []struct {
		name    string
		actions []Action
		act     string // code of the error of the act itself; empty = none
		robot   string // code of the error for this robot
		at      string // its pointer
	}{
		{"two units at once", []Action{turn("head", 0.5, 0, 1000), turn("head-2", 0.5, 0, 1000)}, "", "", ""},
		{"one unit twice", []Action{turn("head-2", 0.5, 0, 1000), turn("head-2", 1, 500, 1500)}, CodeOverlap, "", ""},
		{"the first unit, by its name and by none", []Action{turn("", 0.5, 0, 1000), turn("head", 1, 500, 1500)}, "", CodeOverlap,
			"/actions/1/start_ms"},
		{"the first unit and the second", []Action{turn("", 0.5, 0, 1000), turn("head-2", 1, 500, 1500)}, "", "", ""},
		{"in a group", []Action{turn("", 0.5, 0, 1000), {StartMS: 500, Do: Group{Actions: []Action{turn("head", 0.5, 0, 1000)}}}}, "",
			CodeOverlap, "/actions/1/actions/0/start_ms"},
		{"a unit that the robot has not", []Action{turn("head-3", 0.5, 0, 1000)}, "", CodeNoUnit, "/actions/0/unit"},
		{"a unit of another kind", []Action{turn("speaker", 0.5, 0, 1000)}, "", CodeNoUnit, "/actions/0/unit"},
		{"within the limits of the second", []Action{turn("head-2", 1.5, 0, 1000)}, "", "", ""},
		{"outside those of the first", []Action{turn("", 1.5, 0, 1000)}, "", CodeBeyondUnit, "/actions/0/yaw_rad"},
		{"an axis that the head does not describe", []Action{{TimeoutMS: new(int64(1000)), Do: Head{Axes: Axes{PitchRad: new(0.1)}}}}, "",
			CodeBeyondUnit, "/actions/0/pitch_rad"},
		{"an axis of a head that describes none",
			[]Action{{Unit: "head-4", TimeoutMS: new(int64(1000)), Do: Head{Axes: Axes{PitchRad: new(0.1)}}}}, "", "", ""},
		{"a motion belongs to the unit that lists it", []Action{nod("")}, "", "", ""},
		{"a motion by the name of its unit", []Action{nod("head-2")}, "", "", ""},
		{"a motion that another unit lists", []Action{nod("head")}, "", CodeNoUnit, "/actions/0/unit"},
		{"a wait has no unit", []Action{{Unit: "head", EndMS: new(int64(100)), Do: Wait{}}}, CodeWrongField, "", ""},
		{"no id", []Action{turn("Head 2", 0.5, 0, 1000)}, CodeBadID, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := Act{ID: "a", Actions: c.actions}
			if got := firstCode(ValidateAct(a)); got != c.act {
				t.Fatalf("the act: %q, want %q", got, c.act)
			}
			if c.act != "" {
				return
			}
			found := schema.Errors(Fit(a, twoHeads))
			if got := firstCode(found); got != c.robot || got != "" && found[0].Pointer != c.at {
				t.Errorf("this robot: %+v, want %q at %q", found, c.robot, c.at)
			}
		})
	}
}

func firstCode(found []schema.Problem) string {
	if found = schema.Errors(found); len(found) > 0 {
		return found[0].Code
	}
	return ""
}

func TestActUsesTheUnitsThatItNames(t *testing.T) {
	for unit, want := range map[string][]string{"": {"head"}, "head": {"head"}, "head-2": {"head-2"}, "head-3": nil} {
		a := Act{ID: "a", Actions: []Action{{Do: Group{Actions: []Action{turn(unit, 0.5, 0, 1000)}}}}}
		var uses []string
		for _, u := range twoHeads.Units {
			if a.UsesUnit(u, twoHeads.Units) {
				uses = append(uses, u.ID)
			}
		}
		if !slices.Equal(uses, want) {
			t.Errorf("an act for %q uses %v, want %v", unit, uses, want)
		}
	}
}

// An author who follows the advice about a number is not refused again.
func TestRefusedNumberHasTheRangeOfTheRobot(t *testing.T) {
	far := 9.0
	found := ValidateAndFit(Act{ID: "a", Actions: []Action{{TimeoutMS: ms(900), Do: Head{Axes: Axes{YawRad: &far}, Speed: &far}}}}, small)
	if len(found) != 2 || found[0].Code != CodeOutOfRange || found[0].Pointer != "/actions/0/speed" ||
		found[1].Detail != "9 rad is outside this robot's -1 to 1" {
		t.Errorf("%q", found)
	}
}
