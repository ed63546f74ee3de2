package body

import (
	"math"
	"strings"
	"testing"

	"troupe/robotd/act"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/score"
)

func limitedBody() State {
	return New(driver.Body{Units: []schema.Unit{
		{ID: "head", Kind: schema.UnitHead, YawRad: &schema.Range{Min: -1, Max: 1}},
		{ID: "drive", Kind: schema.UnitDrive, MaxSpeedMPS: 0.6, MaxSideMPS: 0.2, MaxTurnRadPS: 1.5, HeightM: &schema.Range{Min: 0.9, Max: 1.1}},
		{ID: "speaker", Kind: schema.UnitSpeaker},
	}})
}

// reported lists what the events say about set-points.
func reported(out *effect.List) (details []string) {
	for i := range out.Len() {
		if e, ok := out.At(i).(effect.Event); ok && e.Kind == "set_point_limited" {
			details = append(details, e.Data.(effect.Described).Detail)
		}
	}
	return details
}

// TestNoSetPointBeyondTheLimitsReachesADriver sends every number of an action, far beyond
// its limits and as what is no number.
func TestNoSetPointBeyondTheLimitsReachesADriver(t *testing.T) {
	for _, c := range []struct {
		unit, name string
		wanted     float64
		got        float64
	}{
		{"head", "yaw_rad", 9, 1}, {"head", "yaw_rad", -9, -1},
		{"drive", "height_m", 3, 1.1}, {"drive", "speed_mps", 9, 0.6}, {"drive", "vx_mps", -9, -0.6}, {"drive", "vy_mps", 9, 0.2},
		{"drive", "wz_radps", 9, 1.5}, {"speaker", "volume", 9, 1}, {"speaker", "rate", 0, 0.5}, {"head", "speed", -1, 0},
	} {
		b, out := limitedBody(), effect.List{}
		p := setPoints[indexOf(t, c.name)]
		wanted, do := c.wanted, score.Action{}
		*p.of(&do) = &wanted
		got, why, _ := b.Command(enabled, safety.Act, &act.Effect{Unit: c.unit, Do: &do}, &out)
		if why != "" || got.Do == nil || **p.of(got.Do) != c.got || wanted != c.wanted {
			t.Errorf("%s %v: %+v, %q", c.name, c.wanted, got, why)
		}
		if said := reported(&out); len(said) != 1 || !strings.Contains(said[0], c.name) {
			t.Errorf("%s %v: reported %q", c.name, c.wanted, said)
		}
	}
	for unit, name := range map[string]string{"head": "pitch_rad", "drive": "roll_rad"} {
		b, out, do, zero := limitedBody(), effect.List{}, score.Action{}, 0.0
		*setPoints[indexOf(t, name)].of(&do) = &zero
		if _, why, detail := b.Command(enabled, safety.Act, &act.Effect{Unit: unit, Do: &do}, &out); why != schema.ReasonOutOfRange || detail != "the "+unit+" has no "+name {
			t.Errorf("an axis that the %s does not describe: %q, %q", unit, why, detail)
		}
	}
	for _, p := range setPoints {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			b, out, do := limitedBody(), effect.List{}, score.Action{}
			*p.of(&do) = &bad
			if _, why, detail := b.Command(enabled, safety.Act, &act.Effect{Unit: "drive", Do: &do}, &out); why != schema.ReasonOutOfRange || !strings.Contains(detail, p.name) {
				t.Errorf("%s %v: %q, %q", p.name, bad, why, detail)
			}
		}
	}
}

func indexOf(t *testing.T, name string) int {
	for i, p := range setPoints {
		if p.name == name {
			return i
		}
	}
	t.Fatalf("no set-point %s", name)
	return 0
}

// TestEveryNumberOfAnActionHasLimits finds a number that a new type of action brings.
func TestEveryNumberOfAnActionHasLimits(t *testing.T) {
	for _, row := range score.Table {
		for _, f := range row.Fields {
			if f.Min == f.Max || f.Name == "period_ms" { // which is an integer that no unit limits
				continue
			}
			indexOf(t, f.Name)
		}
	}
}

func TestVelocityIsLimitedAndReportedOnce(t *testing.T) {
	b, out := limitedBody(), effect.List{}
	for _, c := range []struct{ in, want driver.Velocity }{
		{driver.Velocity{VX: 0.5, WZ: 1}, driver.Velocity{VX: 0.5, WZ: 1}},
		{driver.Velocity{VX: 9, WZ: -9}, driver.Velocity{VX: 0.6, WZ: -1.5}},
		{driver.Velocity{VX: -9}, driver.Velocity{VX: -0.6}},
		{driver.Velocity{VX: math.NaN(), WZ: math.Inf(1)}, driver.Velocity{}},
	} {
		if got := b.Velocity(c.in, &out); got != c.want {
			t.Errorf("%+v is sent as %+v", c.in, got)
		}
	}
	if said := reported(&out); len(said) != 2 { // both numbers of the first velocity beyond the limits
		t.Errorf("reported %q", said)
	}
	b.Velocity(driver.Velocity{}, &out)
	b.Velocity(driver.Velocity{WZ: 2}, &out)
	if said := reported(&out); len(said) != 3 {
		t.Errorf("after one within the limits, reported %q", said)
	}
	fixed := New(driver.Body{})
	if got := fixed.Velocity(driver.Velocity{VX: 1}, &out); got != (driver.Velocity{}) {
		t.Errorf("without a drive, %+v is sent", got)
	}
}
