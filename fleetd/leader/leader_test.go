package leader

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var morning = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return morning.Add(d) }

func TestWhoLeadsAndWhy(t *testing.T) {
	linked := Facts{Linked: true, LinkedSince: at(-time.Minute)}
	holds := linked
	holds.Held, holds.HeldSince, holds.Proven = true, at(-time.Minute), at(0)
	with := func(f Facts, change func(*Facts)) Facts { change(&f); return f }
	for _, row := range []struct {
		name string
		f    Facts
		want Decision
	}{
		{"a fleetd instance that has just begun", Facts{}, Decision{Role: Follows, Why: "it is not connected to the broker"}},
		{"connected, and has not asked", linked, Decision{Role: Follows, Why: "nobody leads yet", Ask: true}},
		{"beside a leader", with(linked, func(f *Facts) { f.Other = "fleetd-a" }), Decision{Role: Follows, Why: "fleetd-a leads", Ask: true}},
		{"without a database", with(linked, func(f *Facts) { f.Mute = "connection refused" }), Decision{Role: Follows, Why: "the database does not answer: connection refused", Ask: true}},
		{"the first", holds, Decision{Role: Leads, Why: "no other fleetd led"}},
		{"the only one", Facts{Alone: true, Held: true}, Decision{Role: Leads, Why: "it is the only fleetd of its database"}},
		{"at its end", with(holds, func(f *Facts) { f.Ends = true }), Decision{Role: Follows, Why: "it ends", Resign: true}},
		{"after one that died, at once", with(holds, func(f *Facts) { f.Before, f.HeldSince = "fleetd-a", at(1-Settle) }), Decision{Role: Waits, Why: "fleetd-a may not know yet that it leads no more"}},
		{"after one that died, later", with(holds, func(f *Facts) { f.Before, f.HeldSince = "fleetd-a", at(-Settle) }), Decision{Role: Leads, Why: "fleetd-a is gone"}},
		{"proven just in time", with(holds, func(f *Facts) { f.Proven = at(1 - Trust) }), Decision{Role: Leads, Why: "no other fleetd led"}},
		{"not proven for too long", with(holds, func(f *Facts) { f.Proven = at(-Trust) }), Decision{Role: Follows, Why: "the database was not heard for 3s and may have let another instance lead"}},
		{"without the broker for a moment", with(holds, func(f *Facts) { f.Linked, f.LinkedSince = false, at(1-Patience) }), Decision{Role: Leads, Why: "no other fleetd led"}},
		{"without the broker for long", with(holds, func(f *Facts) { f.Linked, f.LinkedSince = false, at(-Patience) }), Decision{Role: Follows, Why: "it was not connected to the broker for 5s, and makes room", Resign: true}},
	} {
		if got := Decide(row.f, at(0)); got != row.want {
			t.Errorf("%s: got %+v, want %+v", row.name, got, row.want)
		}
	}
}

// lock is the database's side: it gives the lock to one instance, and frees it when it
// believes that fleetd's connection to be gone, whatever fleetd believes.
type lock struct {
	holder   *instance
	leader   string // who held it last
	resigned bool
}

type instance struct {
	name  string
	f     Facts
	given bool      // the lock's connection lives, at both ends
	asked time.Time // when the proof under way was begun; zero = none
}

// Whatever is lost, late or frozen, no two fleetd instances lead at a time.
func TestNoTwoDesksLeadAtATime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l lock
		now := at(0)
		instances := make([]*instance, rapid.IntRange(2, 3).Draw(t, "fleetd instances"))
		for i := range instances {
			instances[i] = &instance{name: fmt.Sprint("fleetd-", i), f: Facts{Linked: true, LinkedSince: now}}
		}
		for range rapid.IntRange(10, 200).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 0, 0, 1, 500, 2500, 2999}).Draw(t, "ms")) * time.Millisecond)
			d := rapid.SampledFrom(instances).Draw(t, "fleetd")
			switch rapid.SampledFrom([]string{"ask", "ask", "ask", "prove", "proven", "cut", "cut", "notices", "link", "frozen"}).Draw(t, "what") {
			case "ask":
				if !Decide(d.f, now).Ask {
					break
				}
				if l.holder != nil {
					d.f.Other = l.leader
					break
				}
				d.f.Before = ""
				if !l.resigned {
					d.f.Before = l.leader
				}
				l.holder, l.leader, l.resigned = d, d.name, false
				d.given, d.f.Held, d.f.HeldSince, d.f.Proven, d.asked = true, true, now, now, time.Time{}
			case "prove":
				if d.f.Held && d.given {
					d.asked = now
				}
			case "proven": // it reached the database, which had not given up the connection
				if d.f.Held && d.given && !d.asked.IsZero() {
					d.f.Proven, d.asked = d.asked, time.Time{}
				}
			case "cut": // the database frees the lock; fleetd learns nothing
				if l.holder == d {
					l.holder, d.given = nil, false
				}
			case "notices":
				if d.f.Held && !d.given {
					d.f.Held = false
				}
			case "link":
				d.f.Linked, d.f.LinkedSince = !d.f.Linked, now
			case "frozen": // nothing: only time passes
			}
			if r := Decide(d.f, now); r.Resign && d.f.Held {
				d.f.Held = false
				if l.holder == d {
					l.holder, l.resigned = nil, true
				}
				d.given = false
			}
			leading := ""
			for _, d := range instances {
				if Decide(d.f, now).Role != Leads {
					continue
				}
				if leading != "" {
					t.Fatalf("%s and %s lead", leading, d.name)
				}
				leading = d.name
			}
		}
	})
}
