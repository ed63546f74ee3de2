package rollout

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/fleetd/selector"
	"troupe/schema"
)

func part(v float64) *float64 { return &v }
func whole(v int) *int        { return &v }
func seconds(v int64) *int64  { return &v }

func TestDefaultsAreThoseOfTheDocumentation(t *testing.T) {
	got, found := Spec{}.Complete()
	if len(found) > 0 {
		t.Fatal(found)
	}
	var waves []string
	for _, w := range got.Waves {
		waves = append(waves, fmt.Sprintf("%s %v %% at most %d: %+v", w.Name, w.Percent, w.Max, w.gate()))
	}
	want := []string{
		"canary 1 % at most 5: {SuccessPercent:100 MaxFailurePercent:0 MinDecided:1 SoakS:600 AcceptedFailures:0 Waived:false}",
		"wave 2 10 % at most 0: {SuccessPercent:95 MaxFailurePercent:5 MinDecided:5 SoakS:300 AcceptedFailures:0 Waived:false}",
		"wave 3 50 % at most 0: {SuccessPercent:95 MaxFailurePercent:5 MinDecided:5 SoakS:300 AcceptedFailures:0 Waived:false}",
		"wave 4 100 % at most 0: {SuccessPercent:95 MaxFailurePercent:5 MinDecided:5 SoakS:300 AcceptedFailures:0 Waived:false}",
	}
	if !slices.Equal(waves, want) {
		t.Errorf("%s", strings.Join(waves, "\n"))
	}
	got.Waves = nil
	yes := true
	if want := (Spec{
		OffersPerMin: 60, MaxOffersPerMin: 960, AcceptS: 120, FetchS: 600, ActivateS: 120, ConfirmS: 300,
		Offline: OfflineWait, OfflineExpiryS: 30 * 24 * 3600, Pinned: PinnedLeave, Refused: RefusedLeave, Retries: whole(3), WatchHealth: &yes,
	}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestCompleteSpecStaysAsItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once, found := drawSpec(t).Complete()
		if len(found) > 0 {
			t.Fatal(found)
		}
		if twice, found := once.Complete(); len(found) > 0 || !reflect.DeepEqual(once, twice) {
			t.Fatalf("%+v becomes %+v, %v", once, twice, found)
		}
	})
}

// TestWrongSpecsAreRefused has one wrong thing in each spec, and where it is.
func TestWrongSpecsAreRefused(t *testing.T) {
	lab := selector.Labelled(selector.Label{Key: "site", Value: "lab"})
	none := selector.Selector{}
	wave := func(w WaveSpec) Spec { return Spec{Waves: []WaveSpec{w, {Percent: 100}}} }
	with := func(change func(w *WaveSpec)) Spec {
		w := WaveSpec{Percent: 10}
		change(&w)
		return wave(w)
	}
	for _, no := range []struct {
		at   string
		spec Spec
	}{
		{"/spec/offers_per_min", Spec{OffersPerMin: -1}},
		{"/spec/offers_per_min", Spec{OffersPerMin: 100_001, MaxOffersPerMin: 0}},
		{"/spec/max_offers_per_min", Spec{MaxOffersPerMin: -1}},
		{"/spec/max_offers_per_min", Spec{MaxOffersPerMin: 100_001}},
		{"/spec/max_offers_per_min", Spec{OffersPerMin: 10, MaxOffersPerMin: 9}},
		{"/spec/accept_s", Spec{AcceptS: -1}},
		{"/spec/accept_s", Spec{AcceptS: 86_401}},
		{"/spec/fetch_s", Spec{FetchS: -1}},
		{"/spec/fetch_s", Spec{FetchS: 86_401}},
		{"/spec/activate_s", Spec{ActivateS: -1}},
		{"/spec/activate_s", Spec{ActivateS: 86_401}},
		{"/spec/confirm_s", Spec{ConfirmS: -1}},
		{"/spec/confirm_s", Spec{ConfirmS: 86_401}},
		{"/spec/offline_expiry_s", Spec{OfflineExpiryS: -1}},
		{"/spec/offline_expiry_s", Spec{OfflineExpiryS: 367 * 86_400}},
		{"/spec/offline", Spec{Offline: "later"}},
		{"/spec/pinned", Spec{Pinned: "yes"}},
		{"/spec/refused", Spec{Refused: "no"}},
		{"/spec/retries", Spec{Retries: whole(-1)}},
		{"/spec/retries", Spec{Retries: whole(21)}},
		{"/spec/waves", Spec{AllAtOnce: true, Waves: []WaveSpec{{Count: 1}}}},
		{"/spec/in_windows", Spec{AllAtOnce: true, InWindows: true}},
		{"/spec/only_idle", Spec{AllAtOnce: true, OnlyIdle: true}},
		{"/spec/offline", Spec{AllAtOnce: true, Offline: OfflineSkip}},
		{"/spec/waves", Spec{Waves: make([]WaveSpec, 21)}},
		{"/spec/waves/0", wave(WaveSpec{})},
		{"/spec/waves/0", wave(WaveSpec{Count: 1, Percent: 1})},
		{"/spec/waves/0", wave(WaveSpec{Count: 1, Robots: &lab})},
		{"/spec/waves/0", wave(WaveSpec{Percent: 1, Robots: &lab})},
		{"/spec/waves/0/count", wave(WaveSpec{Count: -1})},
		{"/spec/waves/0/count", wave(WaveSpec{Count: 1_000_001})},
		{"/spec/waves/0/percent", wave(WaveSpec{Percent: -1})},
		{"/spec/waves/0/percent", Spec{Waves: []WaveSpec{{Percent: 101}}}},
		{"/spec/waves/1/percent", Spec{Waves: []WaveSpec{{Percent: 20}, {Percent: 20}}}},
		{"/spec/waves/2/percent", Spec{Waves: []WaveSpec{{Percent: 20}, {Count: 3}, {Percent: 10}}}},
		{"/spec/waves/0/max", with(func(w *WaveSpec) { w.Max = -1 })},
		{"/spec/waves/0/max", wave(WaveSpec{Count: 3, Max: 3})},
		{"/spec/waves/0/selector", wave(WaveSpec{Robots: &none})},
		{"/spec/waves/0/success_percent", with(func(w *WaveSpec) { w.SuccessPercent = part(-1) })},
		{"/spec/waves/0/success_percent", with(func(w *WaveSpec) { w.SuccessPercent = part(101) })},
		{"/spec/waves/0/max_failure_percent", with(func(w *WaveSpec) { w.MaxFailurePercent = part(-1) })},
		{"/spec/waves/0/max_failure_percent", with(func(w *WaveSpec) { w.MaxFailurePercent = part(101) })},
		{"/spec/waves/0/min_decided", with(func(w *WaveSpec) { w.MinDecided = whole(-1) })},
		{"/spec/waves/0/soak_s", with(func(w *WaveSpec) { w.SoakS = seconds(-1) })},
		{"/spec/waves/0/soak_s", with(func(w *WaveSpec) { w.SoakS = seconds(604_801) })},
		{"/spec/waves/0/name", with(func(w *WaveSpec) { w.Name = strings.Repeat("x", 64) })},
		{"/spec/waves/0/name", with(func(w *WaveSpec) { w.Name = "a\nb" })},
		{"/spec/waves/1/name", Spec{Waves: []WaveSpec{{Name: "x", Percent: 1}, {Name: "x", Percent: 2}}}},
	} {
		_, found := no.spec.Complete()
		if len(found) != 1 || found[0].Pointer != no.at || found[0].Hint == "" {
			t.Errorf("%+v: %v, want one problem with a way out at %s", no.spec, found, no.at)
		}
	}
}

func TestEverythingThatIsWrongIsReportedAtOnce(t *testing.T) {
	_, found := NewPlan(Ask{Now: start, NotBefore: start.Add(-time.Hour),
		Spec: Spec{Retries: whole(99), Waves: []WaveSpec{{}, {Percent: 300}}}})
	var at []string
	for _, p := range found {
		at = append(at, p.Pointer)
	}
	want := []string{"/spec/retries", "/spec/waves/0", "/spec/waves/1/percent", "/content", "/selector", "/not_before"}
	if !slices.Equal(at, want) {
		t.Errorf("problems at %q", at)
	}
}

func TestWavesOfManyRobots(t *testing.T) {
	for _, of := range []struct {
		robots int
		waves  string
	}{
		{1, "1 0 0 0"}, {2, "1 0 0 1"}, {10, "1 0 4 5"}, {100, "1 9 40 50"}, {200, "2 18 80 100"}, {10_000, "5 995 4000 5000"},
	} {
		p, found := NewPlan(newWorld(of.robots).ask(Spec{}))
		if len(found) > 0 {
			t.Fatal(found)
		}
		var sizes []string
		for _, w := range p.Waves {
			sizes = append(sizes, fmt.Sprint(len(w.Robots)))
		}
		if got := strings.Join(sizes, " "); got != of.waves {
			t.Errorf("%d robots: waves of %s, want %s", of.robots, got, of.waves)
		}
	}
}

func TestWaveOfASelectorComesFirst(t *testing.T) {
	lab := selector.Labelled(selector.Label{Key: "site", Value: "lab"})
	p, found := NewPlan(newWorld(9).ask(Spec{Waves: []WaveSpec{{Name: "lab", Robots: &lab}, {Count: 3}}}))
	if len(found) > 0 {
		t.Fatal(found)
	}
	if got := slices.Sorted(slices.Values(p.Waves[0].Robots)); !slices.Equal(got, []string{"r1", "r2"}) || len(p.Waves) != 3 ||
		len(p.Waves[1].Robots) != 3 || len(p.Waves[2].Robots) != 4 {
		t.Errorf("got %+v", p.Waves)
	}
}

// Each robot is in one wave, whoever it is; a plan is repeatable, another seed orders the robots in another way, and the
// robots that get nothing are the last.
func TestEachRobotIsInOneWave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.IntRange(1, 300).Draw(t, "robots"))
		a := w.ask(drawSpec(t))
		a.Seed = rapid.Uint64().Draw(t, "seed")
		for i := range a.Robots {
			c := &a.Robots[i]
			switch rapid.IntRange(0, 9).Draw(t, "robot") {
			case 0:
				c.Pinned = true
			case 1:
				c.Has = true
			case 2:
				c.Refused = schema.ReasonUnsupportedVersion
			case 3:
				c.Online = false
			}
		}
		p, found := NewPlan(a)
		if len(found) > 0 {
			t.Fatal(found)
		}
		slices.Reverse(a.Robots)
		if again, _ := NewPlan(a); !reflect.DeepEqual(p.Waves, again.Waves) {
			t.Fatalf("in another order of the robots, the waves are %v and %v", p.Waves, again.Waves)
		}
		o, rows := p.Rollout(New{ID: "ro-1", At: start})
		seen := map[string]bool{}
		counts := make([]int, len(o.Waves))
		gets := func(id string) bool {
			return !slices.Contains(p.Pinned, id) && !slices.Contains(p.Unchanged, id)
		}
		for i, b := range rows {
			if seen[b.ID] {
				t.Fatalf("%s is in two waves", b.ID)
			}
			seen[b.ID] = true
			counts[b.Wave]++
			if !gets(b.ID) && b.Wave != len(o.Waves)-1 {
				t.Fatalf("%s gets nothing, and is in wave %d", b.ID, b.Wave)
			}
			if earlier := i > 0 && rows[i-1].Wave == b.Wave; earlier && b.Place != rows[i-1].Place+1 {
				t.Fatalf("%+v follows %+v", b, rows[i-1])
			}
		}
		for i, v := range o.Waves {
			if v.Total != counts[i] {
				t.Fatalf("wave %d has %d robots, and says %d", i, counts[i], v.Total)
			}
		}
		if len(seen) != len(w.bots) || p.Total != len(w.bots) {
			t.Fatalf("%d of %d robots are in waves", len(seen), len(w.bots))
		}
	})
}

func TestPlanSaysWhoGetsNothingAndWhy(t *testing.T) {
	w := newWorld(8)
	a := w.ask(Spec{Waves: []WaveSpec{{Count: 2}}})
	a.Bytes, a.ApproveAbove = 5000, 7
	a.Robots[0].Pinned = true
	a.Robots[1].Has = true
	a.Robots[2].Refused, a.Robots[2].Detail = schema.ReasonStoryInvalid, "its body has no arms"
	a.Robots[3].FreeBytes = 4999
	a.Robots[4].Online = false
	a.Robots[5].Warning = "without the act dance"
	a.Robots[6].Rollout, a.Robots[7].Rollout = "ro-0", "ro-0"
	p, found := NewPlan(a)
	if len(found) > 0 {
		t.Fatal(found)
	}
	got := fmt.Sprintf("refused %v\nwarnings %v\nunchanged %v pinned %v offline %v superseding %v approval %v", p.Refused, p.Warnings,
		p.Unchanged, p.Pinned, p.Offline, p.Superseding, p.NeedsApproval)
	want := `refused [{r3 1 story_invalid its body has no arms} {r4 1 no_space it has 4999 bytes free, and the content has 5000}]
warnings [{r6 0  without the act dance}]
unchanged [r2] pinned [r1] offline [r5] superseding [{ro-0 [r7 r8]}] approval true`
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if first := p.Waves[0].Robots; len(first) != 2 || slices.Contains(first, "r5") {
		t.Errorf("the canary is %v", first)
	}
	o, _ := p.Rollout(New{ID: "ro-1", By: "ann", At: start, Start: true})
	if o.State != WaitingForApproval || o.Waves[1].Counts[LeftOut] != 2 || o.Name != "story welcome revision 2" {
		t.Errorf("got %+v", o)
	}
}

func TestExpectedEndCountsOffersAndSoaks(t *testing.T) {
	a := newWorld(121).ask(Spec{Waves: []WaveSpec{{Count: 1}, {Percent: 100}}})
	p, _ := NewPlan(a)
	// A robot and a minute, and the soak of the canary; 120 robots at twice the rate, a minute, and the soak.
	if got, want := p.ExpectedEnd.Sub(start), time.Second+time.Minute+10*time.Minute+time.Minute+time.Minute+5*time.Minute; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	a.NotBefore = start.Add(time.Hour)
	if later, _ := NewPlan(a); later.ExpectedEnd.Sub(p.ExpectedEnd) != time.Hour {
		t.Errorf("got %v", later.ExpectedEnd)
	}
}

func TestHealthRules(t *testing.T) {
	rest := Health{Robots: 100, Offline: 2, Critical: 1, Latched: 3, Acts: 2000, ActErrors: 40, Interrupts: 150}
	for _, of := range []struct {
		updated Health
		rule    string // empty = not worse
	}{
		{Health{Robots: 5, Acts: 100, ActErrors: 2, Interrupts: 9}, ""},
		{Health{Robots: 5, Offline: 1}, "offline"},
		{Health{Robots: 20, Offline: 2}, ""},
		{Health{Robots: 5, Critical: 1}, "with a critical alert"},
		{Health{Robots: 5, Latched: 1}, ""}, // a latched stop does not stop a rollout
		{Health{Robots: 5, Latched: 2}, "with a latched stop"},
		{Health{Robots: 5, Acts: 20, ActErrors: 2}, ""},
		{Health{Robots: 5, Acts: 20, ActErrors: 3}, "failed acts"},
		{Health{Robots: 5, Interrupts: 21}, "interrupts for each robot"},
		{Health{}, ""},
	} {
		got := worse(of.updated, rest)
		if name, _, _ := strings.Cut(got, ":"); name != of.rule {
			t.Errorf("%+v: %q, want %q", of.updated, got, of.rule)
		}
	}
	if got := worse(Health{Robots: 100, Offline: 5}, Health{}); got != "" {
		t.Errorf("without others: %s", got)
	}
	for _, rule := range healthRules {
		if rule.Why == "" {
			t.Errorf("rule %q has no reason", rule.Name)
		}
	}
}

// The wait before the next offer doubles, stays within its bounds, and differs between robots.
func TestBackOff(t *testing.T) {
	s := step{Run: &Run{Rollout: Rollout{Seed: 1}}}
	seen := map[time.Duration]bool{}
	for robot := range 100 {
		b := Robot{ID: fmt.Sprint(robot)}
		for b.Tries = 1; b.Tries < 20; b.Tries++ {
			middle := min(firstRetry<<min(b.Tries-1, 10), longestRetry)
			got := s.backOff(&b)
			if got < middle*8/10 || got > middle*12/10 || got > longestRetry {
				t.Fatalf("offer %d: wait %v", b.Tries, got)
			}
			if b.Tries == 1 {
				seen[got] = true
			}
		}
	}
	if len(seen) < 50 {
		t.Errorf("100 robots have %d different waits", len(seen))
	}
}
