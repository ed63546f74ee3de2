package brain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
	"troupe/schema/score"
)

// charging is a robot in ato with a battery, and a log of what it does about it.
type charging struct {
	*rig
	level    float64
	at       string // the point it stands at; empty = between points
	deadDock bool
	trips    map[uint64]string // gotos under way, to where
	log      []string
}

func newCharging(t *testing.T, story string, set func(*charging)) *charging {
	c := &charging{rig: newRig(t), level: 0.5, at: "entrance", trips: map[uint64]string{}}
	c.cfg.Mode.Boot, c.cfg.Tick = schema.ModeAto, time.Second // a day is long
	c.watch = c.see
	set(c)
	c.boot()
	pin := stories[story]
	c.give(event.DesiredStory{Document: schema.DesiredStory{Rev: 1, FleetID: "fleetd", Story: &pin, Apply: schema.ApplyNow, TS: epoch}})
	c.give(event.Connected{Session: "a"})
	c.use()
	c.until(time.Second)
	return c
}

// use lets a minute of the battery's life pass after the next minute of the robot's.
func (c *charging) use() {
	c.come(coming{at: c.now + time.Minute, do: func() {
		if c.charges() {
			c.level = min(1, c.level+0.05)
		} else {
			c.level = max(0, c.level-0.002)
		}
		c.report()
		c.use()
	}})
}

func (c *charging) charges() bool { return c.at == "dock" && !c.deadDock }

func (c *charging) report() {
	c.give(event.Reported{Event: driver.Event{Kind: driver.Battery, Unit: "battery", Level: c.level, Charging: c.charges()}})
}

// drop sets the battery to a level.
func (c *charging) drop(to float64) {
	c.level = to
	c.report()
}

func (c *charging) order(verb string) {
	group, name, _ := strings.Cut(verb, "/")
	c.give(event.Command{Client: "op1", Group: group, Verb: name})
}

func (c *charging) note(format string, args ...any) {
	c.log = append(c.log, fmt.Sprintf("%s at %.0f %%: %s", c.now.Truncate(time.Minute), c.level*100, fmt.Sprintf(format, args...)))
}

func (c *charging) see(ev event.Event, effects []effect.Effect) {
	if r, ok := ev.(event.Reported); ok && r.Kind == driver.Done && c.trips[r.Key] != "" {
		c.at = c.trips[r.Key]
		if c.charges() {
			c.soon(0, event.Reported{Event: driver.Event{Kind: driver.Battery, Unit: "battery", Level: c.level, Charging: true}})
		}
	}
	for _, e := range effects {
		switch e := e.(type) {
		case effect.Start:
			switch do := e.Do.Do.(type) {
			case score.Goto:
				c.trips[e.Key], c.at = do.Point, ""
				if do.XM != nil {
					c.trips[e.Key] = "dock"
				}
				if c.trips[e.Key] == "dock" {
					c.note("drives to dock")
				}
			case score.Say:
				c.note("says %s", e.Text)
			}
		case effect.Stop:
			delete(c.trips, e.Key)
		case effect.LogTransition:
			if e.Machine == "interrupt" {
				c.note("%s, %s", e.From, e.To)
			}
		case effect.LogAlert:
			c.note("alert %s: %s", e.Type, e.Detail)
		}
	}
}

// kept compares the log with what it should be.
func (c *charging) kept(t *testing.T, want ...string) {
	t.Helper()
	for i := range max(len(c.log), len(want)) {
		if i >= len(c.log) || i >= len(want) || c.log[i] != want[i] {
			t.Fatalf("line %d of the log is another:\n%s\nwant:\n%s", i+1, strings.Join(c.log, "\n"), strings.Join(want, "\n"))
		}
	}
}

// alerted reports whether the state says that the robot cannot charge, and what to do.
func (c *charging) alerted() bool {
	return slices.ContainsFunc(c.s.report.Alerts(), func(a schema.Alert) bool {
		return a.Type == "cannot_charge" && a.Level == schema.AlertError && strings.Contains(a.Hint, "interrupt/request power")
	})
}

// wait lets a while pass.
func (c *charging) wait(d time.Duration) { c.until(c.now + d) }

// TestRobotWithALowBatteryThroughADay plays the day of robots that stand at the entrance
// in ato with 15 % in their battery, or its first hours where nothing comes after. What a
// robot does about it is the whole log of that day.
func TestRobotWithALowBatteryThroughADay(t *testing.T) {
	enable := func(c *charging) { c.order("safety/enable"); c.drop(0.15) }
	const (
		low     = ": alert battery_low: the battery is below 20 %"
		begins  = ": requested, running"
		refused = ": requested, rejected"
		says    = ": says My battery is low. I am going to charge."
		drives  = ": drives to dock"
		charged = ": running, finished"
		failed  = ": running, failed"
		called  = ": running, cancelled"
		flat    = ": alert cannot_charge: the battery level has not risen for 5 min at the charger"
		lost    = ": alert cannot_charge: the robot did not reach its charger: it took longer than allowed"
		noDrive = ": alert cannot_charge: the robot cannot go to its charger: it has no drive"
		noMap   = ": alert cannot_charge: the robot cannot go to its charger: it has no map"
	)
	for _, w := range []struct {
		name    string
		story   string // rest, if empty
		set     func(*charging)
		play    func(*charging)
		want    []string
		hours   int     // of the day; 0 = 24
		level   float64 // at the end, at least and to within a tenth
		alerted bool    // that it cannot charge, at the end
	}{
		{name: "its story leads it away from the charger", story: "stroll", play: enable, hours: 24, level: 0.35, want: []string{
			"0s at 15 %" + low, "0s at 15 %" + begins, "0s at 15 %" + says, "0s at 15 %" + drives, "13m0s at 80 %" + charged,
			"5h13m0s at 20 %" + low, "5h13m0s at 20 %" + begins, "5h13m0s at 20 %" + says, "5h13m0s at 20 %" + drives, "5h26m0s at 85 %" + charged,
			"10h51m0s at 20 %" + low, "10h51m0s at 20 %" + begins, "10h51m0s at 20 %" + says, "10h51m0s at 20 %" + drives,
			"11h4m0s at 85 %" + charged,
			"18h19m0s at 20 %" + low, "18h19m0s at 20 %" + begins, "18h19m0s at 20 %" + says, "18h19m0s at 20 %" + drives,
			"18h32m0s at 85 %" + charged,
		}},
		{name: "nobody enables it", play: func(c *charging) { c.drop(0.15) }, want: []string{"0s at 15 %" + low, "0s at 15 %" + begins}},
		{name: "nobody enables it, and its story moves", hours: 5, story: "stroll", play: func(c *charging) { c.drop(0.15) },
			want: []string{"0s at 15 %" + low, "0s at 15 %" + begins}},
		{name: "somebody enables it after three hours", level: 1,
			play: func(c *charging) { c.drop(0.15); c.until(3 * time.Hour); c.order("safety/enable") },
			want: []string{"0s at 15 %" + low, "0s at 15 %" + begins, "3h0m0s at 0 %" + says, "3h0m0s at 0 %" + drives,
				"3h16m0s at 80 %" + charged}},
		{name: "it is paused for an hour", level: 1,
			play: func(c *charging) {
				c.order("safety/enable")
				c.order("auto/pause")
				c.drop(0.15)
				c.until(time.Hour)
				c.order("auto/continue")
			},
			want: []string{"0s at 15 %" + low, "0s at 15 %" + begins, "1h0m0s at 3 %" + says, "1h0m0s at 3 %" + drives,
				"1h16m0s at 83 %" + charged}},
		{name: "it is stopped on its way", hours: 5, level: 1,
			set: func(c *charging) { c.body.trip = 2 * time.Minute },
			play: func(c *charging) {
				enable(c)
				c.wait(time.Minute)
				c.order("safety/stop")
				c.wait(time.Hour)
				c.order("safety/enable")
			},
			want: []string{"0s at 15 %" + low, "0s at 15 %" + begins, "0s at 15 %" + says, "0s at 15 %" + drives,
				"1h1m0s at 3 %" + says, "1h1m0s at 3 %" + drives, "1h19m0s at 82 %" + charged}},
		{name: "it is halted on its way: it asks again after the reset, and goes when it is continued", hours: 5, level: 1,
			set: func(c *charging) { c.body.trip = 2 * time.Minute },
			play: func(c *charging) {
				enable(c)
				c.wait(time.Minute)
				c.order("safety/halt")
				c.wait(10 * time.Minute)
				c.order("safety/reset")
				c.wait(10 * time.Minute)
				c.order("safety/enable")
				c.wait(10 * time.Minute)
				c.order("auto/continue")
			},
			want: []string{"0s at 15 %" + low, "0s at 15 %" + begins, "0s at 15 %" + says, "0s at 15 %" + drives, "1m0s at 15 %" + called,
				"1m0s at 15 %: says I have been stopped.",
				"11m0s at 13 %" + begins, "31m0s at 9 %" + says, "31m0s at 9 %" + drives, "48m0s at 83 %" + charged}},
		{name: "its dock is ten minutes away", level: 1,
			set:  func(c *charging) { c.body.trip = 10 * time.Minute },
			play: enable,
			want: []string{"0s at 15 %" + low, "0s at 15 %" + begins, "0s at 15 %" + says, "0s at 15 %" + drives, "24m0s at 83 %" + charged}},
		{name: "its way is blocked", hours: 5, alerted: true,
			set:  func(c *charging) { c.body.trip = 48 * time.Hour },
			play: enable,
			want: []string{"0s at 15 %" + low, "0s at 15 %" + begins, "0s at 15 %" + says, "0s at 15 %" + drives, "15m0s at 12 %" + lost,
				"15m0s at 12 %" + failed,
				"40m0s at 7 %" + begins, "40m0s at 7 %" + says, "40m0s at 7 %" + drives, "55m0s at 4 %" + failed}},
		{name: "it has no map for three hours, and then one without a dock", level: 1,
			set: func(c *charging) { c.body.lost = true },
			play: func(c *charging) {
				enable(c)
				c.until(3 * time.Hour)
				(&player{rig: c.rig}).desireOther("places", []string{"1", "hall"})
				c.wait(time.Hour)
				if !c.alerted() {
					c.t.Errorf("without a dock there is no alert")
				}
				(&player{rig: c.rig}).desireOther("places", []string{"2", "dock"})
			},
			want: []string{"0s at 15 %" + low, "0s at 15 %" + refused, "0s at 15 %" + noMap, "25m0s at 10 %" + refused, "50m0s at 5 %" + refused,
				"4h0m0s at 0 %" + begins, "4h0m0s at 0 %" + says, "4h0m0s at 0 %" + drives, "4h16m0s at 80 %" + charged}},
		{name: "its dock is taken from its map while it waits", hours: 5, level: 1,
			set: func(c *charging) { c.body.lost = true },
			play: func(c *charging) {
				(&player{rig: c.rig}).desireOther("places", []string{"1", "dock"})
				c.wait(time.Second)
				c.drop(0.15)
				c.until(time.Hour)
				(&player{rig: c.rig}).desireOther("places", []string{"2", "none"})
				c.until(2 * time.Hour)
				c.order("safety/enable")
				c.until(3 * time.Hour)
				if !c.alerted() {
					c.t.Errorf("without a map there is no alert")
				}
				(&player{rig: c.rig}).desireOther("places", []string{"3", "dock"})
			},
			want: []string{"0s at 15 %" + low, "0s at 15 %" + begins, "2h0m0s at 0 %" + noMap, "2h0m0s at 0 %" + failed,
				"3h0m0s at 0 %" + begins, "3h0m0s at 0 %" + says, "3h0m0s at 0 %" + drives, "3h16m0s at 80 %" + charged}},
		{name: "it has no drive", hours: 5, alerted: true,
			set:  func(c *charging) { c.body.fixed = true },
			play: enable,
			want: []string{"0s at 15 %" + low, "0s at 15 %" + refused, "0s at 15 %" + noDrive, "25m0s at 10 %" + refused, "50m0s at 5 %" + refused}},
		{name: "its dock does not charge", alerted: true,
			set:  func(c *charging) { c.deadDock = true },
			play: enable,
			want: []string{"0s at 15 %" + low, "0s at 15 %" + begins, "0s at 15 %" + says, "0s at 15 %" + drives, "5m0s at 14 %" + flat,
				"5m0s at 14 %" + failed,
				"30m0s at 9 %" + begins, "30m0s at 9 %" + says, "30m0s at 9 %" + drives, "35m0s at 8 %" + failed,
				"1h0m0s at 3 %" + begins, "1h0m0s at 3 %" + says, "1h0m0s at 3 %" + drives, "1h5m0s at 2 %" + failed}},
		{name: "its dock dies while it charges, and is mended in the end", hours: 6, level: 1,
			play: func(c *charging) {
				enable(c)
				c.wait(7 * time.Minute)
				c.deadDock = true
				c.until(2 * time.Hour)
				if !c.alerted() {
					c.t.Errorf("the dock is dead and there is no alert")
				}
				c.until(5 * time.Hour)
				c.deadDock = false
			},
			want: []string{"0s at 15 %" + low, "0s at 15 %" + begins, "0s at 15 %" + says, "0s at 15 %" + drives, "12m0s at 49 %" + flat,
				"12m0s at 49 %" + failed,
				"2h37m0s at 20 %" + low, "2h37m0s at 20 %" + begins, "2h37m0s at 20 %" + says, "2h37m0s at 20 %" + drives, "2h42m0s at 19 %" + failed,
				"3h7m0s at 14 %" + begins, "3h7m0s at 14 %" + says, "3h7m0s at 14 %" + drives, "3h12m0s at 13 %" + failed,
				"3h37m0s at 8 %" + begins, "3h37m0s at 8 %" + says, "3h37m0s at 8 %" + drives, "3h42m0s at 7 %" + failed,
				"4h7m0s at 2 %" + begins, "4h7m0s at 2 %" + says, "4h7m0s at 2 %" + drives, "4h12m0s at 1 %" + failed}},
		{name: "somebody brings it to its charger", hours: 5, level: 1,
			play: func(c *charging) { c.drop(0.15); c.until(2 * time.Hour); c.at = "dock" },
			want: []string{"0s at 15 %" + low, "0s at 15 %" + begins, "2h16m0s at 80 %" + charged}},
		{name: "somebody gives it another battery", hours: 3,
			play: func(c *charging) { c.drop(0.15); c.until(2 * time.Hour); c.drop(0.6) }, level: 0.45,
			want: []string{"0s at 15 %" + low, "0s at 15 %" + begins, "2h0m0s at 60 %" + charged}},
		{name: "somebody cancels it", hours: 5,
			play: func(c *charging) {
				c.drop(0.15)
				c.wait(7 * time.Minute)
				c.give(event.Command{Client: "op1", Group: "interrupt", Verb: "cancel", Payload: []byte("power-1")})
			},
			want: []string{"0s at 15 %" + low, "0s at 15 %" + begins, "7m0s at 14 %" + called, "32m0s at 9 %" + begins}},
		{name: "somebody cancels it, and lets the robot leave ato and come back", hours: 5,
			play: func(c *charging) {
				c.drop(0.15)
				c.wait(7 * time.Minute)
				c.give(event.Command{Client: "op1", Group: "interrupt", Verb: "cancel", Payload: []byte("power-1")})
				c.wait(time.Minute)
				c.give(event.Command{Client: "op1", Group: "mode", Verb: "set", Payload: []byte("mnl")})
				c.wait(time.Minute)
				c.give(event.Command{Client: "op1", Group: "mode", Verb: "set", Payload: []byte("ato")})
			},
			want: []string{"0s at 15 %" + low, "0s at 15 %" + begins, "7m0s at 14 %" + called, "9m0s at 13 %" + begins}},
		{name: "its interrupter is stopped for twenty minutes", hours: 5, level: 1,
			play: func(c *charging) {
				c.order("safety/enable")
				c.give(event.Command{Client: "op1", Group: "interrupter", Verb: "stop", Payload: []byte("power")})
				c.wait(time.Second)
				c.drop(0.15)
				c.until(20 * time.Minute)
				c.give(event.Command{Client: "op1", Group: "interrupter", Verb: "run", Payload: []byte("power")})
			},
			want: []string{"0s at 15 %" + low, "20m0s at 11 %" + begins, "20m0s at 11 %" + says, "20m0s at 11 %" + drives,
				"34m0s at 81 %" + charged}},
	} {
		t.Run(w.name, func(t *testing.T) {
			if w.set == nil {
				w.set = func(*charging) {}
			}
			c := newCharging(t, cmp.Or(w.story, "rest"), w.set)
			w.play(c)
			day := time.Duration(cmp.Or(w.hours, 24)) * time.Hour
			if testing.Short() && w.hours != 24 { // ends an hour after the last event
				at, _, _ := strings.Cut(w.want[len(w.want)-1], " ")
				last, err := time.ParseDuration(at)
				if err != nil {
					t.Fatal(err)
				}
				day = min(day, max(c.now, last)+time.Hour)
			}
			c.until(day)
			c.kept(t, w.want...)
			if c.level < w.level || c.level > w.level+0.1 || c.alerted() != w.alerted {
				t.Errorf("at the end of the day the battery is at %.3f, alert cannot_charge %v; want %.3f, %v", c.level, c.alerted(),
					w.level, w.alerted)
			}
			if n := len(c.s.perform.InterruptState().Running()); n > 0 != (strings.HasSuffix(w.want[len(w.want)-1], begins)) {
				t.Errorf("at the end of the day %d interrupts run", n)
			}
		})
	}
}

// TestPauseOfAtoFreezesAHandler pauses a robot while the handler service greets somebody.
func TestPauseOfAtoFreezesAHandler(t *testing.T) {
	c := newCharging(t, "rest", func(c *charging) { c.cfg.Tick, c.cfg.Life.Enabled = 100*time.Millisecond, false })
	c.order("safety/enable")
	c.give(event.Reported{Event: driver.Event{Kind: driver.Sensed, Signal: driver.Press, Name: "help", On: true}})
	c.wait(500 * time.Millisecond)
	var log []string
	c.watch = func(_ event.Event, effects []effect.Effect) {
		for _, e := range effects {
			switch e := e.(type) {
			case effect.Start:
				log = append(log, "start "+e.Unit)
			case effect.Stop:
				log = append(log, "stop "+e.Unit)
			}
		}
	}
	c.order("auto/pause")
	c.wait(time.Millisecond)
	if want := []string{"stop screen", "stop speaker"}; !slices.Equal(log, want) {
		t.Errorf("with the pause: %v, want %v", log, want)
	}
	c.wait(10 * time.Second)
	if len(log) > 2 {
		t.Errorf("during the pause: %v", log[2:])
	}
	c.order("auto/continue")
	c.wait(time.Second)
	if want := []string{"stop screen", "stop speaker", "start screen", "start speaker"}; !slices.Equal(log, want) {
		t.Errorf("after the pause: %v, want %v", log, want)
	}
}
