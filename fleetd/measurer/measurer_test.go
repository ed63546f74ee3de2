package measurer_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"troupe/fleetd/measure"
	"troupe/fleetd/measurer"
	"troupe/fleetd/store/storetest"
)

// instance is a fleetd that measures.
type instance struct {
	*measurer.Measurer
	leads atomic.Bool
	fails atomic.Int64
	end   func()
}

// start starts an instance beside others, one of which leads whenever this one does not.
func start(w *storetest.World, leads bool) *instance {
	i := &instance{}
	i.leads.Store(leads)
	i.Measurer = measurer.New(measurer.Deps{
		Now: time.Now, Leads: i.leads.Load, AnotherLeads: func() bool { return !i.leads.Load() },
		Adopted: func(robot string) bool { return robot != "unknown" },
		Failed:  func(string, error) { i.fails.Add(1) },
	})
	i.end = w.Start(func(ctx context.Context) { i.Run(ctx, w.DB) })
	return i
}

// drive lets a robot report its speed so many times, six times a minute.
func drive(w *storetest.World, times int, to ...*instance) {
	for range times {
		for _, i := range to {
			i.Observe(measure.Driven{Robot: "r1", SpeedMPS: 1}, time.Now())
			i.Observe(measure.Driven{Robot: "unknown", SpeedMPS: 1}, time.Now())
		}
		w.Sleep(10 * time.Second)
	}
}

// counts are how many values each minute since then has, with - for one without a row.
func counts(w *storetest.World, since time.Time) string {
	w.Helper()
	points, err := w.DB.Measurements(context.Background(), "r1", since, time.Now(), false)
	if err != nil {
		w.Fatal(err)
	}
	var out []string
	for at := since.Truncate(time.Minute); at.Before(time.Now()); at = at.Add(time.Minute) {
		text := "-"
		for _, p := range points {
			if p.Start == at.Unix() {
				text = fmt.Sprint(p.Count())
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// A leader that ends without writing loses nothing that its follower writes, and no minute counts twice.
func TestChangeOfTheLeaderLosesNoMinute(t *testing.T) {
	storetest.InWorld(t, func(w *storetest.World) {
		began := time.Now().Truncate(time.Minute)
		w.Sleep(time.Until(began.Add(time.Minute)))
		began = began.Add(time.Minute)
		a, b := start(w, true), start(w, false)
		drive(w, 15, a, b)
		a.leads.Store(false) // and it writes no more
		drive(w, 15, b)      // nobody leads
		b.leads.Store(true)
		drive(w, 12, b)
		a.end()
		b.end()
		if got, want := counts(w, began), "6 6 6 6 6 6 6"; got != want {
			t.Errorf("after a change of the leader the minutes have %s values, want %s", got, want)
		}
		if a.Written() != 2 || b.Written() != 5 || a.Dropped()+b.Dropped() > 0 || a.fails.Load()+b.fails.Load() > 0 {
			t.Errorf("they wrote %d and %d, dropped %d and %d", a.Written(), b.Written(), a.Dropped(), b.Dropped())
		}
	}, "r1")
}

// An orderly end writes the minute that is not over. The part of it before the restart or that after it stays, whichever has more.
func TestRestartLosesAtMostAPartOfAMinute(t *testing.T) {
	storetest.InWorld(t, func(w *storetest.World) {
		began := time.Now().Truncate(time.Minute).Add(time.Minute)
		w.Sleep(time.Until(began))
		a := start(w, true)
		drive(w, 6, a)
		for range 4 {
			a.Observe(measure.Driven{Robot: "r1", SpeedMPS: 1}, time.Now())
			w.Sleep(10 * time.Second)
		}
		a.end()
		b := start(w, true)
		for range 2 {
			b.Observe(measure.Driven{Robot: "r1", SpeedMPS: 1}, time.Now())
			w.Sleep(10 * time.Second)
		}
		drive(w, 6, b)
		b.end()
		if got, want := counts(w, began), "6 4 6"; got != want {
			t.Errorf("after a restart the minutes have %s values, want %s", got, want)
		}
	}, "r1")
}

// What the database does not take is written later, and dropped if it is too much. Hours that are over become rows of their own.
func TestMinutesWaitForTheDatabase(t *testing.T) {
	storetest.InWorld(t, func(w *storetest.World) {
		began := time.Now().Truncate(time.Minute).Add(time.Minute)
		w.Sleep(time.Until(began))
		a := start(w, true)
		drive(w, 12, a)
		if err := w.DB.Close(); err != nil {
			t.Fatal(err)
		}
		drive(w, 6, a)
		if a.fails.Load() == 0 {
			t.Error("a write to a closed database did not fail")
		}
		for i := range 40_000 {
			a.Observe(measure.Driven{Robot: fmt.Sprint("q", i), SpeedMPS: 1}, time.Now())
		}
		w.Sleep(2 * time.Minute)
		if a.Dropped() < 10_000 || a.Written() > 2 {
			t.Errorf("dropped %d, written %d", a.Dropped(), a.Written())
		}
		a.end()
	}, "r1")
}

func TestHoursThatAreOverAreFolded(t *testing.T) {
	storetest.InWorld(t, func(w *storetest.World) {
		began := time.Now().Truncate(time.Hour).Add(time.Hour)
		w.Sleep(time.Until(began))
		a := start(w, true)
		for range 130 {
			a.Observe(measure.Driven{Robot: "r1", SpeedMPS: 1}, time.Now())
			w.Sleep(time.Minute)
		}
		a.end()
		if n, err := w.DB.FoldMeasurements(context.Background(), began.Add(2*time.Hour), func() bool { return true }); n != 0 || err != nil {
			t.Errorf("%d minutes of the first two hours are not folded, %v", n, err)
		}
		quarters, err := w.DB.Measurements(context.Background(), "r1", began, began.Add(2*time.Hour), true)
		if err != nil || len(quarters) != 8 || quarters[7].Count() != 15 {
			t.Errorf("quarter hours: %v, %v", quarters, err)
		}
		if got := counts(w, began); strings.Count(got, "1") != 130 || strings.Contains(got, "-") {
			t.Errorf("minutes: %s", got)
		}
	}, "r1")
}
