package schedule

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/fleetd/content"
	"troupe/fleetd/selector"
	"troupe/fleetd/site"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func sitesOf(t *testing.T, all map[string]site.Site) Sites {
	t.Helper()
	return func(id string) (site.Hours, bool) {
		s, known := all[id]
		if !known {
			return site.Hours{}, false
		}
		h, found := site.Parse(s)
		if len(found) > 0 {
			t.Fatalf("site %s: %v", id, found)
		}
		return h, true
	}
}

var all = selector.All()

func timer(t *testing.T, s Schedule, now time.Time) Timer {
	t.Helper()
	s.Action, s.Selector = Action{Mode: "ato"}, &all
	made, found := Compile(s, sitesOf(t, nil), now)
	if len(found) > 0 {
		t.Fatalf("refused: %v", found)
	}
	return made
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	parsed, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// Each row is a change of the clocks: what runs after it, and what people are told.
func TestWhatAChangeOfTheClocksDoes(t *testing.T) {
	for _, row := range []struct {
		name, zone, cron, after string
		want                    []string
	}{
		{"skipped hour in Berlin", "Europe/Berlin", "30 2 * * *", "2027-03-27T00:00:00+01:00", []string{
			"2027-03-27T02:30:00+01:00", "2027-03-28T03:00:00+02:00 clocks skip 02:30 on this day: it runs when they are put forward to 03:00",
			"2027-03-29T02:30:00+02:00"}},
		{"two skipped times run once", "Europe/Berlin", "0,30 2 * * *", "2027-03-27T12:00:00+01:00", []string{
			"2027-03-28T03:00:00+02:00 clocks skip 02:00 on this day: it runs when they are put forward to 03:00", "2027-03-29T02:00:00+02:00",
			"2027-03-29T02:30:00+02:00"}},
		{"repeated hour in Berlin", "Europe/Berlin", "30 2 * * *", "2026-10-24T12:00:00+02:00", []string{
			"2026-10-25T02:30:00+02:00 clocks show 02:30 twice on this day: it runs at the first",
			"2026-10-26T02:30:00+01:00 clocks are put back from 03:00 to 02:00 before it"}},
		{"every hour in the night that is longer", "Europe/Berlin", "0 * * * *", "2026-10-25T01:30:00+02:00", []string{
			"2026-10-25T02:00:00+02:00 clocks show 02:00 twice on this day: this is the first",
			"2026-10-25T02:00:00+01:00 clocks show 02:00 twice on this day: this is the second", "2026-10-25T03:00:00+01:00"}},
		{"every hour in the night that is shorter", "Europe/Berlin", "0 * * * *", "2027-03-28T00:30:00+01:00", []string{
			"2027-03-28T01:00:00+01:00", "2027-03-28T03:00:00+02:00 clocks are put forward from 02:00 to 03:00 before it",
			"2027-03-28T04:00:00+02:00"}},
		{"skipped hour in New York", "America/New_York", "15 2 * * *", "2027-03-13T12:00:00-05:00", []string{
			"2027-03-14T03:00:00-04:00 clocks skip 02:15 on this day: it runs when they are put forward to 03:00", "2027-03-15T02:15:00-04:00"}},
		{"repeated hour in New York", "America/New_York", "15 1 * * *", "2026-10-31T12:00:00-04:00", []string{
			"2026-11-01T01:15:00-04:00 clocks show 01:15 twice on this day: it runs at the first",
			"2026-11-02T01:15:00-05:00 clocks are put back from 02:00 to 01:00 before it"}},
		{"midnight that is skipped", "Africa/Cairo", "0 0 * * *", "2027-04-29T12:00:00+02:00", []string{
			"2027-04-30T01:00:00+03:00 clocks skip 00:00 on this day: it runs when they are put forward to 01:00", "2027-05-01T00:00:00+03:00"}},
		{"day of the month or of the week", "Europe/Berlin", "0 9 13 * 5", "2026-11-30T12:00:00+01:00", []string{
			"2026-12-04T09:00:00+01:00", "2026-12-11T09:00:00+01:00", "2026-12-13T09:00:00+01:00"}},
	} {
		after := at(t, row.after)
		made := timer(t, Schedule{Times: Times{Cron: row.cron, Zone: row.zone}}, after)
		for i, got := range made.Coming(after, len(row.want)) {
			if text := strings.TrimSpace(got.At.In(made.Zone()).Format(time.RFC3339) + " " + got.Note); text != row.want[i] {
				t.Errorf("%s: %d: got %q, want %q", row.name, i, text, row.want[i])
			}
		}
	}
}

func TestOneInstantInAZone(t *testing.T) {
	for text, want := range map[string]string{
		"2026-12-24T18:00":          "2026-12-24T18:00:00+01:00",
		"2026-12-24 18:00":          "2026-12-24T18:00:00+01:00",
		"2026-12-24T18:00:00-05:00": "2026-12-25T00:00:00+01:00",
		"2027-03-28T02:30":          "2027-03-28T03:00:00+02:00 clocks skip 02:30 on this day: it runs when they are put forward to 03:00",
	} {
		made := timer(t, Schedule{Times: Times{At: text, Zone: "Europe/Berlin"}}, noon)
		coming := made.Coming(noon, 3)
		if len(coming) != 1 || strings.TrimSpace(coming[0].At.In(made.Zone()).Format(time.RFC3339)+" "+coming[0].Note) != want {
			t.Errorf("%s: %v", text, coming)
		}
	}
}

func TestBeforeTheOpeningOfASite(t *testing.T) {
	sites := sitesOf(t, map[string]site.Site{"berlin": {Zone: "Europe/Berlin", Hours: site.Week{Mon: []string{"09:00-18:00"},
		Tue: []string{"10:00-18:00"}}}})
	for offset, want := range map[int64]string{-900: "2026-12-01T09:45:00+01:00", 0: "2026-12-01T10:00:00+01:00",
		3600: "2026-12-01T11:00:00+01:00"} {
		s := Schedule{Times: Times{Event: "opening", Site: "berlin", OffsetS: offset}, Action: Action{Performance: "start"}, Selector: &all}
		made, found := Compile(s, sites, noon)
		if len(found) > 0 {
			t.Fatal(found)
		}
		if got := made.Next(noon).At.In(made.Zone()).Format(time.RFC3339); got != want {
			t.Errorf("%d s from the opening: %s, want %s", offset, got, want)
		}
	}
}

func TestDue(t *testing.T) {
	daily := Times{Cron: "0 9 * * *", Zone: "UTC"}
	day := func(d, h, m int) time.Time { return time.Date(2026, 12, d, h, m, 0, 0, time.UTC) }
	for _, row := range []struct {
		name    string
		s       Schedule
		pending time.Time
		now     time.Time
		run     time.Time
		missed  []string
		next    time.Time
	}{
		{"not yet", Schedule{Times: daily}, day(1, 9, 0), day(1, 8, 59), time.Time{}, nil, day(1, 9, 0)},
		{"in time", Schedule{Times: daily}, day(1, 9, 0), day(1, 9, 0), day(1, 9, 0), nil, day(2, 9, 0)},
		{"a new leader is a little late", Schedule{Times: daily}, day(1, 9, 0), day(1, 9, 1), day(1, 9, 0), nil, day(2, 9, 0)},
		{"too late, and skipped", Schedule{Times: daily}, day(1, 9, 0), day(1, 9, 2), time.Time{},
			[]string{"fleetd came to it 2m0s late; missed ones are skipped"}, day(2, 9, 0)},
		{"late, and run once", Schedule{Times: daily, Missed: RunOnce, WithinS: 3600}, day(1, 9, 0), day(1, 9, 50), day(1, 9, 0), nil,
			day(2, 9, 0)},
		{"too late to run once", Schedule{Times: daily, Missed: RunOnce, WithinS: 3600}, day(1, 9, 0), day(1, 10, 1), time.Time{},
			[]string{"fleetd came to it 1h1m0s late; missed ones are run up to 1h0m0s late"}, day(2, 9, 0)},
		{"down over three instants, skipped", Schedule{Times: daily}, day(1, 9, 0), day(3, 12, 0), time.Time{}, []string{
			"fleetd came to it 51h0m0s late; missed ones are skipped", "fleetd came to it 27h0m0s late; missed ones are skipped",
			"fleetd came to it 3h0m0s late; missed ones are skipped"}, day(4, 9, 0)},
		{"down over three instants, the newest is run", Schedule{Times: daily, Missed: RunOnce, WithinS: 4 * 3600}, day(1, 9, 0),
			day(3, 12, 0), day(3, 9, 0), []string{
				"fleetd came to it 51h0m0s late, when a later one was due", "fleetd came to it 27h0m0s late, when a later one was due"}, day(4, 9, 0)},
		{"the clock was set back", Schedule{Times: daily}, day(3, 9, 0), day(1, 9, 0), time.Time{}, nil, day(3, 9, 0)},
		{"never again", Schedule{Times: Times{At: "2026-12-01T09:00", Zone: "UTC"}}, day(1, 9, 0), day(1, 9, 0), day(1, 9, 0), nil, time.Time{}},
	} {
		d := timer(t, row.s, noon).Due(row.pending, row.now)
		var missed []string
		for _, m := range d.Missed {
			missed = append(missed, m.Why)
		}
		if !d.Run.Equal(row.run) || !d.Next.Equal(row.next) || strings.Join(missed, "\n") != strings.Join(row.missed, "\n") {
			t.Errorf("%s: run %v, missed %q, next %v", row.name, d.Run, missed, d.Next)
		}
	}
}

func TestAYearOfMissedMinutesIsBounded(t *testing.T) {
	made := timer(t, Schedule{Times: Times{Cron: "* * * * *", Zone: "UTC"}}, noon)
	now := noon.AddDate(1, 0, 0)
	d := made.Due(noon, now)
	if !d.Run.Equal(now) || !d.Next.Equal(now.Add(time.Minute)) || len(d.Missed) != missedAtMost-1 || !d.Missed[0].At.Equal(noon) ||
		!strings.Contains(d.Missed[0].Why, "are not listed") {
		t.Errorf("run %v, next %v, %d missed: %v", d.Run, d.Next, len(d.Missed), d.Missed[0])
	}
}

// However often and however late somebody asks, and whatever the clocks do: no instant is decided twice, none runs early,
// and none is forgotten.
func TestEachInstantIsDecidedOnce(t *testing.T) {
	zones := []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "UTC"}
	exprs := []string{"30 2 * * *", "*/20 * * * *", "0 * * * *", "15 1,2,3 * * *", "0 0 * * *"}
	rapid.Check(t, func(r *rapid.T) {
		s := Schedule{Times: Times{Cron: rapid.SampledFrom(exprs).Draw(r, "cron"), Zone: rapid.SampledFrom(zones).Draw(r, "zone")}}
		if rapid.Bool().Draw(r, "run_once") {
			s.Missed, s.WithinS = RunOnce, 3600
		}
		from := rapid.SampledFrom([]string{"2026-10-24T12:00:00Z", "2027-03-27T12:00:00Z", "2027-03-13T20:00:00Z", "2026-10-31T20:00:00Z",
			"2027-04-29T12:00:00Z"}).Draw(r, "from")
		now := at(t, from)
		made := timer(t, s, now)
		next := made.Next(now).At
		decided := map[time.Time]bool{}
		begun := now
		for range rapid.IntRange(1, 30).Draw(r, "looks") {
			now = now.Add(time.Duration(rapid.IntRange(1, 5400).Draw(r, "seconds")) * time.Second)
			d := made.Due(next, now)
			for _, m := range d.Missed {
				if decided[m.At] || m.At.After(now) {
					r.Fatalf("%v is decided again or early at %v", m.At, now)
				}
				decided[m.At] = true
			}
			if !d.Run.IsZero() {
				if decided[d.Run] || d.Run.After(now) {
					r.Fatalf("%v runs again or early at %v", d.Run, now)
				}
				decided[d.Run] = true
			}
			next = d.Next
		}
		for i := made.Next(begun).At; !i.After(now); i = made.Next(i).At {
			if !decided[i] {
				r.Fatalf("%v was forgotten", i)
			}
			delete(decided, i)
		}
		if len(decided) > 0 {
			r.Fatalf("decided, but no instants of the schedule: %v", decided)
		}
	})
}

func TestWrongSchedulesAreRefusedWithAllProblems(t *testing.T) {
	good := Times{Cron: "0 9 * * *", Zone: "Europe/Berlin"}
	mode := Action{Mode: "ato"}
	for _, row := range []struct {
		name string
		s    Schedule
		want []string
	}{
		{"nothing", Schedule{}, []string{" one_of: it names 0 kinds of times", "/action one_of: it names 0 actions", "/selector missing"}},
		{"two kinds of times", Schedule{Times: Times{Cron: "0 9 * * *", At: "2026-12-24T18:00"}, Action: mode, Selector: &all},
			[]string{" one_of: it names 2 kinds of times"}},
		{"four fields", Schedule{Times: Times{Cron: "0 9 * *", Zone: "UTC"}, Action: mode, Selector: &all}, []string{`/cron bad_cron: "0 9 * *" has 4 fields`}},
		{"seconds", Schedule{Times: Times{Cron: "0 0 9 * * *", Zone: "UTC"}, Action: mode, Selector: &all}, []string{`/cron bad_cron: "0 0 9 * * *" has 6 fields`}},
		{"words", Schedule{Times: Times{Cron: "@daily", Zone: "UTC"}, Action: mode, Selector: &all}, []string{`/cron bad_cron: "@daily" has 1 fields`}},
		{"two wrong fields", Schedule{Times: Times{Cron: "60 24 * * *", Zone: "UTC"}, Action: mode, Selector: &all}, []string{`/cron bad_cron: "60" cannot be the minute`, `/cron bad_cron: "24" cannot be the hour`}},
		{"month 13", Schedule{Times: Times{Cron: "0 9 * 13 *", Zone: "UTC"}, Action: mode, Selector: &all}, []string{`/cron bad_cron: "13" cannot be the month`}},
		{"range backwards", Schedule{Times: Times{Cron: "0 18-9 * * *", Zone: "UTC"}, Action: mode, Selector: &all}, []string{`/cron bad_cron: "18-9" cannot be the hour`}},
		{"list that ends early", Schedule{Times: Times{Cron: "0 9 * * 1,", Zone: "UTC"}, Action: mode, Selector: &all}, []string{`/cron bad_cron: "1," cannot be the day of the week`}},
		{"step of 0", Schedule{Times: Times{Cron: "*/0 * * * *", Zone: "UTC"}, Action: mode, Selector: &all}, []string{`/cron bad_cron: "*/0" cannot be the minute`}},
		{"30 February", Schedule{Times: Times{Cron: "0 9 30 2 *", Zone: "UTC"}, Action: mode, Selector: &all}, []string{`/cron never: "0 9 30 2 *" never happens`}},
		{"no zone", Schedule{Times: Times{Cron: "0 9 * * *"}, Action: mode, Selector: &all}, []string{"/zone missing"}},
		{"zone in the expression", Schedule{Times: Times{Cron: "TZ=UTC 0 9 * * *", Zone: "UTC"}, Action: mode, Selector: &all},
			[]string{"/cron bad_cron"}},
		{"zone and cron wrong", Schedule{Times: Times{Cron: "0 9 * * 9", Zone: "CEST"}, Action: mode, Selector: &all}, []string{`/zone unknown_zone: there is no time zone "CEST"`, "/cron bad_cron"}},
		{"past", Schedule{Times: Times{At: "2026-11-30T13:00", Zone: "Europe/Berlin"}, Action: mode, Selector: &all},
			[]string{"/at past: 2026-11-30T13:00 has passed: it is 2026-11-30 13:00 CET"}},
		{"no time", Schedule{Times: Times{At: "tomorrow", Zone: "Europe/Berlin"}, Action: mode, Selector: &all}, []string{`/at bad_time: "tomorrow" is not a time`}},
		{"unknown site", Schedule{Times: Times{Event: "opening", Site: "mars"}, Action: mode, Selector: &all}, []string{`/site not_found: site "mars" has no opening hours`}},
		{"event that is none", Schedule{Times: Times{Event: "lunch", Zone: "UTC"}, Action: mode, Selector: &all}, []string{"/zone bad_value", `/event bad_value: "lunch"`, "/site missing"}},
		{"offset without a site", Schedule{Times: Times{Cron: "0 9 * * *", Zone: "UTC", OffsetS: 60, Site: "x"}, Action: mode,
			Selector: &all}, []string{"/site bad_value", "/offset_s bad_value"}},
		{"once within no time", Schedule{Times: good, Missed: RunOnce, Action: mode, Selector: &all}, []string{"/missed missing"}},
		{"skip within a time", Schedule{Times: good, WithinS: 60, Action: mode, Selector: &all}, []string{"/within_s bad_value"}},
		{"unknown policy", Schedule{Times: good, Missed: "always", Action: mode, Selector: &all}, []string{"/missed bad_value"}},
		{"two actions", Schedule{Times: good, Action: Action{Mode: "ato", Performance: "start"}, Selector: &all},
			[]string{"/action one_of: it names 2 actions"}},
		{"action that enables", Schedule{Times: good, Action: Action{Performance: "enable"}, Selector: &all}, []string{`/action/performance bad_value: "enable" cannot be done to a performance`}},
		{"mode that is none", Schedule{Times: good, Action: Action{Mode: "A to"}, Selector: &all}, []string{"/action/mode"}},
		{"empty content", Schedule{Times: good, Action: Action{Assign: &content.Content{}}, Selector: &all}, []string{"/action/assign one_of"}},
		{"rollout with robots", Schedule{Times: good, Action: Action{Rollout: "r1"}, Selector: &all},
			[]string{"/selector bad_value: a rollout has its own robots"}},
		{"selector of nobody", Schedule{Times: good, Action: mode, Selector: &selector.Selector{}},
			[]string{"/selector missing: no robot is selected"}},
		{"all and names", Schedule{Times: good, Action: mode, Selector: &selector.Selector{All: true, IDs: []string{"R 1"}}},
			[]string{"/selector ambiguous", "/selector/ids/0 bad_id"}},
	} {
		_, found := Compile(row.s, sitesOf(t, nil), noon)
		if len(found) != len(row.want) {
			t.Errorf("%s: %d problems, want %d: %v", row.name, len(found), len(row.want), found)
			continue
		}
		for i, p := range found {
			if got := p.Pointer + " " + p.Code + ": " + p.Detail; !strings.HasPrefix(got, row.want[i]) {
				t.Errorf("%s: got %q, want %q", row.name, got, row.want[i])
			}
		}
	}
}

// What a schedule sends can neither enable a robot nor release a stop, whatever it says.
func TestNoActionEnablesARobot(t *testing.T) {
	for what := range performances {
		if id, _ := (Action{Performance: what}).Command(); !strings.HasPrefix(id, "auto/") {
			t.Errorf("%s sends %s", what, id)
		}
	}
	a := Action{Mode: "ato"}
	if id, _ := a.Command(); id != "mode/set" {
		t.Errorf("%s sends %s", a, id)
	}
	if problems := a.Problems(""); len(problems) > 0 {
		t.Errorf("%s: %v", a, problems)
	}
}

func TestCalendarWritesItsSchedules(t *testing.T) {
	c := Calendar{Site: site.Site{Zone: "Europe/Berlin", Hours: site.Week{Mon: []string{"09:00-18:00"}}}, Open: &Action{Mode: "ato"},
		Close: &Action{Performance: "stop"}}
	if found := c.Problems(); len(found) > 0 {
		t.Fatal(found)
	}
	sites := sitesOf(t, map[string]site.Site{"berlin": c.Site})
	made := c.Schedules("berlin")
	for id, want := range map[string]string{"berlin-open": "2026-12-07T09:00:00+01:00", "berlin-close": "2026-11-30T18:00:00+01:00"} {
		timer, found := Compile(made[id], sites, noon)
		if len(found) > 0 {
			t.Errorf("%s is refused: %v", id, found)
			continue
		}
		if got := timer.Next(noon).At.In(timer.Zone()).Format(time.RFC3339); got != want || made[id].Selector.String() != "-l site=berlin" {
			t.Errorf("%s is at %s for %s", id, got, made[id].Selector)
		}
	}
	c.Open = &Action{}
	if found := c.Problems(); len(found) != 1 || found[0].Pointer != "/open" {
		t.Errorf("an empty action is found as %v", found)
	}
}

func TestTimesInWords(t *testing.T) {
	for offset, want := range map[int64]string{-900: "15m before opening of berlin", 3600: "1h after opening of berlin",
		30: "30s after opening of berlin", 5430: "1h30m30s after opening of berlin", 0: "opening of berlin"} {
		if got := (Times{Event: "opening", Site: "berlin", OffsetS: offset}).String(); got != want {
			t.Errorf("%d s: %s, want %s", offset, got, want)
		}
	}
}
