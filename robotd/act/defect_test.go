package act

import (
	"testing"
	"time"

	"troupe/schema"
	"troupe/schema/score"
)

// Each test prevents a defect that an earlier executor of action groups had.

func TestParallelChildrenDoNotSpeedUpGroupClock(t *testing.T) {
	r := newRig(t)
	r.act(led("a", 0, 50), face("b", 0, 50), wait(0, 50))
	r.ticks(10*time.Millisecond, 10*time.Millisecond) // begins here
	r.ticks(50*time.Millisecond, 10*time.Millisecond)
	r.want(Stop, "", 0)
	r.ticks(60*time.Millisecond, 10*time.Millisecond)
	r.want(Stop, "", 2)
	r.wantOutcome(EntryCompleted, "")
}

func TestChildGroupDoesNotDelaySiblings(t *testing.T) {
	r := newRig(t)
	r.act(group("g", 0, score.MethodMultiple, led("in", 0, 40)), face("sibling", 20, 30))
	r.ticks(10*time.Millisecond, 10*time.Millisecond)
	r.ticks(20*time.Millisecond, 10*time.Millisecond)
	r.want(Start, "sibling", 0)
	r.ticks(30*time.Millisecond, 10*time.Millisecond)
	r.want(Start, "sibling", 1)
}

func TestExclusiveChildFreezesParentOnlyWhileRunning(t *testing.T) {
	r := newRig(t)
	r.act(group("outer", 0, score.MethodMultiple,
		group("g", 0, score.MethodExclusive, led("in", 0, 100)), face("sibling", 20, 30)), sound("beside", 50, 60))
	r.ticks(10*time.Millisecond, 10*time.Millisecond)
	r.ticks(60*time.Millisecond, 10*time.Millisecond)
	r.want(Start, "beside", 1) // the clock of the outer group is not frozen
	r.want(Start, "sibling", 0)
	r.ticks(120*time.Millisecond, 10*time.Millisecond)
	r.want(Start, "sibling", 0)
	r.ticks(130*time.Millisecond, 10*time.Millisecond)
	r.want(Start, "sibling", 1)
}

func TestDurationShorterThanTickIsExecutedOnce(t *testing.T) {
	r := newRig(t)
	r.act(led("short", 3, 6), led("none", 30, 30))
	r.ticks(20*time.Millisecond, tick)
	r.ticks(40*time.Millisecond, tick)
	r.want(Start, "short", 1)
	r.want(Stop, "short", 0) // it is stopped with the next tick
	r.ticks(100*time.Millisecond, tick)
	for _, id := range []string{"short", "none"} {
		r.want(Start, id, 1)
		r.want(Stop, id, 1)
	}
	r.wantOutcome(EntryCompleted, "")
}

func TestIDsAreReturnedUnchanged(t *testing.T) {
	r := newRig(t)
	const id = "not a uuid / 00000000-0000-1000-0000-000000000000"
	r.push(story, Entry{ID: id, Act: &score.Act{ID: "act", Actions: []score.Action{led("Ä b", 0, 20), led("", 40, 60)}}})
	r.ticks(200*time.Millisecond, tick)
	for _, o := range r.outs {
		if o.Entry != id || o.Act != "act" {
			t.Errorf("got entry %q of act %q", o.Entry, o.Act)
		}
	}
	r.want(Start, "Ä b", 1)
	r.want(Start, "actions/1", 1)
}

func TestClearCancelsEntriesAndStopsUnits(t *testing.T) {
	r := newRig(t)
	r.act(drive("go", 0, 60_000))
	r.push(story, Entry{ID: "waiting", Act: &score.Act{ID: "act2", Actions: []score.Action{led("l", 0, 20)}}})
	r.ticks(40*time.Millisecond, tick)
	r.push(story, Entry{ID: "new", Clear: true, Act: &score.Act{ID: "act3", Actions: []score.Action{led("l", 0, 20)}}})
	r.want(Stop, "go", 1)
	if r.a.entries["entry"] != EntryCancelled || r.a.entries["waiting"] != EntryCancelled {
		t.Errorf("got %v", r.a.entries)
	}
	for _, o := range r.pick(Ended, "") {
		if o.Reason != schema.ReasonSuperseded {
			t.Errorf("%s: reason %s", o.Entry, o.Reason)
		}
	}
	r.ticks(100*time.Millisecond, tick)
	if r.a.entries["new"] != EntryCompleted {
		t.Errorf("the new entry: %v", r.a.entries)
	}
}

func TestRefusedEntryClearsNothing(t *testing.T) {
	r := newRig(t)
	r.act(drive("go", 0, 60_000))
	r.ticks(40*time.Millisecond, tick)
	outs, refusal := r.x.Push(story,
		Entry{ID: "new", Clear: true, Act: &score.Act{Actions: []score.Action{led("l", 0, 20), {Do: score.Unknown("juggle")}}}}, nil)
	if refusal == nil || refusal.Pointer != "/actions/1/type" || len(outs) != 0 {
		t.Fatalf("got %+v, %+v", refusal, outs)
	}
	if v := r.x.View(story); v.Entry != "entry" || len(v.Executing) != 1 {
		t.Errorf("the lane was changed: %+v", v)
	}
}

func TestMotionEndsAtItsEndTime(t *testing.T) {
	r := newRig(t)
	turn := head("turn", 0, -1)
	turn.EndMS = ms(100)
	r.act(turn)
	r.ticks(20*time.Millisecond, tick)
	r.ticks(100*time.Millisecond, tick)
	r.want(Stop, "turn", 0)
	r.ticks(120*time.Millisecond, tick)
	r.want(Stop, "turn", 1)
}

func TestLongDriveDoesNotBlockOtherUnits(t *testing.T) {
	r := newRig(t)
	r.act(drive("go", 0, 60_000), led("light", 40, 80))
	r.push(service, Entry{ID: "other", Act: &score.Act{ID: "act2", Actions: []score.Action{say("hello", 0, 5000)}}})
	r.ticks(200*time.Millisecond, tick)
	r.want(Start, "go", 1)
	r.want(Start, "light", 1)
	r.want(Stop, "light", 1)
	r.want(Start, "hello", 1)
	r.check(r.x.Cancel(story, "", schema.ReasonStopped, nil))
	r.want(Stop, "go", 1)
}

func TestExclusiveActionDueWithAnotherFailsNoAct(t *testing.T) {
	for name, actions := range map[string][]score.Action{
		"exclusive first": {exclusive(say("x", 20, 5000)), led("other", 20, 60)},
		"exclusive last":  {led("other", 20, 60), exclusive(say("x", 20, 5000))},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.act(actions...)
			for range 20 {
				r.ticks(r.now+tick, tick)
				if len(r.a.running) > 1 {
					t.Errorf("at %v both run", r.now)
				}
				if r.a.running[r.a.last["x"]].Key != 0 && r.now > 100*time.Millisecond {
					r.done("x")
				}
			}
			r.want(Start, "other", 1)
			r.want(Start, "x", 1)
			r.wantOutcome(EntryCompleted, "")
		})
	}
}

func TestSlowActionDefersNextOfItsClass(t *testing.T) {
	r := newRig(t)
	r.act(say("slow", 0, 5000), say("next", 100, 5000), led("beside", 120, 200))
	r.ticks(400*time.Millisecond, tick)
	r.want(Start, "next", 0)
	r.want(Start, "beside", 1)
	if w := r.pick(Warned, "next"); len(w) != 1 || w[0].Warning != WarnDeferred {
		t.Errorf("warned %+v", w)
	}
	r.done("slow")
	r.ticks(440*time.Millisecond, tick)
	r.want(Start, "next", 1)
	r.done("next")
	r.ticks(480*time.Millisecond, tick)
	r.wantOutcome(EntryCompleted, "")
}

func TestBackToBackDurationsDoNotOverlap(t *testing.T) {
	r := newRig(t)
	r.act(led("a", 0, 50), led("b", 50, 90))
	r.ticks(300*time.Millisecond, 7*time.Millisecond)
	r.want(Warned, "", 0)
	r.wantOutcome(EntryCompleted, "")
}

func TestUnknownTypeIsRefusedWithPointer(t *testing.T) {
	r := newRig(t)
	_, refusal := r.x.Push(story,
		Entry{Act: &score.Act{Actions: []score.Action{group("g", 0, "", score.Action{Do: score.Unknown("stabilization")})}}}, nil)
	if refusal == nil || refusal.Reason != schema.ReasonBadRequest || refusal.Pointer != "/actions/0/actions/0/type" {
		t.Errorf("got %+v", refusal)
	}
}

func TestUnitErrorFailsActAndNamesAction(t *testing.T) {
	for name, action := range map[string]score.Action{
		"until done": head("turn", 0, 5000), "fixed": {ID: "turn", EndMS: ms(5000), Do: score.Head{}}, "at once": head("turn", 0, -1),
		"face": face("turn", 0, -1),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.act(action, led("light", 0, 3000))
			r.ticks(40*time.Millisecond, tick)
			r.report("turn", schema.ReasonUnitError)
			r.ticks(80*time.Millisecond, tick)
			r.wantOutcome(EntryFailed, schema.ReasonUnitError)
			if e := r.pick(Ended, "turn"); len(e) != 1 || e[0].Act != "act" {
				t.Errorf("ended %+v", e)
			}
			r.want(Stop, "light", 1)
		})
	}
}

func TestDeferredExclusiveGroupWarnsThenRuns(t *testing.T) {
	r := newRig(t)
	r.act(say("slow", 0, 60_000), group("g", 100, score.MethodExclusive, led("in", 0, 40)), face("later", 200, 220))
	r.ticks(2*time.Second, tick)
	r.want(Start, "in", 0)
	r.want(Start, "later", 1) // the clock goes on for others
	r.want(Warned, "g", 0)
	r.ticks(2200*time.Millisecond, tick)
	r.want(Warned, "g", 1)
	r.done("slow")
	r.ticks(2400*time.Millisecond, tick)
	r.want(Start, "in", 1)
	r.wantOutcome(EntryCompleted, "")
}

func TestEmptyGroupCompletesImmediately(t *testing.T) {
	r := newRig(t)
	r.act(group("g", 0, score.MethodExclusive), group("h", 0, score.MethodMultiple, group("i", 0, "")), led("after", 0, 20))
	r.ticks(20*time.Millisecond, tick)
	r.want(Start, "after", 1)
}

func TestActionsStartByTimeNotByOrder(t *testing.T) {
	r := newRig(t)
	r.act(led("second", 100, 120), face("first", 40, 60))
	r.ticks(80*time.Millisecond, tick)
	r.want(Start, "first", 1)
	r.want(Start, "second", 0)
}

func TestWaitDoesNotStopClock(t *testing.T) {
	r := newRig(t)
	r.act(wait(0, 500))
	r.ticks(20*time.Millisecond, tick)
	r.ticks(500*time.Millisecond, tick)
	r.want(Ended, "", 0)
	r.ticks(520*time.Millisecond, tick)
	r.wantOutcome(EntryCompleted, "")
}

func TestReportTakesEffectAtItsInstant(t *testing.T) {
	r := newRig(t)
	r.act(exclusive(say("x", 0, 5000)), wait(1, 996))
	r.ticks(100*time.Millisecond, 100*time.Millisecond)
	r.now = 110 * time.Millisecond
	r.done("x")
	r.now = 100 * time.Millisecond
	r.ticks(1100*time.Millisecond, 100*time.Millisecond)
	r.want(Ended, "", 0) // 10 ms of speech, 1 ms, and the wait: due at 1106 ms
	r.ticks(1200*time.Millisecond, 100*time.Millisecond)
	r.wantOutcome(EntryCompleted, "")
}

func TestReportBeforeStopOfShortActionMakesStopUnnecessary(t *testing.T) {
	r := newRig(t)
	r.act(wait(0, 200), sound("short", 23, 26))
	r.ticks(20*time.Millisecond, tick) // begins
	r.ticks(60*time.Millisecond, tick)
	r.done("short")
	r.ticks(400*time.Millisecond, tick)
	r.want(Stop, "short", 0)
	r.wantOutcome(EntryCompleted, "")
}

func TestDeferredActionsStartInOrderOfTime(t *testing.T) {
	r := newRig(t)
	r.act(say("third", 200, 5000), say("second", 100, 5000), say("first", 0, 5000))
	r.ticks(500*time.Millisecond, tick)
	r.done("first")
	r.ticks(540*time.Millisecond, tick)
	r.want(Start, "second", 1)
	r.want(Start, "third", 0)
}

func TestLaneOwnsUnitUntilItsLastCommandEnds(t *testing.T) {
	r := newRig(t)
	r.push(service, Entry{ID: "noise", Act: &score.Act{ID: "noise", Actions: []score.Action{sound("long", 0, 1000), sound("brief", 0, 100)}}})
	r.act(say("mine", 0, 5000))
	r.ticks(500*time.Millisecond, tick)
	r.want(Stop, "brief", 1)
	r.want(Start, "mine", 0)
	if got := r.x.Owner("speaker"); got != service {
		t.Errorf("the speaker is owned by %q", got)
	}
	r.ticks(1100*time.Millisecond, tick)
	r.want(Start, "mine", 1)
}
