package measure_test

import (
	"math"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"troupe/fleetd/measure"
	"troupe/schema"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// table keeps minutes as the database does.
type table map[string]map[int64]measure.Values

func (t table) write(rows []measure.Minute) {
	for _, m := range rows {
		if t[m.Robot] == nil {
			t[m.Robot] = map[int64]measure.Values{}
		}
		if had := t[m.Robot][m.Start]; m.Count() > had.Count() {
			t[m.Robot][m.Start] = m.Values
		}
	}
}

// Any order of values and ticks, also while the clock is set back by less than the window or jumps ahead, leaves in the
// database what a recount of all values by their minute says, however often a row is written.
func TestMinutesEqualARecount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state, got, want := measure.NewState(), table{}, table{}
		now, back := noon, noon
		var written [][]measure.Minute
		write := func(rows []measure.Minute) { got.write(rows); written = append(written, rows) }
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			switch rapid.IntRange(0, 11).Draw(t, "kind") {
			case 0: // the clock is set back
				low := max(0, measure.Window-1-int(back.Sub(now)/time.Minute))
				now = now.Add(-time.Duration(rapid.IntRange(0, low).Draw(t, "minutes back")) * time.Minute)
			case 1:
				now = now.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "minutes without values")) * time.Minute)
			case 2, 3, 4:
				write(measure.Step(state, now, measure.Tick{}))
			case 5: // what was written is written again
				if len(written) > 0 {
					got.write(rapid.SampledFrom(written).Draw(t, "again"))
				}
			default:
				robot := "r" + strconv.Itoa(rapid.IntRange(1, 3).Draw(t, "robot"))
				speed := rapid.Float64Range(-2, 2).Draw(t, "speed")
				var v measure.Values
				v[measure.Speed].Add(speed)
				if want[robot] == nil {
					want[robot] = map[int64]measure.Values{}
				}
				all := want[robot][measure.MinuteOf(now)]
				all.Join(v)
				want[robot][measure.MinuteOf(now)] = all
				measure.Step(state, now, measure.Driven{Robot: robot, SpeedMPS: speed})
				now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second)
			}
			if now.After(back) {
				back = now
			}
		}
		write(measure.Step(state, back.Add(time.Minute), measure.Tick{}))
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("the database has %v\nwant %v", got, want)
		}
	})
}

func TestMinuteIsEmittedOnceItIsOver(t *testing.T) {
	state := measure.NewState()
	measure.Step(state, noon, measure.Driven{Robot: "r1", SpeedMPS: 1})
	for _, at := range []time.Duration{0, 30 * time.Second, 59 * time.Second} {
		if rows := measure.Step(state, noon.Add(at), measure.Tick{}); len(rows) > 0 {
			t.Errorf("after %v: %v", at, rows)
		}
	}
	if rows := measure.Step(state, noon.Add(time.Minute), measure.Tick{}); len(rows) != 1 || rows[0].Start != noon.Unix() ||
		rows[0].Count() != 1 {
		t.Errorf("after a minute: %v", rows)
	}
	if rows := measure.Step(state, noon.Add(2*time.Minute), measure.Tick{}); len(rows) > 0 {
		t.Errorf("a minute without values has a row: %v", rows)
	}
	measure.Step(state, noon.Add(2*time.Minute), measure.Driven{Robot: "r1", SpeedMPS: 1})
	measure.Step(state, noon.Add(2*time.Minute), measure.Gone{Robot: "r1"})
	if rows := measure.Step(state, noon.Add(3*time.Minute), measure.Tick{}); len(rows) > 0 {
		t.Errorf("a robot that left the fleet has a row: %v", rows)
	}
}

// What robots report becomes values of the right series.
func TestValuesOfReports(t *testing.T) {
	hot := 71.5
	beat := func(seq, mono int64, boot string) schema.Heartbeat {
		return schema.Heartbeat{Session: "s-" + boot, Boot: boot, Seq: seq, MonoMS: mono}
	}
	state := measure.NewState()
	for _, one := range []struct {
		at time.Duration
		ev measure.Event
	}{
		{0, measure.Beat{Robot: "r1", Heartbeat: beat(1, 1000, "a"), RoundTrip: 1500 * time.Microsecond}},
		{2100 * time.Millisecond, measure.Beat{Robot: "r1", Heartbeat: beat(2, 3012, "a"), RoundTrip: 2500 * time.Microsecond}}, // 12 ms late
		{6 * time.Second, measure.Beat{Robot: "r1", Heartbeat: beat(4, 7200, "a")}},                                             // one was lost
		{7 * time.Second,
			measure.Config{Robot: "r1", Config: &schema.ReportedConfig{Applied: map[string]jsontext.Value{"heartbeat_ms": jsontext.Value("1000")}}}},
		{8 * time.Second, measure.Beat{Robot: "r1", Heartbeat: beat(5, 8203, "a")}},  // 3 ms late
		{30 * time.Second, measure.Beat{Robot: "r1", Heartbeat: beat(1, 100, "b")}},  // restarted
		{31 * time.Second, measure.Beat{Robot: "r1", Heartbeat: beat(2, 1050, "b")}}, // earlier than the setting: it was just changed
		{31 * time.Second, measure.Report{Robot: "r1", State: &schema.State{
			Link:      schema.StateLink{State: schema.LinkUp, BudgetMS: 5000},
			Units:     []schema.UnitState{{ID: "head", Kind: "head", Detail: "55 %"}, {ID: "b", Kind: "battery", Detail: "87 %, charging"}},
			Diagnosis: []schema.Device{{ID: "head", TemperatureC: new(61.0)}, {ID: "drive", TemperatureC: &hot}, {ID: "led"}},
		}}},
		{40 * time.Second, measure.Report{Robot: "r1", State: &schema.State{
			Link: schema.StateLink{State: schema.LinkLost}, Units: []schema.UnitState{{ID: "b", Kind: "battery", Detail: "unknown"}},
		}}},
		{41 * time.Second, measure.Report{Robot: "r1", State: &schema.State{Link: schema.StateLink{State: schema.LinkNever}}}},
		{42 * time.Second, measure.Driven{Robot: "r1", SpeedMPS: 0.25}},
		{43 * time.Second, measure.Driven{Robot: "r1", SpeedMPS: math.NaN()}},
	} {
		measure.Step(state, noon.Add(one.at), one.ev)
	}
	if state.WantsSpeed("r1", noon.Add(43*time.Second+200*time.Millisecond)) || !state.WantsSpeed("r1", noon.Add(44*time.Second)) {
		t.Error("of ten speeds a second two count")
	}
	rows := measure.Step(state, noon.Add(time.Minute), measure.Tick{})
	if len(rows) != 1 {
		t.Fatalf("%d rows", len(rows))
	}
	want := measure.Values{
		measure.Battery:       {1, 87, 87, 87},
		measure.Temperature:   {1, 71.5, 71.5, 71.5},
		measure.LoopLateness:  {2, 3, 12, 15},
		measure.RoundTrip:     {2, 1.5, 2.5, 4},
		measure.HeartbeatGap:  {4, 1000, 3900, 9000},
		measure.SilenceBudget: {2, 0, 5000, 5000},
		measure.Speed:         {1, 0.25, 0.25, 0.25},
	}
	for i, w := range want {
		if got := rows[0].Values[i]; got != w {
			t.Errorf("%v: %+v, want %+v", measure.Series(i), got, w)
		}
	}
}

// A robot at rest announces when its next heartbeat comes, and sends it earlier if it is no longer at rest.
func TestLatenessCountsFromTheAnnouncedTime(t *testing.T) {
	state := measure.NewState()
	for i, mono := range []int64{1000, 11_004, 13_004} {
		h := schema.Heartbeat{Session: "s", Boot: "a", Seq: int64(i + 1), MonoMS: mono, NextMS: schema.RestHeartbeatMS}
		measure.Step(state, noon.Add(time.Duration(mono)*time.Millisecond), measure.Beat{Robot: "r1", Heartbeat: h})
	}
	rows := measure.Step(state, noon.Add(time.Minute), measure.Tick{})
	if got := rows[0].Values[measure.LoopLateness]; got.Count != 1 || got.Max != 4 {
		t.Errorf("it was late %+v, want once by 4 ms", got)
	}
}
