package leader

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var morning = time.Date(2026, 5, 17, 9, 30, 0, 0, time.UTC)

func at(d time.Duration) time.Time { return morning.Add(d) }

func TestDecide(t *testing.T) {
	linked := Facts{Connected: true, ConnectionChangedAt: at(-time.Minute)}
	holds := linked
	holds.HasLock, holds.HasLockSince, holds.Proven = true, at(-time.Minute), at(0)
	with := func(f Facts, change func(*Facts)) Facts { change(&f); return f }
	for _, row := range []struct {
		name string
		f    Facts
		want Decision
	}{
		{"just started", Facts{}, Decision{Role: Follows, Why: "it is not connected to the broker"}},
		{"connected, has not asked for the lock", linked, Decision{Role: Follows, Why: "no instance leads yet", Ask: true}},
		{"another instance leads", with(linked, func(f *Facts) { f.Other = "fleetd-a" }), Decision{Role: Follows, Why: "fleetd-a leads",
			Ask: true}},
		{"without a database", with(linked, func(f *Facts) { f.DatabaseProblem = "connection refused" }),
			Decision{Role: Follows, Why: "the database does not answer: connection refused", Ask: true}},
		{"first leader", holds, Decision{Role: Leads, Why: "no other fleetd led"}},
		{"only instance", Facts{Alone: true, HasLock: true}, Decision{Role: Leads, Why: "it is the only instance on its database"}},
		{"shutting down", with(holds, func(f *Facts) { f.Ending = true }), Decision{Role: Follows, Why: "it is shutting down", Resign: true}},
		{"leader before died, within Settle", with(holds, func(f *Facts) { f.Predecessor, f.HasLockSince = "fleetd-a", at(1-Settle) }),
			Decision{Role: Waits, Why: "fleetd-a may not know yet that it is no longer the leader"}},
		{"leader before died, after Settle", with(holds, func(f *Facts) { f.Predecessor, f.HasLockSince = "fleetd-a", at(-Settle) }),
			Decision{Role: Leads, Why: "fleetd-a is gone"}},
		{"lock proven just in time", with(holds, func(f *Facts) { f.Proven = at(1 - Trust) }), Decision{Role: Leads, Why: "no other fleetd led"}},
		{"lock not proven for too long", with(holds, func(f *Facts) { f.Proven = at(-Trust) }),
			Decision{Role: Follows, Why: "the database has not answered for 3s and may have given the lock to another instance"}},
		{"without the broker for a moment", with(holds, func(f *Facts) { f.Connected, f.ConnectionChangedAt = false, at(1-LinkGrace) }),
			Decision{Role: Leads, Why: "no other fleetd led"}},
		{"without the broker for long", with(holds, func(f *Facts) { f.Connected, f.ConnectionChangedAt = false, at(-LinkGrace) }),
			Decision{Role: Follows, Why: "it was not connected to the broker for 5s and releases the lock", Resign: true}},
	} {
		if got := Decide(row.f, at(0)); got != row.want {
			t.Errorf("%s: got %+v, want %+v", row.name, got, row.want)
		}
	}
}

// lock is the database's side: it gives the lock to one instance, and releases it when it
// considers the connection dead, without the instance knowing.
type lock struct {
	holder   *instance
	leader   string // who held it last
	resigned bool
}

type instance struct {
	name  string
	f     Facts
	given bool      // the connection with the lock is alive, at both ends
	asked time.Time // when the proof in progress was started; zero = none
}

// Whatever is lost, late or frozen, at most one instance leads at a time.
func TestAtMostOneInstanceLeads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l lock
		now := at(0)
		instances := make([]*instance, rapid.IntRange(2, 3).Draw(t, "fleetd instances"))
		for i := range instances {
			instances[i] = &instance{name: fmt.Sprint("fleetd-", i), f: Facts{Connected: true, ConnectionChangedAt: now}}
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
				d.f.Predecessor = ""
				if !l.resigned {
					d.f.Predecessor = l.leader
				}
				l.holder, l.leader, l.resigned = d, d.name, false
				d.given, d.f.HasLock, d.f.HasLockSince, d.f.Proven, d.asked = true, true, now, now, time.Time{}
			case "prove":
				if d.f.HasLock && d.given {
					d.asked = now
				}
			case "proven": // the database answered on a connection that it considers alive
				if d.f.HasLock && d.given && !d.asked.IsZero() {
					d.f.Proven, d.asked = d.asked, time.Time{}
				}
			case "cut": // the database releases the lock; the instance does not know
				if l.holder == d {
					l.holder, d.given = nil, false
				}
			case "notices":
				if d.f.HasLock && !d.given {
					d.f.HasLock = false
				}
			case "link":
				d.f.Connected, d.f.ConnectionChangedAt = !d.f.Connected, now
			case "frozen": // nothing: only time passes
			}
			if r := Decide(d.f, now); r.Resign && d.f.HasLock {
				d.f.HasLock = false
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
