package stop

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/schema"
)

// reportedByR1 returns a stop of all robots as r1 reports it.
func reportedByR1(id string, since, now int) Request {
	o, _ := RequestFromRobot("r1", schema.StopLatch{ID: id, Level: schema.StopStop, By: "wall1", Since: schema.TimeOf(at(since)), All: true},
		0, at(now))
	return o
}

func TestStopOfAllReportedByOneRobotHoldsAll(t *testing.T) {
	d := newFleetModel(t)
	c := d.hold(10, reportedByR1("fire", 1, 10))
	if !d.all.Active || d.all.ID != "fire" || d.on("r1") != "fire" || d.on("r2") != "fire" {
		t.Errorf("all: %+v, r1 %q, r2 %q", d.all, d.on("r1"), d.on("r2"))
	}
	if len(c.Notes) != 1 || !strings.Contains(c.Notes[0].Detail, "learned from r1; which reports it as a stop of all robots") {
		t.Errorf("the audit says %+v", c.Notes)
	}
	if c := d.hold(11, reportedByR1("fire", 1, 11)); !c.Empty() {
		t.Errorf("reported again: %+v", c)
	}
}

// A robot that was offline during the release still reports the stop when it is back.
func TestReleasedStopReportedByOneRobotHoldsOnlyThatRobot(t *testing.T) {
	d := newFleetModel(t)
	d.hold(2, Request{ID: "fire", Level: schema.StopStop, At: at(2), All: true, Client: "wall1", NoOwnID: true})
	d.release(20, "fire")
	late := reportedByR1("fire", 1, 30)
	if !ReleasesOf(d.rows).Include(late) {
		t.Error("it is taken for another stop")
	}
	d.hold(30, late)
	if d.all.Active || d.on("r1") != "fire" || d.on("r2") != "" {
		t.Errorf("all: %+v, r1 %q, r2 %q", d.all, d.on("r1"), d.on("r2"))
	}
	// The stop from fleetd's own document, on a robot whose clock is years behind.
	own, _ := RequestFromRobot("r2", schema.StopLatch{ID: "fire", Since: schema.TimeOf(at(2)), All: true}, 5*365*24*time.Hour, at(31))
	if !ReleasesOf(d.rows).Include(own) {
		t.Error("the stop of fleetd's own document is taken for another stop")
	}
	// Published again since: another stop under the same id.
	if again := reportedByR1("fire", 25, 32); ReleasesOf(d.rows).Include(again) {
		t.Error("the next live stop is taken for the released one")
	} else if d.hold(32, again); !d.all.Active || d.on("r2") != "fire" {
		t.Errorf("all: %+v, r2 %q", d.all, d.on("r2"))
	}
}

func TestStopsOfAllReportedByRobotAreBounded(t *testing.T) {
	d := newFleetModel(t)
	for n := range 3 * maxAll {
		d.hold(n, reportedByR1(fmt.Sprintf("k%d", n), n, n))
	}
	all := 0
	for _, l := range d.rows.Latches {
		if l.Robot == "" && l.IsLatched() {
			all++
		}
	}
	if all != maxAll+1 || !strings.Contains(d.on("r2"), schema.MoreStops) || !strings.Contains(d.on("r1"), "k47") ||
		strings.Contains(d.on("r2"), "k47") {
		t.Errorf("%d stops of all robots; r1 %q, r2 %q", all, d.on("r1"), d.on("r2"))
	}
}

// Each robot of a fleet reports the same stop of all robots, which fleetd did not receive, and another one of its own.
func TestWorkOfReportedStopsGrowsWithTheFleet(t *testing.T) {
	work := map[int]int{}
	for _, robots := range []int{300, 3000} {
		var rows Rows
		var reports []Request
		for i := range robots {
			id := fmt.Sprintf("r%d", i)
			rows.Robots = append(rows.Robots, Robot{ID: id})
			for _, l := range []schema.StopLatch{{ID: "fire", All: true}, {ID: "own"}} {
				l.Since = schema.TimeOf(at(1))
				o, _ := RequestFromRobot(id, l, 0, at(10+i%5))
				reports = append(reports, o)
			}
		}
		p := newPlan(rows, at(20))
		p.persist(reports)
		c, err := p.changes()
		if err != nil || len(c.Latches) != 2*robots+1 {
			t.Fatalf("%d rows latched on %d robots, %v", len(c.Latches), robots, err)
		}
		work[robots] = p.looked
	}
	if ratio := float64(work[3000]) / float64(work[300]); ratio > 12 {
		t.Errorf("10 times as many robots take %.0f times the work: %v", ratio, work)
	}
}
