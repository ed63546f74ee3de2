package rollout

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/fleetd/presence"
	"troupe/schema"
)

// A checker follows a world and knows what must always hold.
type checker struct {
	t     *rapid.T
	w     *world
	got   map[string]int64     // revision of the content that each robot was offered last
	had   map[string]string    // what each robot had before
	tries map[string]int       // offers since a person planned it last
	sent  map[string]time.Time // the newest offer of each robot
	rate  int                  // the highest number of offers a minute that was allowed so far
}

func newChecker(t *rapid.T, w *world) *checker {
	k := &checker{t: t, w: w, got: map[string]int64{}, had: map[string]string{}, tries: map[string]int{}, sent: map[string]time.Time{}}
	w.check = k.saved
	return k
}

// saved checks what a transaction saved.
func (k *checker) saved(before Rollout, c Changes) {
	for _, b := range c.Robots {
		was := k.w.rows[b.ID]
		k.robot(before, c.Rollout, was, b)
	}
	k.recount(c)
	k.waves(before, c.Rollout)
	if len(c.Offers) > 0 && (c.Rollout.State != Running || before.State != Running && before.State != Scheduled) {
		k.t.Fatalf("%d robots are offered the content while the rollout goes from %s to %s", len(c.Offers), before.State, c.Rollout.State)
	}
	if len(c.Restore) > 0 && c.Rollout.State != RollingBack {
		k.t.Fatalf("robots get back what they had while the rollout is %s", c.Rollout.State)
	}
	for _, id := range c.Offers {
		k.offer(before, c, id)
	}
	for _, back := range c.Restore {
		for _, id := range back.Robots {
			if k.got[id] == 0 {
				k.t.Fatalf("%s gets back what it had, and was never offered the content", id)
			}
			if had := back.Content.String(); had != k.had[id] {
				k.t.Fatalf("%s gets back %s, and had %s", id, had, k.had[id])
			}
		}
	}
}

func (k *checker) offer(before Rollout, c Changes, id string) {
	was, b := k.w.rows[id], k.w.byID[id]
	if was.Wave > c.Rollout.Wave {
		k.t.Fatalf("%s of wave %d is offered the content in wave %d", id, was.Wave, c.Rollout.Wave)
	}
	if !c.Rollout.Spec.AllAtOnce {
		if !b.online {
			k.t.Fatalf("%s is offered the content while it is away", id)
		}
		if c.Rollout.Spec.InWindows && b.closed || c.Rollout.Spec.OnlyIdle && b.busy {
			k.t.Fatalf("%s is offered the content outside its window, or while it performs", id)
		}
		k.sent[id] = k.w.now
		n := 0
		for _, at := range k.sent {
			if k.w.now.Sub(at) < time.Minute {
				n++
			}
		}
		passed := 0
		for _, v := range c.Rollout.Waves {
			if v.State == WavePassed {
				passed++
			}
		}
		k.rate = max(k.rate, c.Rollout.Spec.rate(passed))
		if n > k.rate {
			k.t.Fatalf("%d robots are offered the content within a minute, and %d are allowed", n, k.rate)
		}
	}
	if k.tries[id]++; k.tries[id] > 1+*c.Rollout.Spec.Retries {
		k.t.Fatalf("%s is offered the content %d times", id, k.tries[id])
	}
	if k.got[id] == b.rev && b.report.Rev == b.rev && b.report.Phase == schema.DeployFailed {
		k.t.Fatalf("%s is offered revision %d twice", id, b.rev)
	}
	if k.got[id] == 0 {
		k.had[id] = b.before.String()
	}
	k.got[id] = b.rev
}

func (k *checker) robot(before, after Rollout, was, b Robot) {
	if was.State == b.State {
		return
	}
	if was.Rev != 0 && b.Had != nil && k.had[b.ID] != "" && b.Had.String() != k.had[b.ID] {
		k.t.Fatalf("%s had %s, and its row says %s", b.ID, k.had[b.ID], b.Had)
	}
	if b.State == Planned { // a person retries it
		k.tries[b.ID] = 0
	}
	if b.State == Confirmed && !after.Spec.AllAtOnce {
		soak := after.Waves[b.Wave].Gate.soak()
		if bot := k.w.byID[b.ID]; k.w.now.Sub(b.ActiveAt) < soak || bot.seen.Sub(b.ActiveAt) < soak || !bot.report.Active {
			k.t.Fatalf("%s is confirmed %v after it activated the content", b.ID, k.w.now.Sub(b.ActiveAt))
		}
	}
	if b.State == Silent {
		if bot := k.w.byID[b.ID]; k.w.now.Sub(bot.seen) < SilentAfter {
			k.t.Fatalf("%s is silent %v after its heartbeat", b.ID, k.w.now.Sub(bot.seen))
		}
	}
}

// recount compares the counts with the rows.
func (k *checker) recount(c Changes) {
	rows := maps.Clone(k.w.rows)
	for _, b := range c.Robots {
		rows[b.ID] = b
	}
	counts := make([]map[RobotState]int, len(c.Rollout.Waves))
	for i := range counts {
		counts[i] = map[RobotState]int{}
	}
	for _, b := range rows {
		counts[b.Wave][b.State]++
	}
	for i, v := range c.Rollout.Waves {
		if !maps.Equal(v.Counts, counts[i]) {
			k.t.Fatalf("wave %d counts %v, and its rows are %v", i, v.Counts, counts[i])
		}
	}
}

// waves checks that a wave begins only after the waves before it.
func (k *checker) waves(before, after Rollout) {
	for i, v := range after.Waves {
		begins := before.Waves[i].State == WavePlanned && v.State == WaveRunning
		if !begins {
			continue
		}
		for _, earlier := range after.Waves[:i] {
			if earlier.State != WavePassed && earlier.State != WaveSkipped {
				k.t.Fatalf("wave %d begins while wave %d is %s", i, earlier.Number, earlier.State)
			}
		}
	}
	if after.State.Over() && after.State != Aborted && after.EndedAt.IsZero() || !after.State.Over() && !after.EndedAt.IsZero() {
		k.t.Fatalf("a rollout that is %s ended at %v", after.State, after.EndedAt)
	}
}

// settled checks a world between two steps: what is in memory is what was saved, a step is repeated without harm, and
// nothing happens before NextAt without news.
func (k *checker) settled() {
	w := k.w
	if !reflect.DeepEqual(normal(w.run.Rollout), normal(w.saved)) {
		k.t.Fatalf("the rollout in memory is\n%+v\nand saved is\n%+v", w.run.Rollout, w.saved)
	}
	for _, b := range w.run.Robots() {
		if !reflect.DeepEqual(b, w.rows[b.ID]) {
			k.t.Fatalf("in memory is\n%+v\nand saved is\n%+v", b, w.rows[b.ID])
		}
	}
}

func normal(r Rollout) Rollout {
	r.NextAt = time.Time{}
	r.Waves = cloneWaves(r.Waves)
	return r
}

// quiet checks that a step at t changes nothing, in memory or after a restart.
func (k *checker) quiet(t time.Time, why string) {
	run := NewRun(k.w.saved, slices.Collect(maps.Values(k.w.rows)))
	if c := Step(run, t, k.w.facts()); !c.Empty() {
		k.t.Fatalf("%s, a step changes\n%s", why, k.w.say(k.w.saved, k.w.rows, c)+fmt.Sprintf("offers %v, %+v", c.Offers, c.Robots))
	}
}

// drawSpec draws how a rollout goes.
func drawSpec(t *rapid.T) Spec {
	if rapid.IntRange(0, 9).Draw(t, "all at once") == 0 {
		return Spec{AllAtOnce: true}
	}
	spec := Spec{
		OffersPerMin:   rapid.SampledFrom([]int{0, 6, 600, 6000}).Draw(t, "rate"),
		Offline:        rapid.SampledFrom([]OfflinePolicy{"", "", OfflineSkip, OfflineFail}).Draw(t, "offline"),
		OfflineExpiryS: rapid.SampledFrom([]int64{0, 3600}).Draw(t, "expiry"),
		Pinned:         rapid.SampledFrom([]PinnedPolicy{"", PinnedReplace}).Draw(t, "pinned"),
		Refused:        rapid.SampledFrom([]RefusedPolicy{"", RefusedOffer}).Draw(t, "refused"),
		InWindows:      rapid.IntRange(0, 3).Draw(t, "windows") == 0,
		OnlyIdle:       rapid.IntRange(0, 3).Draw(t, "idle") == 0,
	}
	if rapid.Bool().Draw(t, "waves") {
		spec.Waves = []WaveSpec{{Count: rapid.IntRange(1, 9).Draw(t, "canary")}, {Percent: 40}}
		if rapid.Bool().Draw(t, "tolerant") {
			most, least, few, soak := 30.0, 60.0, 3, int64(60)
			for i := range spec.Waves {
				spec.Waves[i].MaxFailurePercent, spec.Waves[i].SuccessPercent, spec.Waves[i].MinDecided, spec.Waves[i].SoakS = &most, &least,
					&few, &soak
			}
		}
	}
	return spec
}

// news changes one robot.
func news(t *rapid.T, w *world) {
	b := w.bots[rapid.IntRange(0, len(w.bots)-1).Draw(t, "robot")]
	phase := func(p schema.DeployPhase) { b.report = Report{Rev: b.rev, Phase: p} }
	switch rapid.IntRange(0, 15).Draw(t, "news") {
	case 0:
		b.online, b.signedOff = false, rapid.Bool().Draw(t, "signs off")
	case 1, 2:
		b.online, b.signedOff, b.unseen = true, false, false
	case 3:
		phase(rapid.SampledFrom([]schema.DeployPhase{
			schema.DeployFetching, schema.DeployValidating, schema.DeployStaged, schema.DeployWaiting, schema.DeployActivating, schema.DeployActive,
		}).Draw(t, "phase"))
	case 4, 5, 6, 7:
		phase(schema.DeployActive)
		b.report.Active = true
	case 8:
		phase(rapid.SampledFrom([]schema.DeployPhase{schema.DeployRejected, schema.DeployFailed, schema.DeployRolledBack}).Draw(t, "failure"))
		b.report.Reason = rapid.SampledFrom([]schema.Reason{schema.ReasonNoSpace, schema.ReasonStoryInvalid, ""}).Draw(t, "reason")
	case 9:
		b.busy, b.closed = rapid.Bool().Draw(t, "busy"), rapid.Bool().Draw(t, "closed")
	case 10:
		b.unseen = true
	case 11: // a report of an earlier revision arrives late
		b.report = Report{Rev: b.rev - 1, Phase: schema.DeployActive, Active: true}
	case 12:
		switch rapid.IntRange(0, 5).Draw(t, "rare") {
		case 0:
			b.gone = true
		case 1:
			b.pinned = true
		case 2:
			b.rev, b.desired = b.rev+1, story(7)
		case 3:
			b.rev++ // signed again
		case 4:
			b.newer = "ro-2"
		}
	case 13:
		b.health.ActErrors = 9
	case 14:
		b.report.Partial = b.report.Rev == b.rev
	case 15: // it is quick and right
		b.online, b.unseen = true, false
		phase(schema.DeployActive)
		b.report.Active = true
	}
}

func decisions(t *rapid.T, w *world) {
	on := rapid.SampledFrom(slices.Concat(w.saved.Possible(), ofPeople)).Draw(t, "decision")
	if on == OnAbort || on == OnRollback { // ends too many worlds early
		if rapid.IntRange(0, 4).Draw(t, "really") > 0 {
			return
		}
	}
	d := Decision{On: on, By: rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "by"), Why: "so", Digest: w.saved.Digest,
		NotBefore: w.now.Add(time.Minute)}
	before := w.saved.State
	found := w.decide(d)
	if refused := len(found) > 0; refused != !slices.Contains(Rollout{State: before}.Possible(), on) &&
		on != OnApprove && on != OnRetry { // which have more conditions
		t.Fatalf("%s in %s is refused: %v", on, before, found)
	}
}

// For any order of reports, losses, restarts, duplicates and decisions, with 200 robots: the counts equal the rows,
// nothing is offered after a pause, an abort or a threshold, nor before its wave, its window or its rate allows it, each
// robot once for each revision; only robots that got the content get back what they had, and it is their own.
func TestRolloutKeepsItsPromisesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(200)
		k := newChecker(t, w)
		for range rapid.IntRange(0, 60).Draw(t, "before") {
			news(t, w)
		}
		for _, b := range w.bots {
			b.before, b.newer, b.gone = b.desired, "", false
		}
		a := w.ask(drawSpec(t))
		for i := range a.Robots {
			if i%29 == 0 {
				a.Robots[i].Refused = schema.ReasonUnsupportedVersion
			}
		}
		a.Seed = rapid.Uint64().Draw(t, "seed")
		if rapid.IntRange(0, 4).Draw(t, "approval") == 0 {
			a.ApproveAbove = 10
		}
		if rapid.IntRange(0, 4).Draw(t, "time") == 0 {
			a.NotBefore = w.now.Add(time.Minute)
		}
		w.begin(a, New{Start: true})
		k.recount(Changes{Rollout: w.saved})
		for range rapid.IntRange(20, 120).Draw(t, "events") {
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0, 1, 2:
				for range rapid.IntRange(1, 40).Draw(t, "reports") {
					news(t, w)
				}
			case 3:
				if rapid.Bool().Draw(t, "all well") { // so that waves pass at all
					for _, b := range w.bots {
						b.online, b.unseen, b.busy, b.closed, b.report = true, false, false, false, Report{Rev: b.rev, Phase: schema.DeployActive,
							Active: true}
					}
				}
			case 4:
				decisions(t, w)
			case 5:
				w.restart()
			case 6:
				switch rapid.IntRange(0, 4).Draw(t, "fleetd") {
				case 0:
					w.fleetd.Connected = false
				case 1, 2:
					w.fleetd = presence.Fleetd{Connected: true, Since: w.now.Add(-time.Hour)}
				case 3:
					w.fleetd = presence.Fleetd{Connected: true, Since: w.now}
				}
			default:
				d := rapid.SampledFrom([]time.Duration{0, time.Second, 5 * time.Second, 30 * time.Second, 5 * time.Minute,
					20 * time.Minute}).Draw(t, "time passes")
				for range rapid.IntRange(1, 5).Draw(t, "steps") {
					w.now = w.now.Add(d / 5)
					w.beat()
					w.step()
					k.settled()
				}
			}
		}
		k.ends()
	})
}

// ends lets a rollout come to its end: it ends when robots and people do what they can, or says why it waits.
func (k *checker) ends() {
	w := k.w
	w.fleetd = presence.Fleetd{Connected: true, Since: w.now.Add(-time.Hour)}
	for range 4000 {
		if w.saved.State.Over() && !w.saved.EndedAt.IsZero() {
			if said := w.saved.Waits(); said != "" {
				k.t.Fatalf("a rollout that is over waits: %s", said)
			}
			return
		}
		if w.saved.Waits() == "" {
			k.t.Fatalf("a rollout that is %s does not say what it waits for", w.saved.State)
		}
		switch w.saved.State {
		case WaitingForApproval:
			w.decide(Decision{On: OnApprove, By: "bob", Digest: w.saved.Digest})
		case Ready:
			w.decide(Decision{On: OnStart, By: "bob"})
		case Paused:
			w.decide(Decision{On: OnResume, By: "bob"})
		}
		for _, b := range w.bots {
			b.online, b.unseen, b.busy, b.closed, b.report = true, false, false, false, Report{Rev: b.rev, Phase: schema.DeployActive, Active: true}
		}
		w.now = w.now.Add(30 * time.Second)
		w.beat()
		w.step()
	}
	k.t.Fatalf("the rollout is %s still: %s", w.saved.State, w.saved.Waits())
}

// Without news, a step before NextAt changes nothing: it may be repeated, and made by another instance of fleetd.
func TestNothingChangesBeforeNextAt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(30)
		k := newChecker(t, w)
		w.begin(w.ask(drawSpec(t)), New{Start: true})
		for range rapid.IntRange(5, 60).Draw(t, "events") {
			for range rapid.IntRange(0, 10).Draw(t, "reports") {
				news(t, w)
			}
			if rapid.IntRange(0, 9).Draw(t, "decides") == 0 {
				decisions(t, w)
			}
			w.beat()
			for range 10 {
				if w.step(); w.saved.NextAt.IsZero() || w.saved.NextAt.Sub(w.now) > time.Millisecond {
					break
				}
				w.now = w.saved.NextAt
			}
			next := w.saved.NextAt
			if next.IsZero() {
				next = w.now.Add(100 * 24 * time.Hour)
			}
			if !next.After(w.now) {
				t.Fatalf("the next step is due at %v, and it is %v", next, w.now)
			}
			k.quiet(w.now, "at the same time")
			k.quiet(next.Add(-time.Nanosecond), "just before the time of the next step")
			k.quiet(w.now.Add(next.Sub(w.now)/2), "before the time of the next step")
			w.now = w.now.Add(rapid.SampledFrom([]time.Duration{time.Second, 10 * time.Second, next.Sub(w.now)}).Draw(t, "time passes"))
		}
	})
}
