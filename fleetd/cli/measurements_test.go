package cli

import (
	"strings"
	"testing"
	"time"

	"troupe/fleetd/api"
	"troupe/schema"
)

func measuredForTest() api.Measurements {
	noon := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) schema.Time { return schema.TimeOf(noon.Add(time.Duration(minutes) * time.Minute)) }
	return api.Measurements{Robot: "r1", Since: at(0), Until: at(8), StepS: 60, Series: []api.MeasuredSeries{
		{Name: "battery", Unit: "%", Points: []api.MeasuredPoint{{At: at(0), Min: 80, Mean: 80.5, Max: 81, Values: 2},
			{At: at(1), Min: 79, Mean: 79, Max: 79, Values: 1}, {At: at(7), Min: 60, Mean: 60, Max: 60, Values: 1}}},
		{Name: "silence_budget", Unit: "ms", Points: []api.MeasuredPoint{{At: at(3), Min: 5000, Mean: 5000, Max: 5000, Values: 6}}},
	}}
}

func TestMeasurementsAreDrawnWithTheirGaps(t *testing.T) {
	var out strings.Builder
	measurementsTable(&out, measuredForTest())
	for _, want := range []string{"1m0s each column", "battery", "60     75    81        60      █▇·····▁", "···▁····"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

func TestMeasurementsAreALineForEachPoint(t *testing.T) {
	var out strings.Builder
	if err := measurementsCSV(&out, measuredForTest()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 5 || lines[0] != "robot,at,seconds,name,unit,min,mean,max,values" ||
		lines[1] != "r1,2026-03-14T12:00:00.000Z,60,battery,%,80,80.5,81,2" {
		t.Errorf("%q", lines)
	}
}
