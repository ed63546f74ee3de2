package main

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// scalePage is the page with the sizes of fleets. Its tables between the marks are made of the results of make bench.
const scalePage = "docs/scale.md"

// A robot at rest sends a heartbeat every 10 s and its state every 55 s.
const (
	heartbeatEvery = 10 * time.Second
	stateEvery     = 55 * time.Second
)

// scaleSizes are the fleets of the sizing table.
var scaleSizes = []int{10, 100, 1000, 3000, 10_000, 30_000, 100_000}

// fillScalePage replaces what stands between the marks of a page. report is nil before the first make bench.
func fillScalePage(page string, report *Report) (string, error) {
	for _, block := range []struct{ name, text string }{
		{"machine", scaleMachine(report)}, {"one robot", scaleRobot(report)}, {"sizes", scaleTable(report)}, {"measured", scaleMeasured(report)},
	} {
		begin, end := "<!-- "+block.name+" -->\n", "<!-- end -->"
		before, rest, found := strings.Cut(page, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			return "", fmt.Errorf("%s has no marks <!-- %s --> and <!-- end -->", scalePage, block.name)
		}
		page = before + begin + block.text + end + after
	}
	return page, nil
}

const notMeasured = "–"

// found returns a figure of the results.
func (r *Report) found(bench, arm, value string) (float64, bool) {
	for _, v := range r.result(bench).arm(arm).Values {
		if v.Name == value {
			return v.Is, true
		}
	}
	return 0, false
}

// cell shows a figure of the results.
func (r *Report) cell(bench, arm, value string) string {
	for _, v := range r.result(bench).arm(arm).Values {
		if v.Name == value {
			return v.show()
		}
	}
	return notMeasured
}

func scaleMachine(r *Report) string {
	if r == nil {
		return "`make bench` has not been run on a quiet machine and committed: figures that it measures are shown as –.\n"
	}
	m := r.Machine
	return fmt.Sprintf("Measured on %s by commit %s, %s, %d cores, load %s before it and %s after it; fdatasync p50 %s, p99 %s.\n",
		strings.TrimSuffix(m.Time, "Z"), m.Commit, m.System, m.Cores, m.Load, m.LoadEnd, showMicroseconds(m.Fsync.P50),
		showMicroseconds(m.Fsync.P99))
}

// restArm is the arm of the bench rest with what a program needs of a fleet.
func restArm(program string) string { return fmt.Sprintf("%s, %d robots", program, wholeFleet) }

// scaleRobot is what one robot of a fleet at rest needs.
func scaleRobot(r *Report) string {
	var b strings.Builder
	b.WriteString("| one robot at rest needs | of the broker | of fleetd |\n|---|---|---|\n")
	for _, row := range []struct{ name, value string }{{"memory", "memory of a robot"}, {"processor time", "CPU of a robot"}} {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", row.name, r.cell("rest", restArm("broker"), row.value), r.cell("rest", restArm("fleetd"),
			row.value))
	}
	fmt.Fprintf(&b, "| MQTT received, sent | %s, %s | |\n", r.cell("rest", restArm("broker"), "MQTT from a robot"),
		r.cell("rest", restArm("broker"), "MQTT to it and to fleetd of it"))
	return b.String()
}

// scaleTable is the arithmetic: what a fleet at rest needs is that of one robot times their number.
func scaleTable(r *Report) string {
	var b strings.Builder
	b.WriteString("| robots | connections of the broker | its file descriptors | memory of the broker | of fleetd | processor time of both " +
		"| messages a second | " +
		"network, in and out | database after a year |\n|---|---|---|---|---|---|---|---|---|\n")
	times := func(n int, bench, arm, value, unit string) string {
		if one, ok := r.found(bench, arm, value); ok {
			return Value{Unit: unit, Is: one * float64(n)}.show()
		}
		return notMeasured
	}
	for _, n := range scaleSizes {
		both := notMeasured
		broker, ok1 := r.found("rest", restArm("broker"), "CPU of a robot")
		fleetd, ok2 := r.found("rest", restArm("fleetd"), "CPU of a robot")
		if ok1 && ok2 {
			both = fmt.Sprintf("%.2f cores", (broker+fleetd)*float64(n)/1e6)
		}
		rate := float64(n) * (1/heartbeatEvery.Seconds() + 1/stateEvery.Seconds())
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s, %s | %s |\n", thousands(n), thousands(n+beside), thousands(n+beside+ownFiles),
			times(n, "rest", restArm("broker"), "memory of a robot", "B"), times(n, "rest", restArm("fleetd"), "memory of a robot", "B"), both,
			thousands(int(math.Ceil(rate))),
			times(n, "rest", restArm("broker"), "MQTT from a robot", "B/s"), times(n, "rest", restArm("broker"), "MQTT to it and to fleetd of it",
				"B/s"),
			showBytes(float64(n)*databaseOfARobot))
	}
	return b.String()
}

const (
	// beside are the connections that are not of robots: of fleetd and of some consoles and programs.
	beside = 20
	// ownFiles are the files that the broker has open beside its connections.
	ownFiles = 20
	// databaseOfARobot is what docs/monitor.md says of 7 days of minutes and a year of measurements in SQLite, and the
	// documents of a robot.
	databaseOfARobot = 1.2*(1<<20) + 10*(1<<10)
)

// thousands writes a number with commas.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// scaleMeasured is what fleets of three sizes did.
func scaleMeasured(r *Report) string {
	sizes := []int{1000, middleFleet, wholeFleet}
	var b strings.Builder
	b.WriteString("| robots")
	for _, n := range sizes {
		b.WriteString(" | " + thousands(n))
	}
	b.WriteString(" |\n|---" + strings.Repeat("|---", len(sizes)) + "|\n")
	for _, row := range []struct{ text, bench, arm, value string }{
		{"adopted, from the start of all robots", "fleet", "%d robots", "adoption"},
		{"`fleetd robot list`", "fleet", "%d robots", "robot list"},
		{"`GET /robots`", "fleet", "%d robots", "GET /robots"},
		{"plan of an assignment to all", "fleet", "%d robots", "assignment plan"},
		{"stop of all: the last robot has the live stop", "fleet", "stop of %d robots", "live stop at the last robot"},
		{"its last answer", "fleet", "stop of %d robots", "last answer"},
		{"fleetd answers the request, with all answers", "fleet", "stop of %d robots", "answer of the API"},
		{"of these UNKNOWN, in all rounds", "fleet", "stop of %d robots", "UNKNOWN"},
		{"fleetd answers the release", "fleet", "stop of %d robots", "release"},
		{"no robot is stopped any more", "fleet", "stop of %d robots", "released at the last robot"},
		{"all back after the broker was killed", "fleet", "%d robots", "back after a broker's restart"},
		{"fleetd is ready after its own restart", "fleet", "%d robots", "fleetd ready"},
		{"and has every robot", "fleet", "%d robots", "fleetd has every robot"},
		{"a story with a new sound at every robot", "story", "story to %d robots", "every robot has it"},
	} {
		b.WriteString("| " + row.text)
		for _, n := range sizes {
			b.WriteString(" | " + r.cell(row.bench, fmt.Sprintf(row.arm, n), row.value))
		}
		b.WriteString(" |\n")
	}
	return b.String()
}
