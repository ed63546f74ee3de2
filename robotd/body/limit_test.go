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

// numbered is an action of a unit with one number.
func numbered(t *testing.T, unit, name string, v float64) *score.Action {
	for _, row := range score.Table {
		do := score.Action{Do: row.Do}
		if do.SetNumber(name, v); string(row.Unit) == unit && numberOf(&do, name) != nil {
			return &do
		}
	}
	t.Fatalf("no action of a %s has %s", unit, name)
	return nil
}

func numberOf(do *score.Action, name string) *float64 {
	for n := range do.Numbers() {
		if n.Name == name {
			return &n.Value
		}
	}
	return nil
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
		b, out, do := limitedBody(), effect.List{}, numbered(t, c.unit, c.name, c.wanted)
		got, why, _ := b.Command(enabled, safety.Act, &act.Effect{Unit: c.unit, Do: do}, &out)
		if why != "" || got.Do == nil || *numberOf(got.Do, c.name) != c.got || *numberOf(do, c.name) != c.wanted {
			t.Errorf("%s %v: %+v, %q", c.name, c.wanted, got, why)
		}
		if said := reported(&out); len(said) != 1 || !strings.Contains(said[0], c.name) {
			t.Errorf("%s %v: reported %q", c.name, c.wanted, said)
		}
	}
	for unit, name := range map[string]string{"head": "pitch_rad", "drive": "roll_rad"} {
		b, out, do := limitedBody(), effect.List{}, numbered(t, unit, name, 0)
		if _, why, detail := b.Command(enabled, safety.Act, &act.Effect{Unit: unit, Do: do}, &out); why != schema.ReasonOutOfRange ||
			detail != "the "+unit+" has no "+name {
			t.Errorf("an axis that the %s does not describe: %q, %q", unit, why, detail)
		}
	}
	for _, row := range score.Table {
		for _, f := range row.Fields {
			if f.Min == f.Max || f.Name == "period_ms" { // which is an integer that no unit limits
				continue
			}
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				b, out, do := limitedBody(), effect.List{}, score.Action{Do: row.Do}
				do.SetNumber(f.Name, bad)
				if _, why, detail := b.Command(enabled, safety.Act, &act.Effect{Unit: "drive", Do: &do}, &out); why != schema.ReasonOutOfRange ||
					!strings.Contains(detail, f.Name) {
					t.Errorf("%s of %s %v: %q, %q", f.Name, row.Type, bad, why, detail)
				}
			}
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
