package notify_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/fleetd/notify"
	"troupe/fleetd/site"
	"troupe/schema"
)

var noon = time.Date(2026, 5, 18, 12, 0, 0, 0, time.UTC) // a Monday

func compiled(t interface {
	Helper()
	Fatal(...any)
}, r notify.Route) *notify.Compiled {
	t.Helper()
	if r.Receiver == "" {
		r.Receiver = "crew"
	}
	c, found := notify.Compile(r, func(string) bool { return true })
	if len(found) > 0 {
		t.Fatal(found)
	}
	return &c
}

func seconds(n int64) *int64 { return &n }

func late(robot string, at time.Time) notify.Alert {
	return notify.Alert{Robot: robot, ID: "a1", Type: "device_late", Level: schema.AlertWarn, Since: schema.TimeOf(at),
		Detail: "the arm was late"}
}

// trace plays what is the case from a second on until the next line, and returns what is sent: "second kind receiver: subject".
func trace(c *notify.Compiled, start time.Time, until int, at map[int]notify.Input) (lines []string) {
	s := notify.State{Series: "s"}
	var in notify.Input
	for second := range until {
		if next, changed := at[second]; changed {
			in = next
		}
		var out []notify.Notification
		s, out = notify.Step(c, s, in, start.Add(time.Duration(second)*time.Second))
		in.Events = nil
		for _, n := range out {
			lines = append(lines, fmt.Sprintf("%d %s %s: %s", second, n.Kind, n.Receiver, n.Subject(notify.English)))
		}
	}
	return lines
}

func alerts(all ...notify.Alert) notify.Input { return notify.Input{Alerts: all} }

func TestTraces(t *testing.T) {
	night := &notify.Quiet{Zone: "Europe/Berlin", Windows: []site.Window{{Span: "22:00-07:00"}}, Through: schema.AlertCritical}
	r1, r2, r3 := late("r1", noon), late("r2", noon), late("r3", noon)
	fell := notify.Alert{Robot: "r9", ID: "a2", Type: "device_critical", Level: schema.AlertCritical, Since: schema.TimeOf(noon)}
	seen := r1
	seen.Acked = true
	evening := time.Date(2026, 5, 18, 21, 59, 50, 0, time.UTC) // 23:59:50 in Berlin
	event := func(n int, robot string) notify.Event {
		return notify.Event{ID: fmt.Sprint(robot, " b ", n), Robot: robot, Type: "act_failed",
			At: schema.TimeOf(noon.Add(time.Duration(n) * time.Second))}
	}
	for _, one := range []struct {
		name  string
		route notify.Route
		start time.Time
		until int
		at    map[int]notify.Input
		want  []string
	}{
		{"one alert is sent after 10 s, and its end", notify.Route{}, noon, 300, map[int]notify.Input{5: alerts(r1), 100: alerts()},
			[]string{"15 alerts crew: warning: a unit is slow: r1", "110 alerts crew: over: a unit is slow: r1"}},
		{"one cause at three robots is one notification", notify.Route{}, noon, 60, map[int]notify.Input{5: alerts(r1), 6: alerts(r1, r3),
			9: alerts(r1, r2, r3)},
			[]string{"19 alerts crew: warning: a unit is slow: r1-r3"}},
		{"an alert that ends before it was sent is sent as over", notify.Route{}, noon, 60, map[int]notify.Input{5: alerts(r1), 7: alerts()},
			[]string{"17 alerts crew: over: a unit is slow: r1"}},
		{"an alert that comes back meanwhile has not ended", notify.Route{}, noon, 90, map[int]notify.Input{1: alerts(r1), 30: alerts(),
			35: alerts(r1)},
			[]string{"11 alerts crew: warning: a unit is slow: r1"}},
		{"the end is not sent if the route says so", notify.Route{Resolved: new(bool)}, noon, 200, map[int]notify.Input{1: alerts(r1),
			100: alerts()},
			[]string{"11 alerts crew: warning: a unit is slow: r1"}},
		{"it repeats until somebody acknowledges", notify.Route{RepeatS: seconds(100)}, noon, 400, map[int]notify.Input{0: alerts(r1),
			250: alerts(seen)},
			[]string{"10 alerts crew: warning: a unit is slow: r1", "110 repeat crew: still: warning: a unit is slow: r1",
				"210 repeat crew: still: warning: a unit is slow: r1"}},
		{"it escalates once, and the end goes there, too", notify.Route{Escalate: &notify.Escalation{AfterS: 60, Receiver: "boss"}}, noon, 300,
			map[int]notify.Input{0: alerts(r1), 200: alerts()},
			[]string{"10 alerts crew: warning: a unit is slow: r1", "70 escalation boss: nobody acknowledged: warning: a unit is slow: r1",
				"210 alerts crew: over: a unit is slow: r1", "210 escalation boss: nobody acknowledged: over: a unit is slow: r1"}},
		{"it does not escalate what somebody acknowledged", notify.Route{Escalate: &notify.Escalation{AfterS: 60, Receiver: "boss"}}, noon, 300,
			map[int]notify.Input{0: alerts(r1), 50: alerts(seen)},
			[]string{"10 alerts crew: warning: a unit is slow: r1"}},
		{"quiet hours hold it until they are over, but what is critical", notify.Route{Quiet: night}, evening, 7*3600 + 60,
			map[int]notify.Input{5: alerts(r1), 20: alerts(r1, fell), 3600: alerts(r1)},
			[]string{"30 alerts crew: critical: a unit is unsafe: r9", "3610 alerts crew: over: a unit is unsafe: r9",
				"25220 alerts crew: warning: a unit is slow: r1"}},
		{"a robot of which nothing is known has not ended its alerts", notify.Route{}, noon, 100, map[int]notify.Input{0: alerts(r1),
			30: {Unsure: map[string]bool{"r1": true}}, 90: alerts(r1)},
			[]string{"10 alerts crew: warning: a unit is slow: r1"}},
		{"events are sent once", notify.Route{Events: []string{"act_failed"}}, noon, 60,
			map[int]notify.Input{5: {Events: []notify.Event{event(1, "r1"), event(2, "r1"), event(2, "r2")}}, 8: {Events: []notify.Event{event(2,
				"r1"), event(3, "r3")}}},
			[]string{"18 alerts crew: event: an act failed, or could not begin: r1-r3 (4 times)"}},
		{"a disabled route sends nothing", notify.Route{Enabled: new(bool)}, noon, 60, map[int]notify.Input{0: alerts(r1)}, nil},
	} {
		t.Run(one.name, func(t *testing.T) {
			if got := trace(compiled(t, one.route), one.start, one.until, one.at); !slices.Equal(got, one.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(one.want, "\n  "))
			}
		})
	}
}

func TestThousandAlertsInAMinuteAreOneNotification(t *testing.T) {
	c := compiled(t, notify.Route{})
	s := notify.State{Series: "s"}
	var in notify.Input
	var sent []notify.Notification
	for i := range 240 {
		for n := range 17 {
			if at := i*17 + n; at < 1000 {
				in.Alerts = append(in.Alerts, late(fmt.Sprintf("r%d", at+1), noon))
			}
		}
		var out []notify.Notification
		s, out = notify.Step(c, s, in, noon.Add(time.Duration(i)*time.Second))
		sent = append(sent, out...)
	}
	if len(sent) != 1 || len(sent[0].Alerts) != 1000 || sent[0].Subject(notify.German) != "Warnung: eine Einheit ist langsam: r1-r1000" {
		t.Errorf("%d notifications: %.300v", len(sent), sent)
	}
}

// Whatever happens: each alert that a route takes is sent, firing before over and in turn; nothing is sent in quiet hours; two
// notifications are never closer than the route allows; a step that is repeated sends the same ids.
func TestNothingIsLostAndTheOrderStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		group := rapid.Int64Range(0, 90).Draw(t, "group")
		r := notify.Route{GroupS: &group, RepeatS: seconds(0)}
		if rapid.Bool().Draw(t, "quiet") {
			r.Quiet = &notify.Quiet{Zone: "UTC", Windows: []site.Window{{Span: "12:01-12:04"}}}
		}
		c := compiled(t, r)
		s := notify.State{Series: "s"}
		present := map[string]notify.Alert{}
		begun := map[string]bool{}
		notified := map[string]string{}
		now := noon
		last := time.Time{}
		step := func() {
			in := notify.Input{}
			for _, a := range present {
				in.Alerts = append(in.Alerts, a)
			}
			slices.SortFunc(in.Alerts, func(a, b notify.Alert) int { return strings.Compare(a.Key(), b.Key()) })
			next, out := notify.Step(c, s, in, now)
			_, again := notify.Step(c, s, in, now)
			if fmt.Sprint(out) != fmt.Sprint(again) {
				t.Fatalf("a repeated step sends %v, then %v", out, again)
			}
			s = next
			for _, n := range out {
				if c.IsQuiet(now) {
					t.Fatalf("sent in quiet hours at %v: %v", now, n)
				}
				if !last.IsZero() && now.Sub(last) < time.Duration(group)*time.Second {
					t.Fatalf("sent %v after the last", now.Sub(last))
				}
				last = now
				for _, e := range n.Alerts {
					if was := notified[e.Key()]; was == string(e.State) || was == "resolved" {
						t.Fatalf("%s is %s after %s", e.Key(), e.State, was)
					}
					notified[e.Key()] = string(e.State)
				}
			}
		}
		boot := 0
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 25).Draw(t, "seconds")) * time.Second)
			robot := rapid.SampledFrom([]string{"r1", "r2", "r3"}).Draw(t, "robot")
			if _, is := present[robot]; is {
				delete(present, robot)
			} else {
				boot++
				a := late(robot, now)
				a.ID = fmt.Sprint("a", boot)
				present[robot], begun[a.Key()] = a, true
			}
			step()
		}
		for range 600 {
			now = now.Add(time.Second)
			step()
		}
		for key := range begun {
			want := "resolved"
			for _, a := range present {
				if a.Key() == key {
					want = "firing"
				}
			}
			if notified[key] != want {
				t.Fatalf("%s was notified as %q, and is %s", key, notified[key], want)
			}
		}
	})
}

func TestRouteTakes(t *testing.T) {
	robot := notify.Alert{Robot: "r1", Site: "berlin", Type: "device_late", Level: schema.AlertWarn}
	rollout := notify.Alert{Rollout: "x", Type: "rollout_paused", Level: schema.AlertError}
	for _, one := range []struct {
		route          notify.Route
		robot, rollout bool
	}{
		{notify.Route{}, true, true},
		{notify.Route{Alerts: []string{"device_late"}}, true, false},
		{notify.Route{Alerts: []string{"rollout_paused"}}, false, true},
		{notify.Route{Alerts: []string{"battery_low"}}, false, false},
		{notify.Route{Events: []string{"act_failed"}}, false, false},
		{notify.Route{Events: []string{"act_failed"}, Alerts: []string{"all"}}, true, true},
		{notify.Route{Level: schema.AlertWarn}, true, true},
		{notify.Route{Level: schema.AlertError}, false, true},
		{notify.Route{Level: schema.AlertCritical}, false, false},
		{notify.Route{Sites: []string{"berlin"}}, true, false},
		{notify.Route{Sites: []string{"paris"}}, false, false},
		{notify.Route{Sites: []string{"paris", "berlin"}, Level: schema.AlertWarn, Alerts: []string{"all"}}, true, false},
		{notify.Route{Enabled: new(bool)}, false, false},
	} {
		c := compiled(t, one.route)
		if got := c.Takes(robot); got != one.robot {
			t.Errorf("%+v takes the alert of the robot: %v", one.route, got)
		}
		if got := c.Takes(rollout); got != one.rollout {
			t.Errorf("%+v takes the alert of the rollout: %v", one.route, got)
		}
		event := notify.Event{Robot: "r1", Site: "berlin", Type: "act_failed"}
		if got := c.TakesEvent(event); got != (len(one.route.Events) > 0) {
			t.Errorf("%+v takes the event: %v", one.route, got)
		}
	}
}

func TestNames(t *testing.T) {
	for given, want := range map[string]string{
		"r1": "r1", "r2 r1": "r1 r2", "r3 r1 r2": "r1-r3", "r1 r2 r3 r5": "r1-r3 r5", "r10 r9 r8": "r8-r10", "r1 r1 r2": "r1 r2",
		"r01 r02 r03":                "r01 r02 r03",
		"hall-1 hall-2 hall-3 lobby": "hall-1-hall-3 lobby", "r1 r3 r5 r7 r9 r11": "r1 r3 r5 r7 r9 +1",
	} {
		parts, others := notify.Names(strings.Fields(given), 5)
		got := strings.Join(parts, " ")
		if others > 0 {
			got += fmt.Sprintf(" +%d", others)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

func TestWhatFollowsATry(t *testing.T) {
	for _, one := range []struct {
		result notify.Result
		tries  int
		since  time.Duration
		state  notify.DeliveryState
		wait   time.Duration
	}{
		{notify.Result{OK: true}, 1, 0, notify.Sent, 0},
		{notify.Result{}, 1, 0, notify.Waiting, time.Second},
		{notify.Result{}, 4, 0, notify.Waiting, 8 * time.Second},
		{notify.Result{}, 7, time.Hour, notify.Waiting, time.Minute},
		{notify.Result{}, 1000, 23 * time.Hour, notify.Waiting, time.Minute},
		{notify.Result{}, 2000, 24 * time.Hour, notify.Dead, 0},
		{notify.Result{Final: true}, 1, 0, notify.Dead, 0},
	} {
		state, next := notify.AfterTry(one.result, one.tries, noon.Add(-one.since), noon)
		if state != one.state || one.wait > 0 && next.Sub(noon) != one.wait || one.wait == 0 && !next.IsZero() {
			t.Errorf("%+v: %s, %v", one, state, next)
		}
	}
}
