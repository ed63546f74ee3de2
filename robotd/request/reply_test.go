package request

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// published is the state document of the rig.
type published struct {
	clean, minorOnly, due bool
	seq                   int64
	urgency               effect.Urgency
}

func (p *published) Session() string             { return "s" }
func (p *published) SessionEnded() time.Duration { return 0 }
func (p *published) StateSeq() int64             { return p.seq }
func (p *published) Clean() bool                 { return p.clean }
func (p *published) CleanButMinor() bool         { return p.clean || p.minorOnly }
func (p *published) StateDue(time.Duration) bool { return p.due }
func (p *published) Changed(u effect.Urgency)    { p.urgency = max(p.urgency, u) }

// rig is a robot with a disk that accepts everything at once. Commands are named by their id.
type rig struct {
	t       *testing.T
	s       State
	p       published
	pending bool
	log     []string
	hint    string // of the last alert
}

func newRig(t *testing.T) *rig {
	var out effect.List
	return &rig{t: t, s: Restore(1, nil, &out), p: published{seq: 1}}
}

func key(id string) command.Key { return command.KeyOf("op1", id) }

// do makes a step, and logs the answers, alerts and events that it wants.
func (r *rig) do(part func(Step)) {
	var out effect.List
	step := Step{State: &r.s, Now: clock.Now{Mono: time.Second}, Out: &out, Facts: Facts{Robot: "r1", Pending: r.pending, Report: &r.p}}
	part(step)
	for i := 0; i < out.Len(); i++ {
		switch e := out.At(i).(type) {
		case effect.SaveRequests:
			var keys []command.Key
			for _, put := range e.Put {
				keys = append(keys, put.Key())
			}
			step.Saved(event.RequestsSaved{Keys: keys})
		case effect.RaiseAlert:
			r.log, r.hint = append(r.log, "raise "+e.Source), e.Hint
		case effect.ClearAlert:
			r.log = append(r.log, "clear "+e.Source)
		case effect.Event:
			r.log = append(r.log, "event "+e.Kind)
		}
	}
	for _, a := range r.s.Acks() {
		id := "unnamed"
		if a.Ack.ID != nil {
			id = *a.Ack.ID
		}
		r.log = append(r.log, strings.TrimSpace(fmt.Sprintf("%s %s %s", id, a.Ack.Status, a.Ack.Reason)))
	}
}

// arrives takes a command, which is then begun.
func (r *rig) arrives(id string) {
	r.do(arrives(event.Command{Client: "op1", Group: "auto", Verb: "pause", Payload: []byte(`{"id":"` + id + `"}`)}))
	r.log, r.p.urgency = nil, effect.Clean
}

// replies takes the result of a command.
func (r *rig) replies(id string, v schema.Verdict) {
	r.do(func(t Step) { t.Reply(effect.Reply{To: key(id), Verdict: v}); t.Release() })
}

func (r *rig) release() { r.do(func(t Step) { t.Release() }) }

func (r *rig) expect(what string, want ...string) {
	r.t.Helper()
	if !slices.Equal(r.log, want) {
		r.t.Errorf("%s: %q, want %q", what, r.log, want)
	}
	r.log = nil
}

var (
	succeeded = schema.Verdict{Status: schema.StatusSucceeded}
	unchanged = schema.Verdict{Status: schema.StatusSucceeded, Reason: schema.ReasonUnchanged}
	refusal   = schema.Verdict{Status: schema.StatusRejected, Reason: schema.ReasonBusy}
)

func TestSuccessIsAnsweredWithTheStateThatShowsIt(t *testing.T) {
	r := newRig(t)
	r.arrives("a")
	r.replies("a", succeeded)
	r.expect("the state is not due")
	if r.p.urgency != effect.FlushAnswer {
		t.Errorf("urgency %d: the state is not published because of the answer", r.p.urgency)
	}
	r.pending, r.p.due = true, true
	r.release()
	r.expect("an input of the same event waits")
	r.pending = false
	r.release()
	r.expect("the state is due", "a SUCCEEDED")
	r.arrives("b")
	r.p = published{clean: true, seq: 2}
	r.replies("b", succeeded)
	r.expect("the state shows it already", "b SUCCEEDED")
}

func TestRefusalWaitsForNothing(t *testing.T) {
	r := newRig(t)
	r.arrives("a")
	r.replies("a", refusal)
	r.expect("refused", "a REJECTED busy")
}

func TestUnchangedWaitsOnlyForChangesOfOthers(t *testing.T) {
	r := newRig(t)
	r.arrives("a")
	r.replies("a", unchanged)
	r.expect("nothing to wait for", "a SUCCEEDED unchanged")
	r = newRig(t)
	r.arrives("b")
	r.p.minorOnly = true
	r.replies("b", unchanged)
	r.expect("only requests changed", "b SUCCEEDED unchanged")
	if r.p.urgency >= effect.FlushAnswer {
		t.Error("the state is published because of an answer that does not need it")
	}
}

func TestWhatTheRobotDoesByItselfHasNoAnswer(t *testing.T) {
	r := newRig(t)
	r.do(func(t Step) { t.Reply(effect.Reply{Verdict: succeeded}); t.Release() })
	r.expect("no key")
	if r.p.urgency != effect.Clean {
		t.Error("the state is published because of it")
	}
}

func TestCancelIsAnsweredAfterWhatItCancels(t *testing.T) {
	cancelled := schema.Verdict{Status: schema.StatusCancelled, Reason: schema.ReasonCancelled}
	for _, x := range []struct {
		end  schema.Verdict
		want []string
	}{
		{cancelled, []string{"target CANCELLED cancelled", "c SUCCEEDED"}},
		{succeeded, []string{"target SUCCEEDED", "c REJECTED invalid_transition"}},
	} {
		r := newRig(t)
		r.arrives("target")
		r.arrives("other")
		r.arrives("c")
		r.s.CancelLater(key("c"), key("target"))
		r.p.clean = true
		r.replies("other", refusal)
		r.expect("another command ended", "other REJECTED busy")
		r.replies("target", x.end)
		r.expect("it ended "+string(x.end.Status), x.want...)
		r.replies("target", x.end)
		r.expect("the cancel is answered once")
	}
}

func TestRevokedControlIsSaidInTheFirstAnswerIfThatWaits(t *testing.T) {
	revoke := func(t Step) { t.Revoke(effect.Revoke{Key: key("a"), Detail: "taken over"}); t.Release() }
	r := newRig(t)
	r.arrives("a")
	r.replies("a", succeeded)
	r.do(revoke)
	r.expect("before its answer", "a CANCELLED not_in_control")

	r = newRig(t)
	r.arrives("a")
	r.p.clean = true
	r.replies("a", succeeded)
	r.expect("it was granted", "a SUCCEEDED")
	r.do(revoke)
	r.expect("after its answer", "a CANCELLED not_in_control")
}

func TestEmptyMessageRemovesARetainedCommandOfThisSession(t *testing.T) {
	cmd := func(verb, payload string, retained bool) event.Command {
		return event.Command{Client: "op1", Group: "auto", Verb: verb, Payload: []byte(payload), Retained: retained}
	}
	r := newRig(t)
	r.s.NoteRetained(cmd("start", "", true))
	r.s.NoteRetained(cmd("stop", "x", false))
	for _, x := range []struct {
		ev   event.Command
		want bool
	}{
		{cmd("start", "", false), true},
		{cmd("start", "", true), false},       // it is retained itself
		{cmd("start", "{}", false), false},    // it is a command
		{cmd("stop", "", false), false},       // nothing was retained there
		{event.Command{Client: "op2"}, false}, // another topic
	} {
		if got := r.s.IsRemoval(x.ev); got != x.want {
			t.Errorf("%+v: removal %v", x.ev, got)
		}
	}
	removed := func(t Step) { t.Removed(cmd("start", "", false)) }
	r.do(removed)
	r.expect("removed", "clear cmd/op1/auto/start", "event retained_command_removed")
	r.do(removed)
	r.expect("an empty message is a command again")
	r.s.NoteRetained(cmd("start", "", true))
	r.s.Disconnected()
	r.do(removed)
	r.expect("another session")
	for i := range 2 * retainedMost {
		r.s.NoteRetained(cmd(fmt.Sprint("v", i), "", true))
	}
	if len(r.s.retained) != retainedMost {
		t.Errorf("%d topics are remembered, want at most %d", len(r.s.retained), retainedMost)
	}
}

func TestAlertsWaitForTheSafetyCore(t *testing.T) {
	r := newRig(t)
	r.do(arrives(event.Command{Client: "op1", Group: "auto", Verb: "pause", Payload: []byte(`{}`), Retained: true}))
	if slices.ContainsFunc(r.log, func(l string) bool { return strings.HasPrefix(l, "raise") }) {
		t.Errorf("raised before the safety core has decided: %q", r.log)
	}
	r.log = nil
	r.do(Step.RaiseAlerts)
	r.expect("after it", "raise cmd/op1/auto/pause")
	if !strings.Contains(r.hint, " troupe/v1/robots/r1/cmd/op1/auto/pause ") {
		t.Errorf("the hint does not say where to remove it: %s", r.hint)
	}
	r.do(Step.RaiseAlerts)
	r.expect("once")
	r.s.NoteRetainedStop("wall1")
	r.do(Step.RaiseAlerts)
	if r.expect("a live stop", "raise fleet/cmd/wall1/stop"); !strings.Contains(r.hint, " troupe/v1/fleet/cmd/wall1/stop ") {
		t.Errorf("the hint does not say where to remove it: %s", r.hint)
	}
}
