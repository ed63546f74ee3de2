package site

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func hours(t *testing.T, s Site) Hours {
	t.Helper()
	h, found := Parse(s)
	if len(found) > 0 {
		t.Fatalf("refused: %v", found)
	}
	return h
}

func local(t *testing.T, zone, text string) time.Time {
	t.Helper()
	z, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.ParseInLocation("2006-01-02 15:04", text, z)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

const berlin = "Europe/Berlin"

var museum = Site{
	Zone:  berlin,
	Hours: Week{Tue: []string{"09:00-12:30", "13:30-18:00"}, Sat: []string{"20:00-02:00"}, Sun: []string{"02:00-04:00", "10:00-17:00"}},
	Exceptions: []Exception{
		{Date: "2026-12-24", Until: "2026-12-26", Name: "Christmas"},
		{Date: "2026-12-29", Hours: []string{"10:00-14:00"}, Name: "short day"},
	},
	Windows: []Window{{Days: []string{"mon", "tue"}, Span: "22:00-05:00"}},
}

func TestOpeningHours(t *testing.T) {
	h := hours(t, museum)
	for _, row := range []struct {
		at            string
		open          bool
		opens, closes string
	}{
		{"2026-12-01 08:59", false, "2026-12-01 09:00", "2026-12-01 12:30"},
		{"2026-12-01 09:00", true, "2026-12-01 13:30", "2026-12-01 12:30"},
		{"2026-12-01 12:30", false, "2026-12-01 13:30", "2026-12-01 18:00"},
		{"2026-12-05 19:00", false, "2026-12-05 20:00", "2026-12-06 04:00"}, // two spans that touch at 02:00 are one
		{"2026-12-06 01:59", true, "2026-12-06 10:00", "2026-12-06 04:00"},
		{"2026-12-06 02:00", true, "2026-12-06 10:00", "2026-12-06 04:00"},
		{"2026-12-22 18:00", false, "2026-12-27 02:00", "2026-12-27 04:00"}, // closed on Saturday, so only Sunday's own span
		{"2026-12-29 09:30", false, "2026-12-29 10:00", "2026-12-29 14:00"},
	} {
		at := local(t, berlin, row.at)
		if got := h.Open(at); got != row.open {
			t.Errorf("%s: open %v", row.at, got)
		}
		if got := h.NextOpening(at); !got.Equal(local(t, berlin, row.opens)) {
			t.Errorf("%s: opens %v, want %s", row.at, got.In(h.Zone()), row.opens)
		}
		if got := h.NextClosing(at); !got.Equal(local(t, berlin, row.closes)) {
			t.Errorf("%s: closes %v, want %s", row.at, got.In(h.Zone()), row.closes)
		}
	}
}

func TestSiteThatNeverOpensOrCloses(t *testing.T) {
	now := local(t, berlin, "2026-12-01 08:00")
	closed := hours(t, Site{Zone: berlin})
	if closed.Open(now) || !closed.NextOpening(now).IsZero() || !closed.NextClosing(now).IsZero() {
		t.Error("a site without hours opens or closes")
	}
	if !closed.InWindow(now) || !closed.NextWindow(now).IsZero() {
		t.Error("a site without windows keeps rollouts waiting")
	}
	day := []string{"00:00-24:00"}
	always := hours(t, Site{Zone: berlin, Hours: Week{day, day, day, day, day, day, day}})
	if !always.Open(now) || !always.NextOpening(now).IsZero() || !always.NextClosing(now).IsZero() {
		t.Errorf("a site that is always open opens at %v and closes at %v", always.NextOpening(now), always.NextClosing(now))
	}
}

func TestMaintenanceWindows(t *testing.T) {
	h := hours(t, museum)
	for _, row := range []struct {
		at    string
		in    bool
		opens string
	}{
		{"2026-11-30 21:59", false, "2026-11-30 22:00"},
		{"2026-11-30 22:00", true, "2026-12-01 22:00"},
		{"2026-12-01 04:59", true, "2026-12-01 22:00"}, // of Monday, after midnight
		{"2026-12-01 05:00", false, "2026-12-01 22:00"},
		{"2026-12-02 05:00", false, "2026-12-07 22:00"},
	} {
		at := local(t, berlin, row.at)
		if h.InWindow(at) != row.in || !h.NextWindow(at).Equal(local(t, berlin, row.opens)) {
			t.Errorf("%s: in a window %v, next %v", row.at, h.InWindow(at), h.NextWindow(at).In(h.Zone()))
		}
	}
}

// A shop opens at 02:30 and closes at 03:30, on the nights on which clocks change.
func TestHoursWhenClocksChange(t *testing.T) {
	night := []string{"02:30-03:30"}
	for _, row := range []struct{ zone, from, opens, closes string }{
		{berlin, "2027-03-28T00:00:00+01:00", "2027-03-28T03:00:00+02:00", "2027-03-28T03:30:00+02:00"},
		{berlin, "2026-10-25T00:00:00+02:00", "2026-10-25T02:30:00+02:00", "2026-10-25T03:30:00+01:00"},
		{"America/New_York", "2027-03-14T00:00:00-05:00", "2027-03-14T03:00:00-04:00", "2027-03-14T03:30:00-04:00"},
	} {
		h := hours(t, Site{Zone: row.zone, Hours: Week{Sun: night}})
		from, err := time.Parse(time.RFC3339, row.from)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.NextOpening(from).In(h.Zone()).Format(time.RFC3339); got != row.opens {
			t.Errorf("%s %s: opens %s, want %s", row.zone, row.from, got, row.opens)
		}
		if got := h.NextClosing(from).In(h.Zone()).Format(time.RFC3339); got != row.closes {
			t.Errorf("%s %s: closes %s, want %s", row.zone, row.from, got, row.closes)
		}
	}
}

func TestWeekOfASite(t *testing.T) {
	h := hours(t, museum)
	week := h.WeekOf(local(t, berlin, "2026-12-27 23:00"))
	if len(week) != 7 || week[0].Date != "2026-12-21" || week[6].Day != "sun" {
		t.Fatalf("the week is %+v", week)
	}
	if eve := week[3]; eve.Date != "2026-12-24" || len(eve.Open) > 0 || eve.Exception != "Christmas" {
		t.Errorf("Christmas Eve is %+v", eve)
	}
	for day, want := range map[int]string{0: "[][22:00-24:00]", 1: "[09:00-12:30 13:30-18:00][00:00-05:00 22:00-24:00]",
		2: "[][00:00-05:00]", 6: "[02:00-04:00 10:00-17:00][]"} {
		if got := fmt.Sprint(week[day].Open) + fmt.Sprint(week[day].Windows); got != want {
			t.Errorf("%s is %s, want %s", week[day].Date, got, want)
		}
	}
	if before := h.WeekOf(local(t, berlin, "2026-12-07 12:00"))[0]; fmt.Sprint(before.Windows) != "[22:00-24:00]" || len(before.Open) > 0 {
		t.Errorf("Monday is %+v", before)
	}
	if got := h.WeekOf(local(t, berlin, "2027-03-28 12:00"))[6].Clocks; got != "clocks are put forward from 02:00 to 03:00" {
		t.Errorf("on the day on which summer time begins: %q", got)
	}
}

func TestWrongSitesAreRefusedWithAllProblems(t *testing.T) {
	for _, row := range []struct {
		name string
		s    Site
		want []string // pointer code, and a part of the detail
	}{
		{"no zone", Site{}, []string{"/zone missing: there is no time zone"}},
		{"unknown zone", Site{Zone: "Europe/Berln"}, []string{`/zone unknown_zone: there is no time zone "Europe/Berln"`}},
		{"zone of the server", Site{Zone: "Local"}, []string{"/zone unknown_zone"}},
		{"offset for a zone", Site{Zone: "UTC+1"}, []string{`/zone unknown_zone: "UTC+1" is an offset`}},
		{"path for a zone", Site{Zone: "../../etc/passwd"}, []string{"/zone unknown_zone"}},
		{"hours that are none", Site{Zone: berlin, Hours: Week{Mon: []string{"9-18"}, Tue: []string{"09:00-25:00", "24:00-10:00"}}},
			[]string{`/hours/mon/0 bad_span: "9-18" is not a span`, `/hours/tue/0 bad_span`, `/hours/tue/1 bad_span`}},
		{"empty span", Site{Zone: berlin, Hours: Week{Mon: []string{"09:00-09:00"}}},
			[]string{"/hours/mon/0 bad_span: \"09:00-09:00\" begins and ends"}},
		{"spans overlap", Site{Zone: berlin, Hours: Week{Fri: []string{"09:00-12:00", "11:00-14:00"}}},
			[]string{"/hours/fri/1 overlap: 11:00-14:00 overlaps 09:00-12:00"}},
		{"overlap over midnight", Site{Zone: berlin, Hours: Week{Sun: []string{"20:00-03:00"}, Mon: []string{"02:00-05:00"}}},
			[]string{"/hours/mon/0 overlap: 02:00-05:00 overlaps 20:00-03:00 of sun"}},
		{"date that is none", Site{Zone: berlin, Exceptions: []Exception{{Date: "2026-02-30"}, {Date: "24.12.2026"}}},
			[]string{"/exceptions/0/date bad_date", "/exceptions/1/date bad_date"}},
		{"range backwards", Site{Zone: berlin, Exceptions: []Exception{{Date: "2026-12-26", Until: "2026-12-24"}}},
			[]string{"/exceptions/0/until bad_date: 2026-12-24 is before 2026-12-26"}},
		{"two exceptions for a date", Site{Zone: berlin, Exceptions: []Exception{{Date: "2026-12-20", Until: "2026-12-31"},
			{Date: "2026-12-24"}}}, []string{"/exceptions/1/date overlap: exceptions 1 and 2 both say what happens on 2026-12-24"}},
		{"window on no day", Site{Zone: berlin, Windows: []Window{{Days: []string{"monday"}, Span: "22:00-5:00"}}}, []string{`/windows/0/days/0 bad_value: there is no day "monday"`, "/windows/0/span bad_span"}},
		{"too much", Site{Zone: "Mars/Base", Hours: Week{Mon: []string{"x"}}, Exceptions: []Exception{{Date: "x", Hours: []string{"y"}}}},
			[]string{"/exceptions/0/date bad_date", "/exceptions/0/hours/0 bad_span", "/hours/mon/0 bad_span", "/zone unknown_zone"}},
	} {
		_, found := Parse(row.s)
		if len(found) != len(row.want) {
			t.Errorf("%s: %d problems, want %d: %v", row.name, len(found), len(row.want), found)
			continue
		}
		for i, p := range found {
			if got := p.Pointer + " " + p.Code + ": " + p.Detail; !strings.HasPrefix(got, row.want[i]) || p.Hint == "" {
				t.Errorf("%s: got %q with the hint %q, want %q", row.name, got, p.Hint, row.want[i])
			}
		}
	}
}

// Whatever the hours are: a site opens into being open and closes into being closed, in turn.
func TestOpeningsAndClosingsAlternate(t *testing.T) {
	zones := []string{berlin, "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/St_Johns", "Africa/Casablanca"}
	spans := []string{"00:00-24:00", "02:30-03:30", "01:00-02:30", "09:00-18:00", "22:00-02:00", "23:30-00:30"}
	rapid.Check(t, func(t *rapid.T) {
		s := Site{Zone: rapid.SampledFrom(zones).Draw(t, "zone")}
		for day := range time.Weekday(7) {
			if rapid.Bool().Draw(t, "open") {
				*s.Hours.Of(day) = []string{rapid.SampledFrom(spans).Draw(t, "span")}
			}
		}
		h, found := Parse(s)
		if len(found) > 0 {
			t.Skip("the spans overlap")
		}
		at := time.Date(2026, time.Month(rapid.IntRange(1, 12).Draw(t, "month")), rapid.IntRange(1, 28).Draw(t, "day"),
			rapid.IntRange(0, 23).Draw(t, "hour"), 17, 0, 0, time.UTC)
		for range 20 {
			open := h.Open(at)
			next := h.NextOpening(at)
			if open {
				next = h.NextClosing(at)
			}
			if next.IsZero() {
				return
			}
			if !next.After(at) || h.Open(next) == open || h.Open(next.Add(-time.Second)) != open {
				t.Fatalf("open %v at %v, and at the next change, %v, open %v", open, at, next, h.Open(next))
			}
			at = next
		}
	})
}
