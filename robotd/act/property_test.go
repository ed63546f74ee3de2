package act

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema"
	"troupe/schema/score"
)

// drawGroup generates a tree of actions. With timed, all of them end by time alone.
func drawGroup(t *rapid.T, path string, depth int, timed bool) []score.Action {
	var list []score.Action
	for i := range rapid.IntRange(0, 5).Draw(t, "actions") {
		id := fmt.Sprintf("%s.%d", path, i)
		start := rapid.Int64Range(0, 600).Draw(t, "start")
		length := rapid.SampledFrom([]int64{0, 3, 15, 40, 200, 700}).Draw(t, "length")
		var a score.Action
		kinds := 5
		if depth < 3 {
			kinds = 6
		}
		if !timed {
			kinds += 7
		}
		switch k := rapid.IntRange(1, kinds).Draw(t, "kind"); {
		case k == 1:
			a = led(id, start, start+length)
		case k == 2:
			a = face(id, start, start+length)
		case k == 3:
			a = wait(start, start+length)
			a.ID = id
		case k == 4:
			a = face(id, start, -1)
		case k == 5:
			a = sound(id, start, start+length)
		case k == 6 && depth < 3:
			a = group(id, start, score.MethodMultiple, drawGroup(t, id, depth+1, timed)...)
		case k == 7:
			a = say(id, start, length)
		case k == 8:
			a = drive(id, start, length)
		case k == 9:
			a = motion(id, start, length)
		case k == 10:
			a = velocity(id, start, start+length)
		case k == 11:
			a = choice(id, start, length)
		default:
			a = head(id, start, rapid.SampledFrom([]int64{-1, length}).Draw(t, "timeout"))
		}
		if rapid.IntRange(0, 3).Draw(t, "exclusive") == 0 {
			a.Method = score.MethodExclusive
		}
		if !timed {
			a.OnResume = rapid.SampledFrom([]score.OnResume{"", score.ResumeContinue, score.ResumeRestart, score.ResumeSkip}).Draw(t, "on resume")
		}
		list = append(list, a)
	}
	return list
}

// TestUnitsAreSafeUnderRandomInputs plays random acts in all lanes with random
// ticks, pauses, cancels, gates and reports. The audit fails on a command that does
// not end exactly once, a unit with two owners, a start in a paused lane or with a
// closed gate, and an entry that ends twice or before its units.
func TestUnitsAreSafeUnderRandomInputs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := &rig{t: t, x: New(testConfig), a: newAudit(testUnits)}
		r.gate = Gate{Moves: schema.ReasonSafetyDisabled}
		pushed := 0
		elapsed := map[string]time.Duration{}
		lanes := []Lane{power, service, story}
		for range rapid.IntRange(1, 120).Draw(rt, "steps") {
			l := rapid.SampledFrom(lanes).Draw(rt, "lane")
			switch rapid.SampledFrom([]string{"tick", "tick", "tick", "tick", "late", "push", "pause", "resume", "resume", "cancel", "gate",
				"report", "report", "revoke", "between"}).Draw(rt, "do") {
			case "tick":
				r.now += time.Duration(rapid.IntRange(0, 60).Draw(rt, "ms")) * time.Millisecond
				r.check(r.x.Tick(r.now, nil))
			case "late":
				r.now += time.Duration(rapid.IntRange(0, 15_000).Draw(rt, "ms")) * time.Millisecond
				r.check(r.x.Tick(r.now, nil))
			case "between":
				r.now += time.Duration(rapid.IntRange(0, 19).Draw(rt, "ms")) * time.Millisecond
			case "push":
				pushed++
				id := fmt.Sprint("entry-", pushed)
				e := Entry{ID: id, Act: &score.Act{ID: id, Actions: drawGroup(rt, id, 0, false)},
					FinishBeforePause: rapid.Bool().Draw(rt, "finish"), Clear: rapid.Bool().Draw(rt, "clear")}
				if outs, refusal := r.x.Push(l, e, nil); refusal == nil {
					r.check(outs)
				} else {
					r.a.entries[id] = EntryCancelled
				}
			case "pause":
				how := rapid.SampledFrom([]Pausing{AtOnce, AfterAct}).Draw(rt, "how")
				r.check(r.x.Pause(l, how, r.now, nil))
			case "resume":
				r.x.Resume(l, r.now)
			case "cancel":
				r.check(r.x.Cancel(l, "", schema.ReasonStopped, nil))
			case "gate":
				g := Gate{}
				if rapid.Bool().Draw(rt, "closed") {
					g.Moves = schema.ReasonNeedsReset
				}
				if rapid.Bool().Draw(rt, "silent") {
					g.Sounds = schema.ReasonNeedsReset
				}
				if rapid.Bool().Draw(rt, "but one lane") {
					g.Mover, g.Speaker = power, power
				}
				r.setGate(g)
			case "report":
				why := rapid.SampledFrom([]schema.Reason{"", "", "", schema.ReasonUnitError}).Draw(rt, "why")
				key := rapid.Uint64Range(1, r.x.key+2).Draw(rt, "key") // any key used so far, and some unused ones
				r.a.report(key, why)
				r.x.Reported(key, why, "", r.now)
			case "revoke":
				u := rapid.SampledFrom(testUnits).Draw(rt, "unit").ID
				r.check(r.x.SetUnitDisabled(u, "it is broken", nil))
				r.check(r.x.SetUnitDisabled(u, "", nil))
			}
			for _, l := range lanes {
				v := r.x.View(l)
				r.a.paused[l] = v.Paused
				if v.Elapsed < elapsed[v.Entry] && v.Entry != "" {
					rt.Fatalf("the elapsed time of %s decreased from %v to %v", v.Entry, elapsed[v.Entry], v.Elapsed)
				}
				elapsed[v.Entry] = v.Elapsed
			}
			if t.Failed() {
				rt.FailNow()
			}
		}
		for _, l := range lanes {
			r.check(r.x.Cancel(l, "", schema.ReasonStopped, nil))
		}
		if len(r.a.running) != 0 || len(r.a.entries) != pushed {
			rt.Fatalf("left over: running %v; %d of %d entries ended", r.a.running, len(r.a.entries), pushed)
		}
		for _, u := range r.x.units {
			if u.owner != nobody || u.commands != 0 {
				rt.Fatalf("%s still belongs to lane %d with %d commands", u.id, u.owner, u.commands)
			}
		}
	})
}

// starts plays an act and returns when each action started and when the act ended,
// without the pauses; pauses maps the number of a tick to a length.
func starts(t *testing.T, actions []score.Action, dt time.Duration,
	pauses map[int]time.Duration) (map[string]time.Duration, time.Duration) {
	r := newRig(t)
	r.push(story, Entry{ID: "entry", Act: &score.Act{ID: "act", Actions: actions}, OnResume: score.ResumeContinue})
	at := map[string]time.Duration{}
	paused := time.Duration(0)
	for i := 0; i < 1_000_000; i++ {
		outs := r.x.Tick(r.now, nil)
		r.check(outs)
		for _, o := range outs {
			if o.Kind == Start && o.From == 0 {
				if _, again := at[o.Action]; !again {
					at[o.Action] = r.now - paused
				}
			}
			if o.Kind == Ended {
				return at, r.now - paused
			}
		}
		if p, ok := pauses[i]; ok {
			r.now += dt / 3
			r.check(r.x.Pause(story, AtOnce, r.now, nil))
			r.a.paused[story] = true
			for range 3 {
				r.now += p / 3
				r.check(r.x.Tick(r.now, nil))
			}
			r.x.Resume(story, r.now)
			r.a.paused[story] = false
			r.now -= dt / 3
			paused += p / 3 * 3
		}
		r.now += dt
	}
	t.Fatal("the act never ends")
	return nil, 0
}

// Every action starts with the tick in which it is due, whatever the tick interval
// and however often the act is paused.
func TestDurationIsIndependentOfTicksAndPauses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		actions := drawGroup(rt, "", 0, true)
		dt := time.Duration(rapid.SampledFrom([]int{2, 7, 20, 33, 100, 250, 700}).Draw(rt, "tick")) * time.Millisecond
		pauses := map[int]time.Duration{}
		for range rapid.IntRange(0, 4).Draw(rt, "pauses") {
			pauses[rapid.IntRange(0, 30).Draw(rt, "after tick")] = time.Duration(rapid.IntRange(0, 5000).Draw(rt, "for")) * time.Millisecond
		}
		exact, end := starts(t, actions, time.Millisecond, nil)
		got, gotEnd := starts(t, actions, dt, pauses)
		if len(got) != len(exact) {
			rt.Fatalf("started %v, want %v", got, exact)
		}
		for id, want := range exact {
			if got[id] < want-time.Millisecond || got[id] >= want+dt {
				rt.Errorf("%s started at %v, is due at %v, ticks are %v", id, got[id], want, dt)
			}
		}
		// An action that started and ended in one tick is stopped with the next.
		if gotEnd < end-2*time.Millisecond || gotEnd >= end+2*dt {
			rt.Errorf("ended at %v, want %v, ticks are %v", gotEnd, end, dt)
		}
		if t.Failed() {
			rt.FailNow()
		}
	})
}
