package body

import (
	"math"
	"slices"
	"strings"
	"testing"

	"troupe/robotd/act"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/robotd/safety"
	"troupe/robotd/taught"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/verb"
)

var enabled = safety.Standstill{At: schema.SafetyEnabled}

func newBody() State {
	return New(driver.Body{Points: []string{"dock"}, Units: []schema.Unit{
		{ID: "speaker", Kind: schema.UnitSpeaker}, {ID: "face", Kind: schema.UnitFace},
		{ID: "drive", Kind: schema.UnitDrive}, {ID: "lift", Kind: schema.UnitDrive},
	}})
}

func TestGateHoldsForEachUnit(t *testing.T) {
	b := newBody()
	for unit, want := range map[string]map[schema.SafetyState]bool{
		"drive":   {schema.SafetyEnabled: true, schema.SafetyDisabled: false, schema.SafetyEStop: false},
		"lift":    {schema.SafetyEnabled: true, schema.SafetyDisabled: false, schema.SafetyEStop: false},
		"speaker": {schema.SafetyEnabled: true, schema.SafetyDisabled: true},
		"face":    {schema.SafetyEnabled: true, schema.SafetyDisabled: true, schema.SafetyEStop: true},
	} {
		for at, passes := range want {
			c, shut, detail := b.Command(safety.Standstill{At: at}, safety.Act, &act.Effect{Unit: unit, Do: &score.Action{}}, &effect.List{})
			if (shut == "") != passes || passes && c.Unit != unit {
				t.Errorf("%s in %s: %+v, %q", unit, at, c, shut)
			}
			if !passes && (!strings.Contains(detail, unit) || !strings.HasSuffix(detail, "safety/enable")) {
				t.Errorf("%s in %s is refused with %q, want its name and the way out", unit, at, detail)
			}
		}
	}
}

func TestCommandHasTheRobotsVolumeAndTheFleetsPlaces(t *testing.T) {
	b := newBody()
	b.SetVolume(verb.Number{Value: 0.5, Given: true})
	half := 0.5
	c, _, _ := b.Command(enabled, safety.Act, &act.Effect{Unit: "speaker", Do: &score.Action{Do: score.Say{Volume: &half}}}, &effect.List{})
	if sent := c.Do.Do.(score.Say).Volume; sent == nil || *sent != 0.25 || half != 0.5 {
		t.Errorf("the speaker is sent %v", sent)
	}
	b.SetPlaces(&score.Places{Points: map[string]score.Point{"hall": {XM: 3, YM: 4}}})
	c, _, _ = b.Command(enabled, safety.Act, &act.Effect{Unit: "drive", Do: &score.Action{Do: score.Goto{Point: "hall"}}}, &effect.List{})
	if to := c.Do.Do.(score.Goto); to.Point != "" || to.XM == nil || *to.XM != 3 || *to.YM != 4 {
		t.Errorf("the drive is sent %+v", c.Do)
	}
	if got := b.Points(); !slices.Equal(got, []string{"dock", "hall"}) {
		t.Errorf("goto knows %v", got)
	}
}

// A volume that was set while the robot had another speaker must not be shown of this one.
func TestFixedVolumeIsNeitherSentNorShown(t *testing.T) {
	b := newBody()
	b.SetVolume(verb.Number{Value: 0.5, Given: true})
	for _, fixed := range []bool{false, true} {
		b.units[0].FixedVolume = fixed
		c, _, _ := b.Command(enabled, safety.Act, &act.Effect{Unit: "speaker", Do: &score.Action{Do: score.Say{}}}, &effect.List{})
		shown := b.UnitStates()[0].Detail
		if sent := c.Do.Do.(score.Say).Volume != nil; sent == fixed || (shown == "volume 50 %") == fixed {
			t.Errorf("volume fixed: %t; it is sent: %t, and %q is shown", fixed, sent, shown)
		}
	}
}

func TestTaughtPointHoldsOnlyOnItsMap(t *testing.T) {
	b := newBody()
	b.SetTaught(map[string]taught.Point{"window": {Point: score.Point{XM: 1, YM: 2}}, "shelf": {Point: score.Point{XM: 3}, MapSHA256: "ab12"}})
	b.SetPlaces(&score.Places{Map: &score.Asset{Name: "hall", SHA256: "ab12"}})
	holds := func(when, offered, elsewhere string) {
		t.Helper()
		list := b.taughtPoints()
		if len(list) != 1 || list[0].ID != offered || !slices.Equal(b.Points(), []string{"dock", offered}) || b.Elsewhere(offered) != "" {
			t.Errorf("%s: caps list %v and the points %v, want %s", when, list, b.Points(), offered)
		}
		do := &score.Action{Do: score.Goto{Point: elsewhere}}
		if _, why, detail := b.Command(enabled, safety.Act, &act.Effect{Unit: "drive", Do: do}, &effect.List{}); why == "" ||
			detail != b.Elsewhere(elsewhere) {
			t.Errorf("%s: goto %s is refused with %q %q", when, elsewhere, why, detail)
		}
	}
	calibrate := func(m driver.Map, changes bool) {
		t.Helper()
		Step(&b, driver.Event{Kind: driver.Position, X: 5}, &effect.List{}) // on the map before
		if b.Calibrated(&event.Calibrated{Map: m}, nil) != changes {
			t.Errorf("after calibration with %q the points changed: %v", m.SHA256, !changes)
		}
		if _, known := b.Position(); known {
			t.Errorf("after calibration with %q the position of the map before is used", m.SHA256)
		}
	}
	holds("at boot", "shelf", "window")
	calibrate(driver.Map{Name: "hall", SHA256: "ab12"}, false)
	holds("on the map", "shelf", "window")
	calibrate(driver.Map{}, true)
	holds("on the body's own map", "window", "shelf")
}

func TestOneBrokenUnitOfAKindIsTheOneThatIsNamed(t *testing.T) {
	b := newBody()
	var out effect.List
	Step(&b, driver.Event{Kind: driver.Unit, Unit: "lift", State: driver.Error, Detail: "stuck"}, &out)
	b.UpdateAlerts("str", "mend it", &out)
	if why := b.Broken("lift"); why != "stuck" {
		t.Errorf("the lift is broken: %q", why)
	}
	if why := b.Broken("drive"); why != "" {
		t.Errorf("the drive is broken: %q", why)
	}
	if refs := b.Refs(schema.ReasonUnitError); len(refs) != 1 || refs[0].ID != "lift" {
		t.Errorf("refs %+v", refs)
	}
	raised := 0
	for i := range out.Len() {
		if a, ok := out.At(i).(effect.RaiseAlert); ok && a.Source == "lift" {
			raised++
		}
	}
	if raised != 1 {
		t.Errorf("%d alerts were raised for the lift", raised)
	}
}

func TestStopInputsAreKnownByName(t *testing.T) {
	b := newBody()
	var out effect.List
	press := func(name string, on bool) {
		Step(&b, driver.Event{Kind: driver.Sensed, Signal: driver.EStopInput, Name: name, On: on}, &out)
	}
	press("left", true)
	press("right", true)
	press("left", true) // again
	press("left", false)
	if !slices.Equal(b.PressedInputs(), []string{"right"}) || out.Len() != 3 {
		t.Errorf("pressed are %v, %d changes", b.PressedInputs(), out.Len())
	}
}

func TestBatteryIsShownInWholePercent(t *testing.T) {
	b := New(driver.Body{Units: []schema.Unit{{ID: "battery", Kind: schema.UnitBattery}}})
	for level, want := range map[float64]string{0: "0 %", 0.29: "29 %", 0.57: "57 %", 0.999: "99 %", 1: "100 %"} {
		Step(&b, driver.Event{Kind: driver.Battery, Level: level}, &effect.List{})
		if got := b.UnitStates()[0].Detail; got != want {
			t.Errorf("%v is shown as %s", level, got)
		}
	}
}

func TestRoundedLeavesNothingThatIsNoNumber(t *testing.T) {
	for v, want := range map[float64]float64{0.12345: 0.123, math.Inf(1): 0, math.Inf(-1): 0, math.NaN(): 0} {
		if got := Rounded(v); got != want {
			t.Errorf("%v is shown as %v", v, got)
		}
	}
}
