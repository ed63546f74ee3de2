package api

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/measure"
	"troupe/fleetd/operation"
	"troupe/schema"
)

const (
	// defaultMeasuredTime is the time of which measurements are listed unless the request says another one.
	defaultMeasuredTime = 24 * time.Hour
	// maxMeasuredTime and maxFleetTime bound it.
	maxMeasuredTime = 400 * 24 * time.Hour
	maxFleetTime    = 31 * 24 * time.Hour
)

// Measurements is what was measured of one robot.
type Measurements struct {
	Robot  string           `json:"robot"`
	Since  schema.Time      `json:"since"`
	Until  schema.Time      `json:"until"`
	StepS  int64            `json:"step_s" doc:"length of the interval of each point, in seconds; an interval in which nothing arrived has no point"`
	Series []MeasuredSeries `json:"series" doc:"those that have a point in this time"`
}

// MeasuredSeries is one measurement over time.
type MeasuredSeries struct {
	Name   string          `json:"name"`
	Unit   string          `json:"unit"`
	Text   string          `json:"text"`
	Points []MeasuredPoint `json:"points" doc:"in the order of time"`
}

// MeasuredPoint is what was measured in one interval.
type MeasuredPoint struct {
	At     schema.Time `json:"at" doc:"when the interval begins, by fleetd's clock"`
	Min    float64     `json:"min"`
	Mean   float64     `json:"mean"`
	Max    float64     `json:"max"`
	Values int64       `json:"values" doc:"how many arrived"`
}

// FleetMeasurements is one measurement of all robots over time.
type FleetMeasurements struct {
	Name   string       `json:"name"`
	Unit   string       `json:"unit"`
	Text   string       `json:"text"`
	Since  schema.Time  `json:"since"`
	Until  schema.Time  `json:"until"`
	StepS  int64        `json:"step_s" doc:"length of the interval of each point, in seconds"`
	Points []FleetPoint `json:"points" doc:"in the order of time"`
}

// FleetPoint is what was measured of the robots in one interval.
type FleetPoint struct {
	At      schema.Time `json:"at" doc:"when the interval begins"`
	Robots  int         `json:"robots" doc:"of how many there is a value"`
	Min     float64     `json:"min"`
	Lowest  string      `json:"lowest" doc:"the robot with the least value"`
	Mean    float64     `json:"mean" doc:"of the means of the robots"`
	Max     float64     `json:"max"`
	Highest string      `json:"highest" doc:"the robot with the greatest value"`
}

func (s *server) measurements(t *operation.Table) {
	operation.Register(t, operation.Row{
		ID: "list-measurements", Method: http.MethodGet, Path: "/robots/{id}/measurements", Tag: "robots", Right: auth.View,
		Summary: "List what was measured of a robot over time",
		Description: "The least, the mean and the greatest value of each interval. fleetd keeps a point a minute for a week and one each 15 " +
			"minutes for a year, unless its settings say otherwise; from before that there is nothing. Intervals are as long as needed for at " +
			"most so many points.",
		Use: "robot measurements ROBOT",
		Example: "robot measurements r1\nrobot measurements r1 --since 1h --names battery,round_trip\n" +
			"robot measurements r1 --since 2026-03-01T00:00:00Z --csv",
		Short: "draw the battery, round trips and other measurements of a robot over time, or print them for a spreadsheet",
	}, func(ctx context.Context, in *struct {
		PathID
		Names  []string  `query:"names" maxItems:"16" doc:"only these, with commas: battery, temperature, loop_lateness, round_trip, heartbeat_gap, silence_budget, speed"`
		Since  time.Time `query:"since" doc:"default a day before until; only what was measured at or after" cli:",when"`
		Until  time.Time `query:"until" doc:"default now; only what was measured before" cli:",when"`
		Points int64     `query:"points" minimum:"1" maximum:"12000" default:"300" doc:"at most so many of each series"`
	}) (*answer[Measurements], error) {
		if _, err := s.robot(in.ID); err != nil {
			return nil, err
		}
		since, until, problems := s.measuredTime(in.Since, in.Until, maxMeasuredTime)
		var wanted []measure.Series
		for _, name := range in.Names {
			one, known := measure.ParseSeries(name)
			if !known {
				problems = append(problems, noSeries("/names", name))
			}
			wanted = append(wanted, one)
		}
		if len(problems) > 0 {
			return nil, refusal(findings("query", problems))
		}
		points, length, err := s.Measurements.Of(ctx, in.ID, since, until)
		if err != nil {
			return nil, s.fail(err, "measurements")
		}
		step := measure.BucketLength(int64(until.Sub(since)/time.Second), in.Points, length)
		out := Measurements{Robot: in.ID, Since: schema.TimeOf(since), Until: schema.TimeOf(until), StepS: step, Series: []MeasuredSeries{}}
		points = measure.Buckets(points, step)
		for i, row := range measure.Table {
			if of := measure.Series(i); len(wanted) == 0 || slices.Contains(wanted, of) {
				if one := seriesOf(row, points, of); len(one.Points) > 0 {
					out.Series = append(out.Series, one)
				}
			}
		}
		return &answer[Measurements]{out}, nil
	})
	operation.Register(t, operation.Row{
		ID: "list-fleet-measurements", Method: http.MethodGet, Path: "/measurements", Tag: "robots", Right: auth.View,
		Summary:     "List one measurement of all robots over time",
		Description: "Of the robots that the request may see: how many have a value, the least, the mean and the greatest.",
		Use:         "robot measured NAME",
		Example:     "robot measured battery\nrobot measured round_trip --since 168h --points 42",
		Columns:     "AT at | ROBOTS robots | LEAST min | OF lowest | MEAN mean | GREATEST max | OF highest",
		None:        "nothing was measured in that time",
	}, func(ctx context.Context, in *struct {
		caller
		Name   string    `query:"name" required:"true" maxLength:"32" doc:"battery, temperature, loop_lateness, round_trip, heartbeat_gap, silence_budget or speed" cli:"-"`
		Since  time.Time `query:"since" doc:"default a day before until; only what was measured at or after" cli:",when"`
		Until  time.Time `query:"until" doc:"default now; only what was measured before" cli:",when"`
		Points int64     `query:"points" minimum:"1" maximum:"3000" default:"96" doc:"at most so many" cli:",,24"`
		Site   string    `query:"site" maxLength:"63" doc:"only of robots whose label site is this"`
	}) (*answer[FleetMeasurements], error) {
		sites, err := sitesOf(in.principal, in.Site)
		if err != nil {
			return nil, err
		}
		since, until, problems := s.measuredTime(in.Since, in.Until, maxFleetTime)
		of, known := measure.ParseSeries(in.Name)
		if !known {
			problems = append(problems, noSeries("/name", in.Name))
		}
		if len(problems) > 0 {
			return nil, refusal(findings("query", problems))
		}
		end, err := s.heavy.begin(ctx)
		if err != nil {
			return nil, err
		}
		defer end()
		seen := map[string]bool{}
		for _, r := range visible(in.principal, s.View.Robots()) {
			seen[r.ID] = len(sites) == 0 || slices.Contains(sites, r.Labels[auth.SiteLabel])
		}
		row, step := measure.Table[of], measure.BucketLength(int64(until.Sub(since)/time.Second), in.Points, measure.QuarterS)
		all := intervals{}
		err = s.Measurements.OfFleet(ctx, since, until, func(robot string, p measure.Point) {
			if seen[robot] {
				all.add(robot, p.Start-p.Start%step, p.Values[of])
			}
		})
		if err != nil {
			return nil, s.fail(err, "measurements")
		}
		return &answer[FleetMeasurements]{FleetMeasurements{
			Name: row.Name, Unit: row.Unit, Text: row.Text, Since: schema.TimeOf(since), Until: schema.TimeOf(until), StepS: step,
			Points: all.points(),
		}}, nil
	})
}

func noSeries(pointer, name string) schema.Problem {
	return schema.NewProblem(pointer, "bad_value", fmt.Sprintf("nothing named %q is measured", name), "write of "+measure.Names())
}

// measuredTime completes the time of a request, and says what is wrong with it.
func (s *server) measuredTime(since, until time.Time, most time.Duration) (from, to time.Time, problems []schema.Problem) {
	if until.IsZero() {
		until = s.Now()
	}
	if since.IsZero() {
		since = until.Add(-defaultMeasuredTime)
	}
	switch {
	case !since.Before(until):
		problems = append(problems, schema.NewProblem("/since", "out_of_range", "since is not before until", "write an earlier since"))
	case until.Sub(since) > most:
		days := int(most / (24 * time.Hour))
		problems = append(problems, schema.NewProblem("/since", "out_of_range", fmt.Sprintf("that are more than %d days", days),
			"write a later since, or an earlier until"))
	}
	return since, until, problems
}

// rounded keeps as many digits as people and curves need.
func rounded(v float64) float64 { return math.Round(v*1000) / 1000 }

func seriesOf(row measure.SeriesRow, points []measure.Point, of measure.Series) MeasuredSeries {
	out := MeasuredSeries{Name: row.Name, Unit: row.Unit, Text: row.Text, Points: []MeasuredPoint{}}
	for _, p := range points {
		if a := p.Values[of]; a.Count > 0 {
			out.Points = append(out.Points, MeasuredPoint{schema.TimeOf(p.Time()), rounded(a.Min), rounded(a.Mean()), rounded(a.Max), a.Count})
		}
	}
	return out
}

// intervals are the values of robots by the beginning of an interval.
type intervals map[int64]map[string]measure.Aggregate

func (all intervals) add(robot string, start int64, a measure.Aggregate) {
	if a.Count == 0 {
		return
	}
	if all[start] == nil {
		all[start] = map[string]measure.Aggregate{}
	}
	sum := all[start][robot]
	sum.Join(a)
	all[start][robot] = sum
}

func (all intervals) points() []FleetPoint {
	out := []FleetPoint{}
	for _, start := range slices.Sorted(maps.Keys(all)) {
		f := FleetPoint{At: schema.TimeOf(time.Unix(start, 0)), Robots: len(all[start]), Min: math.Inf(1), Max: math.Inf(-1)}
		for _, robot := range slices.Sorted(maps.Keys(all[start])) {
			a := all[start][robot]
			f.Mean += a.Mean()
			if a.Min < f.Min {
				f.Min, f.Lowest = a.Min, robot
			}
			if a.Max > f.Max {
				f.Max, f.Highest = a.Max, robot
			}
		}
		f.Min, f.Mean, f.Max = rounded(f.Min), rounded(f.Mean/float64(f.Robots)), rounded(f.Max)
		out = append(out, f)
	}
	return out
}
