package rollout

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/presence"
	"troupe/schema"
	"troupe/schema/golden"
)

// A situation is what a step sees of one robot, and what the assignment does, if there is one.
type situation struct {
	name  string
	state State
	facts func(b Robot, f *RobotFacts)
	gone  bool
	given Given
}

func reports(r Report) func(b Robot, f *RobotFacts) {
	return func(b Robot, f *RobotFacts) {
		r.Rev = b.Rev
		f.Report = r
	}
}

var situations = []situation{
	{name: "nothing new"},
	{name: "left the fleet", gone: true},
	{name: "something newer is assigned", facts: func(b Robot, f *RobotFacts) { f.DesiredRev, f.Same = b.Rev+1, false }},
	{name: "a newer rollout has it", facts: func(_ Robot, f *RobotFacts) { f.Newer = "ro-2" }},
	{name: "pinned", facts: func(_ Robot, f *RobotFacts) { f.Pinned = true }},
	{name: "window closed", facts: func(_ Robot, f *RobotFacts) { f.InWindow = false }},
	{name: "offline", facts: func(_ Robot, f *RobotFacts) { f.Online = false }},
	{name: "offline for 31 days", facts: func(_ Robot, f *RobotFacts) { f.Online, f.SeenAt = false, start.Add(-31*24*time.Hour) }},
	{name: "signed off for 31 days", facts: func(_ Robot, f *RobotFacts) {
		f.Online, f.SignedOff, f.SeenAt = false, true, start.Add(-31*24*time.Hour)
	}},
	{name: "no heartbeat", facts: func(_ Robot, f *RobotFacts) { f.SeenAt = start.Add(-time.Minute) }},
	{name: "reports fetching", facts: reports(Report{Phase: schema.DeployFetching})},
	{name: "reports active", facts: reports(Report{Phase: schema.DeployActive, Active: true})},
	{name: "reports active, a soak later", facts: reports(Report{Phase: schema.DeployActive, Active: true})},
	{name: "online for a day"},
	{name: "no heartbeat while it activates", facts: func(b Robot, f *RobotFacts) {
		f.SeenAt, f.Report = start.Add(-time.Minute), Report{Rev: b.Rev, Phase: schema.DeployActivating}
	}},
	{name: "reports waiting", facts: reports(Report{Phase: schema.DeployWaiting})},
	{name: "reports rejected", facts: reports(Report{Phase: schema.DeployRejected, Reason: schema.ReasonStoryInvalid})},
	{name: "reports failed", facts: reports(Report{Phase: schema.DeployFailed, Reason: schema.ReasonNoSpace})},
	{name: "reports failed, for ever", facts: reports(Report{Phase: schema.DeployFailed, Retry: schema.RetryNever})},
	{name: "reports rolled back", facts: reports(Report{Phase: schema.DeployRolledBack})},
	{name: "the assignment changes nothing", given: Given{Unchanged: true}},
	{name: "the assignment is refused", given: Given{Refused: "there is no such story", Reason: schema.ReasonUnknownID}},
	{name: "skipped offline", facts: func(_ Robot, f *RobotFacts) { f.Online = false }},
	{name: "failed offline", facts: func(_ Robot, f *RobotFacts) { f.Online = false }},
	{name: "aborted", state: Aborted},
	{name: "aborted, signed off", state: Aborted, facts: func(_ Robot, f *RobotFacts) { f.Online, f.SignedOff = false, true }},
	{name: "aborted, waiting", state: Aborted, facts: reports(Report{Phase: schema.DeployWaiting})},
	{name: "rolled back", state: RollingBack},
	{name: "rolled back, left the fleet", state: RollingBack, gone: true},
	{name: "rolled back, something newer", state: RollingBack, facts: func(b Robot, f *RobotFacts) { f.DesiredRev, f.Same = b.Rev+1, false }},
	{name: "rolled back, refused", state: RollingBack, given: Given{Refused: "its earlier story was deleted", Reason: schema.ReasonUnknownID}},
	{name: "rolled back, reports active", state: RollingBack, facts: reports(Report{Phase: schema.DeployActive, Active: true})},
	{name: "rolled back, reports rejected", state: RollingBack, facts: reports(Report{Phase: schema.DeployRejected})},
	{name: "rolled back, nothing known", state: RollingBack},
	{name: "retried by a person", state: Paused},
}

// into is what becomes of a robot in a situation, and whether its row changes its state, also to the same one.
func (at situation) into(state RobotState, offered bool) (to RobotState, moved bool) {
	p, found := NewPlan(Ask{Content: story(2), Robots: []Candidate{{Refused: refusedIf(state == LeftOut)}}, Now: start, Spec: Spec{
		InWindows: at.name == "window closed", Waves: []WaveSpec{{Percent: 100}},
		Offline: map[string]OfflinePolicy{"skipped offline": OfflineSkip, "failed offline": OfflineFail}[at.name],
	}})
	if len(found) > 0 {
		panic(found)
	}
	o, rows := p.Rollout(New{ID: "ro-1", At: start, Start: true})
	b := rows[0]
	had := story(1)
	if state != LeftOut { // which the plan decides
		b.State = state
	}
	if offered {
		b.Rev, b.Had, b.Tries, b.OfferedAt = 2, &had, 1, start.Add(-time.Minute)
	}
	if state == Active || state == Confirmed {
		b.ActiveAt = start.Add(-time.Minute)
	}
	switch at.name {
	case "reports active, a soak later":
		b.ActiveAt = start.Add(-time.Hour)
	case "online for a day":
		b.Spent, b.SpentAt = 24*time.Hour, start
	case "no heartbeat while it activates":
		b.Phase = schema.DeployActivating
	}
	if state == NotRestored {
		b.RetryAt = start
	}
	if at.name == "rolled back, nothing known" {
		b.Had = nil
	}
	if b.ChangedAt = start.Add(-time.Minute); strings.Contains(at.name, "31 days") {
		b.ChangedAt = start.Add(-31 * 24 * time.Hour)
	}
	if at.name == "aborted, waiting" {
		b.Phase = schema.DeployWaiting
	}
	o.Waves[0].State, o.Waves[0].Counts = WaveRunning, map[RobotState]int{b.State: 1}
	if at.state != "" {
		o.State = at.state
	}
	run := NewRun(o, []Robot{b})
	if at.name == "retried by a person" {
		Decide(run, Decision{On: OnRetry, By: "bob"}, start)
		return run.robots[0].State, run.robots[0].ChangedAt.Equal(start)
	}
	f := RobotFacts{Online: true, SeenAt: start, Idle: true, InWindow: true, DesiredRev: b.Rev, Same: true}
	if at.facts != nil {
		at.facts(b, &f)
	}
	c := Step(run, start, Facts{
		Fleetd: presence.Fleetd{Connected: true, Since: start.Add(-time.Hour)}, Robot: func(string) (RobotFacts, bool) { return f, !at.gone },
	})
	given := at.given
	if given.Rev = b.Rev; !given.Unchanged && given.Refused == "" {
		given.Rev++
	}
	Assigned(run, c, map[string]Given{b.ID: given}, start)
	return run.robots[0].State, run.robots[0].ChangedAt.Equal(start)
}

func refusedIf(refused bool) schema.Reason {
	if refused {
		return schema.ReasonUnsupportedVersion
	}
	return ""
}

// matrix is what becomes of a robot of each state in each situation.
func matrix() string {
	var out strings.Builder
	for _, state := range RobotStates {
		neverOffered := state == Planned || state == Unchanged || state == LeftOut || state == Pinned
		for _, offered := range []bool{false, true} {
			both := state == Deferred || state == WaitingOffline || state == Cancelled || state == ExpiredOffline
			if !both && offered == neverOffered {
				continue
			}
			name := string(state)
			if both && offered {
				name += ", offered"
			}
			fmt.Fprintf(&out, "%s\n", name)
			for _, at := range situations {
				if to, moved := at.into(state, offered); moved || to != state {
					fmt.Fprintf(&out, "  %s: %s\n", at.name, to)
				}
			}
		}
	}
	return out.String()
}

func TestEachStateOfARobotInEachSituation(t *testing.T) {
	golden.Compare(t, "testdata/robots.txt", matrix())
}

// A robot at rest sends a heartbeat every 10 s, so that it is silent later.
func TestRobotAtRestIsSilentLater(t *testing.T) {
	for _, c := range []struct {
		pause, age time.Duration
		silent     bool
	}{
		{0, 5 * time.Second, false}, {0, 7 * time.Second, true},
		{8 * time.Second, 13 * time.Second, false}, {8 * time.Second, 15 * time.Second, true},
	} {
		s := &step{Run: &Run{}, now: start, facts: Facts{Fleetd: presence.Fleetd{Connected: true, Since: start.Add(-time.Hour)}}}
		b := &Robot{State: Active, ChangedAt: start.Add(-time.Hour)}
		if got := s.awaitsSilence(b, RobotFacts{Online: true, SeenAt: start.Add(-c.age), Pause: c.pause}); got != c.silent {
			t.Errorf("%v after a heartbeat whose next one comes %v later than usual: silent %v", c.age, c.pause, got)
		}
	}
}
