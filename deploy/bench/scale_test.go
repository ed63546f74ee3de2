package main

import (
	"os"
	"strings"
	"testing"

	"troupe/schema/golden"
)

// The tables of the page are those of the committed results: go test ./deploy/bench -run Scale -update writes them.
func TestScalePageHasTheCommittedResults(t *testing.T) {
	page, err := os.ReadFile("../../" + scalePage)
	if err != nil {
		t.Fatal(err)
	}
	var report *Report
	switch text, err := os.ReadFile("../../" + committedPath(false)); {
	case err == nil:
		if report, err = decodeReport(text); err != nil {
			t.Fatal(err)
		}
	case !os.IsNotExist(err):
		t.Fatal(err)
	}
	filled, err := fillScalePage(string(page), report)
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "../../"+scalePage, filled)
}

func TestSizesAreOneRobotTimesTheirNumber(t *testing.T) {
	r := &Report{Results: []Result{
		{Bench: "rest", Arms: []Arm{
			{Name: "broker, 10000 robots", Values: []Value{{"memory of a robot", "B", 100 << 10}, {"CPU of a robot", "µs/s", 20},
				{"MQTT from a robot", "B/s", 170}}},
			{Name: "fleetd, 10000 robots", Values: []Value{{"memory of a robot", "B", 20 << 10}, {"CPU of a robot", "µs/s", 30}}},
		}},
		{Bench: "fleet", Arms: []Arm{{Name: "stop of 3000 robots", Values: []Value{{"last answer", "s", 2.5}}}}},
	}}
	for text, want := range map[string]string{
		scaleTable(r):    "| 1,000 | 1,020 | 1,040 | 97.7 MiB | 19.5 MiB | 0.05 cores | 119 | 166.0 KiB/s, – | 1.18 GiB |",
		scaleMeasured(r): "| its last answer | – | 2.50 s | – |",
		scaleTable(nil):  "| 100,000 | 100,020 | 100,040 | – | – | – | 11,819 | –, – | 118.14 GiB |",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no line %s in\n%s", want, text)
		}
	}
}
