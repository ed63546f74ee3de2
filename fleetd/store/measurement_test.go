package store_test

import (
	"fmt"
	"testing"
	"time"

	"troupe/fleetd/decommission"
	"troupe/fleetd/measure"
	"troupe/fleetd/store"
	"troupe/fleetd/store/storetest"
)

// nine is the beginning of an hour.
var nine = storetest.Start.Truncate(time.Hour)

// after is so many minutes after nine.
func after(minutes int) time.Time { return nine.Add(time.Duration(minutes) * time.Minute) }

// measured is a minute of a robot after nine with so many values of its battery.
func measured(robot string, minute, values int, percent float64) measure.Minute {
	m := measure.Minute{Robot: robot, Point: measure.Point{Start: after(minute).Unix()}}
	for range values {
		m.Values[measure.Battery].Add(percent)
	}
	return m
}

// batteries are the points of a robot, as MINUTE:VALUES:MEAN.
func batteries(t *testing.T, s *store.Store, robot string, from, to int, quarters bool) []string {
	t.Helper()
	all := []string{}
	points := must[[]measure.Point](t)(s.Measurements(t.Context(), robot, after(from), after(to), quarters))
	for _, p := range points {
		b := p.Values[measure.Battery]
		all = append(all, fmt.Sprintf("%d:%d:%v", (p.Start-nine.Unix())/60, b.Count, b.Mean()))
	}
	return all
}

func always() bool { return true }

func measurementsAreReadBack(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	n := must[int64](t)(s.AddMeasurements(t.Context(), []measure.Minute{
		measured("r1", 0, 2, 80), measured("r1", 1, 2, 79), measured("r1", 20, 1, 70), measured("r1", 61, 3, 60), measured("r2", 0, 1, 50),
		measured("unknown", 0, 1, 50),
	}))
	wantEqual(t, "written rows", n, int64(5))
	wantEqual(t, "rows of minutes with as many values",
		must[int64](t)(s.AddMeasurements(t.Context(), []measure.Minute{measured("r1", 0, 2, 10), measured("r1", 1, 1, 10)})), int64(0))
	wantEqual(t, "rows of a minute with more values",
		must[int64](t)(s.AddMeasurements(t.Context(), []measure.Minute{measured("r1", 1, 3, 78)})), int64(1))

	minutes := []string{"0:2:80", "1:3:78", "20:1:70", "61:3:60"}
	quarters := []string{"0:5:78.8", "15:1:70", "60:3:60"}
	both := func(when string) {
		t.Helper()
		wantEqual(t, "minutes "+when, batteries(t, s, "r1", 0, 120, false), minutes)
		wantEqual(t, "quarter hours "+when, batteries(t, s, "r1", 0, 120, true), quarters)
		wantEqual(t, "the other robot "+when, batteries(t, s, "r2", 0, 120, false), []string{"0:1:50"})
		wantEqual(t, "minutes from 1 before 61 "+when, batteries(t, s, "r1", 1, 61, false), minutes[1:3])
		values := map[string]int64{}
		if err := s.FleetMeasurements(t.Context(), after(0), after(60), func(robot string, p measure.Point) {
			values[robot] += p.Count()
		}); err != nil {
			t.Error(err)
		}
		wantEqual(t, "values of the fleet in an hour "+when, values, map[string]int64{"r1": 6, "r2": 1})
	}
	both("that are not folded")
	wantEqual(t, "minutes folded within the hour", must[int64](t)(s.FoldMeasurements(t.Context(), after(59), always)), int64(0))
	wantEqual(t, "minutes folded after it", must[int64](t)(s.FoldMeasurements(t.Context(), after(60), always)), int64(4))
	wantEqual(t, "minutes folded again", must[int64](t)(s.FoldMeasurements(t.Context(), after(60), always)), int64(0))
	both("of which an hour is folded")

	// The clock was set back, and an instance that led before writes what it had.
	must[int64](t)(s.AddMeasurements(t.Context(), []measure.Minute{measured("r1", 0, 1, 1), measured("r1", 20, 4, 71),
		measured("r1", 21, 1, 66)}))
	minutes = []string{"0:2:80", "1:3:78", "20:4:71", "21:1:66", "61:3:60"}
	quarters[1] = "15:5:70"
	wantEqual(t, "minutes after the clock was set back", batteries(t, s, "r1", 0, 120, false), minutes)
	wantEqual(t, "minutes folded after that", must[int64](t)(s.FoldMeasurements(t.Context(), after(60), always)), int64(3))
	wantEqual(t, "minutes that are folded again", batteries(t, s, "r1", 0, 120, false), minutes)
	wantEqual(t, "quarter hours that are folded again", batteries(t, s, "r1", 0, 120, true), quarters)
}

func measurementsOfManyRobotsAreFolded(t *testing.T, address string) {
	s := storetest.Open(t, address)
	var names []string
	var all []measure.Minute
	for i := range 25 {
		names = append(names, fmt.Sprintf("r%d", i))
		for m := range 3 {
			all = append(all, measured(names[i], m, 1, float64(i)))
		}
	}
	robots(t, s, names...)
	must[int64](t)(s.AddMeasurements(t.Context(), all))
	steps := 0
	n := must[int64](t)(s.FoldMeasurements(t.Context(), after(120), func() bool { steps++; return steps < 2 }))
	wantEqual(t, "minutes folded until it ended early", n, int64(60))
	wantEqual(t, "minutes folded afterwards", must[int64](t)(s.FoldMeasurements(t.Context(), after(120), always)), int64(15))
	for i, name := range names {
		wantEqual(t, name, batteries(t, s, name, 0, 60, false), []string{fmt.Sprintf("0:1:%d", i), fmt.Sprintf("1:1:%d", i),
			fmt.Sprintf("2:1:%d", i)})
	}
}

func oldMeasurementsArePruned(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1")
	for hour := range 30 {
		must[int64](t)(s.AddMeasurements(t.Context(), []measure.Minute{measured("r1", hour*60, 1, 50)}))
		must[int64](t)(s.FoldMeasurements(t.Context(), after(60*(hour+1)), always))
	}
	wantEqual(t, "points", len(batteries(t, s, "r1", 0, 30*60, false)), 30)
	var steps []int64
	for {
		n := must[int64](t)(s.PruneMinuteMeasurements(t.Context(), after(20*60+1), 8))
		if steps = append(steps, n); n == 0 {
			break
		}
	}
	wantEqual(t, "pruned rows", steps, []int64{8, 8, 4, 0})
	wantEqual(t, "the first minute left", batteries(t, s, "r1", 0, 21*60, false), []string{"1200:1:50"})
	wantEqual(t, "quarter hours left", len(batteries(t, s, "r1", 0, 30*60, true)), 30)
	day := nine.Truncate(24 * time.Hour)
	wantEqual(t, "pruned days within the first", must[int64](t)(s.PruneQuarterMeasurements(t.Context(), day.Add(23*time.Hour), 8)), int64(0))
	wantEqual(t, "pruned days after it", must[int64](t)(s.PruneQuarterMeasurements(t.Context(), day.Add(24*time.Hour+time.Second), 8)),
		int64(1))
}

func decommissionDeletesMeasurements(t *testing.T, address string) {
	s := storetest.Open(t, address)
	robots(t, s, "r1", "r2")
	for minute := range 2 {
		must[int64](t)(s.AddMeasurements(t.Context(), []measure.Minute{measured("r1", minute*70, 1, 50), measured("r2", minute*70, 1, 50)}))
	}
	must[int64](t)(s.FoldMeasurements(t.Context(), after(60), always))
	transact(t, s, func(tx *store.Tx) error {
		if err := tx.BeginDecommission(t.Context(), "r1", "anna", "", after(130)); err != nil {
			return err
		}
		return tx.StepDecommission(t.Context(), decommission.Decommission{Robot: "r1", Step: decommission.Begun}, decommission.Archived,
			after(130))
	})
	wantEqual(t, "points of the decommissioned robot", batteries(t, s, "r1", 0, 120, false), []string{})
	wantEqual(t, "its quarter hours", batteries(t, s, "r1", 0, 120, true), []string{})
	wantEqual(t, "points of the other robot", len(batteries(t, s, "r2", 0, 120, false)), 2)
	wantEqual(t, "what is written of it afterwards",
		must[int64](t)(s.AddMeasurements(t.Context(), []measure.Minute{measured("r1", 80, 1, 50)})), int64(0))
}
