package cli

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"troupe/fleetd/api"
	"troupe/schema"
)

const (
	// curveColumns is how wide a curve in a table is.
	curveColumns = 48
	// mostPoints is as many as fleetd returns.
	mostPoints = 12_000
)

// robotMeasurements adds --csv.
func robotMeasurements(sh *shell, c *cobra.Command) finish {
	table := c.Flags().Bool("csv", false, "print a table for spreadsheets: one line for each point, as many points as there are")
	return func(ctx context.Context, args []string, r rowRequest) error {
		given := c.Flags().Changed("points")
		switch {
		case *table && !given:
			r.query.Set("points", strconv.Itoa(mostPoints))
		case sh.forPeople() && !given:
			r.query.Set("points", strconv.Itoa(curveColumns))
		}
		var got api.Measurements
		if err := sh.call(ctx, r.http(), &got); err != nil {
			return err
		}
		if *table {
			return measurementsCSV(sh.Out, got)
		}
		return sh.show(got, func(out io.Writer) { measurementsTable(out, got) })
	}
}

// measurementsCSV has one line for each point of each series.
func measurementsCSV(out io.Writer, got api.Measurements) error {
	w := csv.NewWriter(out)
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	rows := [][]string{{"robot", "at", "seconds", "name", "unit", "min", "mean", "max", "values"}}
	for _, s := range got.Series {
		for _, p := range s.Points {
			rows = append(rows, []string{got.Robot, p.At.String(), strconv.FormatInt(got.StepS, 10), s.Name, s.Unit, number(p.Min), number(p.Mean),
				number(p.Max), strconv.FormatInt(p.Values, 10)})
		}
	}
	return w.WriteAll(rows)
}

func measurementsTable(out io.Writer, got api.Measurements) {
	if len(got.Series) == 0 {
		fmt.Fprintf(out, "nothing was measured of %s from %s to %s\n", got.Robot, formatTime(got.Since), formatTime(got.Until))
		return
	}
	fmt.Fprintf(out, "%s from %s to %s, %v each column\n", got.Robot, formatTime(got.Since), formatTime(got.Until),
		time.Duration(got.StepS)*time.Second)
	writeTable(out, "MEASUREMENT\tUNIT\tLEAST\tMEAN\tGREATEST\tNEWEST\tCURVE", got.Series, func(s api.MeasuredSeries) []any {
		least, most, sum, n := math.Inf(1), math.Inf(-1), 0.0, int64(0)
		for _, p := range s.Points {
			least, most = min(least, p.Min), max(most, p.Max)
			sum, n = sum+p.Mean*float64(p.Values), n+p.Values
		}
		short := func(v float64) string { return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) }
		return []any{s.Name, s.Unit, short(least), short(sum / float64(n)), short(most), short(s.Points[len(s.Points)-1].Mean),
			curveText(s.Points, got.Since, got.Until, got.StepS)}
	})
}

var curveBars = []rune("▁▂▃▄▅▆▇█")

// curveText draws the means, one character for each interval; an interval without a point is a dot.
func curveText(points []api.MeasuredPoint, since, until schema.Time, stepS int64) string {
	first := since.Time().Unix() / stepS
	n := (until.Time().Unix()-1)/stepS - first + 1
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		least, most = min(least, p.Mean), max(most, p.Mean)
	}
	curve := []rune(strings.Repeat("·", int(min(n, 4*curveColumns))))
	for _, p := range points {
		i := int(p.At.Time().Unix()/stepS - first)
		if i < 0 || i >= len(curve) {
			continue
		}
		bar := 0
		if most > least {
			bar = int((p.Mean - least) / (most - least) * float64(len(curveBars)-1))
		}
		curve[i] = curveBars[bar]
	}
	return string(curve)
}
