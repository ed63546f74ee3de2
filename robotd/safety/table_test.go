package safety

import (
	"testing"

	"troupe/schema"
	"troupe/schema/fsm/fsmtest"
)

func TestTableIsSound(t *testing.T) {
	fsmtest.Check(t, Table, schema.SafetyDisabled, States)
}

func TestTableMatchesItsDiagram(t *testing.T) {
	fsmtest.CheckDiagram(t, "testdata/safety.md", Table, schema.SafetyDisabled)
}

func TestEveryStateLeadsToEStop(t *testing.T) {
	for _, at := range States {
		if at == schema.SafetyEStop {
			continue
		}
		for _, on := range []Event{InputPressed, UnitFailed, EStopAsked} {
			if row, ok := Table.Next(at, on); !ok || row.To != schema.SafetyEStop {
				t.Errorf("%s on %s: got %v, %v; want E_STOP", at, on, row.To, ok)
			}
		}
	}
}

func TestOnlyEnableAndResetLowerTheRestriction(t *testing.T) {
	for _, row := range Table {
		for _, from := range row.From {
			if Restriction(row.To) > Restriction(from) {
				continue
			}
			endOfReset := from == schema.SafetyReset && row.On == UnitsIdle
			if row.On != EnableGranted && row.On != ResetGranted && !endOfReset {
				t.Errorf("%s on %s leads down to %s", from, row.On, row.To)
			}
		}
	}
}

func TestGateInEveryState(t *testing.T) {
	type pass struct{ act, shutdown, sound, face schema.Reason }
	for at, want := range map[schema.SafetyState]pass{
		schema.SafetyEnabled:  {},
		schema.SafetySoftStop: {act: schema.ReasonStopped},
		schema.SafetyStop:     {act: schema.ReasonStopped, shutdown: schema.ReasonStopped},
		schema.SafetyDisabled: {act: schema.ReasonSafetyDisabled, shutdown: schema.ReasonSafetyDisabled},
		schema.SafetyReset:    {act: schema.ReasonNeedsReset, shutdown: schema.ReasonNeedsReset},
		schema.SafetyHalt:     {act: schema.ReasonNeedsReset, shutdown: schema.ReasonNeedsReset},
		schema.SafetyEStop:    {act: schema.ReasonNeedsReset, shutdown: schema.ReasonNeedsReset, sound: schema.ReasonNeedsReset},
		"BROKEN":              {act: schema.ReasonNeedsReset, shutdown: schema.ReasonNeedsReset},
	} {
		got := pass{Gate(at, Moves, Act), Gate(at, Moves, Core), Gate(at, Sounds, Act), Gate(at, Shows, Act)}
		if got != want {
			t.Errorf("%s: got %+v, want %+v", at, got, want)
		}
		if r := Gate(at, Sounds, Core); r != "" {
			t.Errorf("%s: the robot may not announce why it stands still: %s", at, r)
		}
	}
}

func TestOrdersInEveryState(t *testing.T) {
	running, erred, resting := []Unit{{State: UnitRun}}, []Unit{{State: UnitError}}, []Unit{{State: UnitIdle}}
	for _, c := range []struct {
		at    schema.SafetyState
		units []Unit
		want  Order
	}{
		{schema.SafetyDisabled, running, ToIdle},
		{schema.SafetyEnabled, resting, ToRun},
		{schema.SafetySoftStop, running, ToRun},
		{schema.SafetyStop, running, ToStop},
		{schema.SafetyStop, resting, ToIdle},
		{schema.SafetyHalt, running, ToHalt},
		{schema.SafetyEStop, resting, ToError},
		{schema.SafetyReset, erred, ToReset},
		{schema.SafetyReset, resting, ToIdle},
		{"BROKEN", resting, ToError},
	} {
		if got := Orders(c.at, c.units); got != c.want {
			t.Errorf("%s with unit %s: got %s, want %s", c.at, c.units[0].State, got, c.want)
		}
	}
}

func TestUnknownStateBecomesEStop(t *testing.T) {
	s := CoreState{At: "BROKEN"}
	d := s.step(time1s, Defaults(), Facts{Mode: Mode{Active: true, Wants: true}}, Request{Verb: Enable})
	if s.At != schema.SafetyEStop || d.Cause.Event != BadState || d.Answer.Taken {
		t.Errorf("got %+v in %s", d, s.At)
	}
}

func TestOnlyStoryWithMotionWaitsForEnabled(t *testing.T) {
	for _, at := range States {
		moves, still := StoryWaits(at, true), StoryWaits(at, false)
		if moves != (at != schema.SafetyEnabled) {
			t.Errorf("%s: a story with motion waits: %v", at, moves)
		}
		if still != (at != schema.SafetyEnabled && at != schema.SafetyDisabled) {
			t.Errorf("%s: a story without motion waits: %v", at, still)
		}
	}
}
