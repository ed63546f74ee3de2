package bus

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"troupe/schema"
)

// zeros are the types of the payloads by the ends of their topics.
func decodeOf(topic string) func([]byte) []schema.Problem {
	_, what, _ := strings.Cut(strings.TrimPrefix(topic, "bus/"), "/")
	switch what {
	case "presence":
		return problems[RobotPresence]
	case "in/" + InTick:
		return problems[Tick]
	case "in/" + InStart:
		return problems[Start]
	case "in/" + InStop:
		return problems[Stop]
	case "in/" + InVelocity:
		return problems[Velocity]
	case "in/" + InHealth:
		return problems[Health]
	case "in/" + InCalibrate:
		return problems[Calibrate]
	case "out/" + OutPresence:
		return problems[Presence]
	case "out/" + OutState:
		return problems[State]
	case "out/" + OutEvent:
		return problems[Event]
	}
	return nil
}

func problems[T any](payload []byte) []schema.Problem {
	_, ps := schema.DecodeStrict[T](payload)
	return ps
}

func TestExamplesOfTheContractAreValid(t *testing.T) {
	page, err := os.ReadFile("../../topics.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, line := range strings.Split(string(page), "\n") {
		topic, payload, ok := strings.Cut(line, " ")
		if !ok || !strings.HasPrefix(topic, "bus/") || !strings.HasPrefix(payload, "{") {
			continue
		}
		seen++
		if ps := decodeOf(topic)([]byte(payload)); len(ps) > 0 {
			t.Errorf("%s: %v", topic, ps)
		}
	}
	if seen < 6 {
		t.Errorf("topics.md has %d examples of the bus", seen)
	}
}

func f(v float64) *float64 { return &v }

func TestStateFitsItsUnits(t *testing.T) {
	units := []schema.Unit{{ID: "drive", Kind: schema.UnitDrive, MaxSpeedMPS: 0.6, MaxTurnRadPS: 1.5},
		{ID: "battery", Kind: schema.UnitBattery}, {ID: "face", Kind: schema.UnitFace}}
	for what, c := range map[string]struct {
		change func(m map[string]UnitState)
		code   string
	}{
		"as it should be":                 {func(map[string]UnitState) {}, ""},
		"a unit is missing":               {func(m map[string]UnitState) { delete(m, "face") }, CodeMissing},
		"a unit that was not described":   {func(m map[string]UnitState) { m["arm"] = UnitState{State: "idle"} }, CodeUnknown},
		"a face that runs":                {func(m map[string]UnitState) { m["face"] = UnitState{State: "run"} }, CodeBadValue},
		"a face in error without a fault": {func(m map[string]UnitState) { m["face"] = UnitState{State: "error"} }, CodeMissing},
		"a face with a speed":             {func(m map[string]UnitState) { m["face"] = UnitState{State: "idle", VXMPS: f(0)} }, CodeBadValue},
		"a battery in percent": {func(m map[string]UnitState) { m["battery"] = UnitState{State: "idle", Level: f(87)} },
			CodeWrongUnit},
		"a battery without a level": {func(m map[string]UnitState) { m["battery"] = UnitState{State: "idle"} }, CodeMissing},
		"a drive in mm/s": {func(m map[string]UnitState) {
			m["drive"] = UnitState{State: "run", VXMPS: f(300), WZRadPS: f(0)}
		}, CodeWrongUnit},
		"a set-point in mm/s": {func(m map[string]UnitState) {
			m["drive"] = UnitState{State: "run", VXMPS: f(0), WZRadPS: f(0), SetVXMPS: f(300)}
		}, CodeWrongUnit},
		"a drive that turns in degrees": {func(m map[string]UnitState) {
			m["drive"] = UnitState{State: "run", VXMPS: f(0), WZRadPS: f(45)}
		}, CodeWrongUnit},
		"a heading in degrees": {func(m map[string]UnitState) {
			m["drive"] = UnitState{State: "idle", VXMPS: f(0), WZRadPS: f(0), XM: f(0), YM: f(0), ThetaRad: f(90)}
		}, CodeWrongUnit},
		"half a place": {func(m map[string]UnitState) {
			m["drive"] = UnitState{State: "idle", VXMPS: f(0), WZRadPS: f(0), XM: f(0)}
		}, CodeMissing},
		"a drive without a speed": {func(m map[string]UnitState) { m["drive"] = UnitState{State: "idle"} }, CodeMissing},
		"a temperature in kelvin": {func(m map[string]UnitState) { m["face"] = UnitState{State: "idle", Celsius: f(310)} },
			CodeWrongUnit},
		"a word that is no state of a drive": {func(m map[string]UnitState) {
			m["drive"] = UnitState{State: "ready", VXMPS: f(0), WZRadPS: f(0)}
		}, CodeBadValue},
	} {
		s := State{Units: map[string]UnitState{
			"drive": {State: "run", VXMPS: f(0.3), WZRadPS: f(0)}, "battery": {State: "idle", Level: f(0.87)}, "face": {State: "idle"},
		}}
		c.change(s.Units)
		ps := s.Fits(units)
		if c.code == "" && len(ps) > 0 || c.code != "" && (len(ps) == 0 || ps[0].Code != c.code) {
			t.Errorf("%s: %v, want %q", what, ps, c.code)
		}
	}
}

func TestWrongMessagesOfAnAdapterAreRefused(t *testing.T) {
	for _, c := range []struct{ topic, payload, at string }{
		{"bus/x/out/state", `{"v":1,"session":"a","seq":1,"t_ms":1,"units":{"drive":{"state":"run","vx_mms":300}}}`, "/units/drive/vx_mms"},
		{"bus/x/out/state", `{"v":2,"session":"a","seq":1,"t_ms":1,"units":{}}`, "/v"},
		{"bus/x/out/state", `{"v":1,"session":"","seq":1,"t_ms":1,"units":{}}`, "/session"},
		{"bus/x/out/event", `{"v":1,"session":"a","kind":"dance"}`, "/kind"},
		{"bus/x/out/event", `{"v":1,"session":"a","kind":"done"}`, "/key"},
		{"bus/x/out/event", `{"v":1,"session":"a","kind":"failed","key":1,"reason":"because","detail":"x"}`, "/reason"},
		{"bus/x/out/event", `{"v":1,"session":"a","kind":"sensed","signal":"smell"}`, "/signal"},
		{"bus/x/out/event", `{"v":1,"session":"a","kind":"sensed","signal":"people","count":1,"bearing_rad":90}`, "/bearing_rad"},
		{"bus/x/out/event", `{"v":1,"session":"a","kind":"asks","unit":"drive","stop":"please"}`, "/stop"},
		{"bus/x/out/event", `{"v":1,"session":"a","kind":"waits","unit":"head","reason":"busy"}`, "/reason"},
		{"bus/x/out/presence", `{"v":1,"session":"a","present":true}`, "/describe"},
		{"bus/x/out/presence", `{"v":1,"session":"a","present":true,"describe":{"model":"m","state_ms":100,"units":[{"id":"drive","kind":"drive"}]}}`, "/describe/state_ms"},
		{"bus/x/out/presence", `{"v":1,"session":"a","present":true,"describe":{"model":"m","state_ms":20,"units":[{"id":"a","kind":"arm"}]}}`, "/describe/units/0/kind"},
		{"bus/x/out/presence", `{"v":1,"session":"a","present":true,"describe":{"model":"m","state_ms":20,"units":[]}}`, "/describe/units"},
		{"bus/x/out/presence", `{"v":1,"session":"a","present":true,"describe":{"model":"m","state_ms":20,"units":[{"id":"My Voice","kind":"speaker"}]}}`, "/describe/units/0/id"},
		{"bus/x/out/presence", `{"v":1,"session":"a","present":true,"describe":{"model":"m","state_ms":20,"units":[{"id":"-voice","kind":"speaker"}]}}`, "/describe/units/0/id"},
		{"bus/x/out/presence", `{"v":1,"session":"a","present":true,"describe":{"model":"m","state_ms":20,"units":[{"id":"a","kind":"led"},{"id":"a","kind":"face"}]}}`, "/describe/units/1/id"},
		{"bus/x/out/presence", `{"v":1,"session":"a","present":true,"describe":{"model":"m","state_ms":20,"units":[{"id":"head","kind":"head"}]}}`, "/describe/units/0"},
		{"bus/x/out/presence", `{"v":1,"session":"a","present":true,"describe":{"model":"m","state_ms":20,"units":[{"id":"a","kind":"led","fixed_volume":true}]}}`, "/describe/units/0/fixed_volume"},
		{"bus/x/out/presence", `{"v":1,"session":"a","present":true,"describe":{"model":"m","state_ms":20,"units":[{"id":"a","kind":"led"},{"id":"a","kind":"led"}]}}`, "/describe/units/1/id"},
	} {
		ps := decodeOf(c.topic)([]byte(c.payload))
		if len(ps) == 0 || ps[0].Pointer != c.at {
			t.Errorf("%s: %v, want a problem at %s", c.payload, ps, c.at)
		}
	}
}

func TestLimitsInDegreesAreRefused(t *testing.T) {
	describe := `{"v":1,"session":"a","present":true,"describe":{"model":"m","state_ms":20,"units":[{"id":"head","kind":"head","%s":{"min":%g,"max":%g}}]}}`
	for _, c := range []struct {
		axis     string
		min, max float64
		says     []string
	}{
		{"yaw_rad", -1, 1, nil},
		{"yaw_rad", -2 * math.Pi, 2 * math.Pi, nil},
		{"yaw_rad", -60, 60, []string{"yaw_rad min is -60: radians, not degrees; -60 degrees are -1.047 radians",
			"yaw_rad max is 60: radians, not degrees; 60 degrees are 1.047 radians"}},
		{"pitch_rad", 0, 30, []string{"pitch_rad max is 30: radians, not degrees; 30 degrees are 0.524 radians"}},
		{"roll_rad", -30, 0, []string{"roll_rad min is -30: radians, not degrees; -30 degrees are -0.524 radians"}},
	} {
		var got []string
		for _, p := range problems[Presence](fmt.Appendf(nil, describe, c.axis, c.min, c.max)) {
			got = append(got, strings.TrimPrefix(p.String(), "/describe/units/0/"+c.axis+": "))
			if p.Code != CodeWrongUnit {
				t.Errorf("%v has the code %s", p, p.Code)
			}
		}
		if !slices.Equal(got, c.says) {
			t.Errorf("%s from %g to %g: %q, want %q", c.axis, c.min, c.max, got, c.says)
		}
	}
}

// Health shows the first problem: it must not differ from state to state.
func TestProblemsOfAStateAreInAFixedOrder(t *testing.T) {
	s := State{Units: map[string]UnitState{"a": {}, "b": {}, "c": {}, "d": {}, "e": {}}}
	first := s.Fits(nil)
	for range 50 {
		if again := s.Fits(nil); !slices.Equal(first, again) {
			t.Fatalf("%q, then %q", first, again)
		}
	}
}

func TestTopicsNameTheirAdapter(t *testing.T) {
	if name, what, ok := FromAdapter(Out("base", OutState)); !ok || name != "base" || what != OutState {
		t.Errorf("%s %s %v", name, what, ok)
	}
	for _, topic := range []string{"bus/robotd/out/state", "bus/base/in/tick", RobotPresenceTopic, "x", "bus/Base/out/state"} {
		if name, _, ok := FromAdapter(topic); ok {
			t.Errorf("%s is from the adapter %s", topic, name)
		}
	}
}

func TestAnglesOfAHeadAreRadiansAndOnlyOfAHead(t *testing.T) {
	sixty, one := 60.0, 1.0
	head, led := schema.Unit{ID: "head", Kind: schema.UnitHead}, schema.Unit{ID: "led", Kind: schema.UnitLED}
	for _, c := range []struct {
		unit schema.Unit
		now  UnitState
		says string
	}{
		{head, UnitState{State: "idle", YawRad: &one}, ""},
		{head, UnitState{State: "idle", PitchRad: &sixty}, "/units/head/pitch_rad: 60 is not between"},
		{led, UnitState{State: "idle", RollRad: &one}, "/units/led/roll_rad: a led has no roll_rad"},
	} {
		s := State{Units: map[string]UnitState{c.unit.ID: c.now}}
		var got string
		for _, p := range s.Fits([]schema.Unit{c.unit}) {
			got += p.String()
		}
		if !strings.HasPrefix(got, c.says) || (got == "") != (c.says == "") {
			t.Errorf("%q, want %q", got, c.says)
		}
	}
}
