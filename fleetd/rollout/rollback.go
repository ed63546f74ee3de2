package rollout

import (
	"fmt"
	"strings"
	"time"

	"troupe/fleetd/content"
)

// restoreBatch bounds the robots that get back what they had in one transaction. A rollback has no other limit.
const restoreBatch = 500

// cancel ends the waves of an aborted rollout, and cancels the robots that would be offered the content: they are not any more.
func (r *Run) cancel(now time.Time) {
	r.endWaves(now)
	for i := range r.robots {
		switch b := &r.robots[i]; b.State {
		case Planned, WaitingOffline:
			r.moveRobot(i, OnCancel, heldBack(b), now)
		case Deferred:
			if group, why := b.Group, b.Why; b.Rev == 0 {
				r.moveRobot(i, OnCancel, "", now)
			} else if r.moveRobot(i, OnFail, why, now) { // it failed, and is not tried again
				b.Group = group
			}
		}
	}
}

// endAborted ends an aborted rollout: what was offered stays, and is watched until it is decided, unless nobody knows how long that
// takes.
func (s *step) endAborted() {
	s.cancel(s.now)
	left := 0
	for i := range s.robots {
		switch b := &s.robots[i]; b.State {
		case Offered, Active:
			fact, _ := s.facts.robot(b.ID)
			endless := b.State == Offered && clockOf(b.Phase) == clockStopped || b.State == Active && fact.SignedOff
			if s.blind || !endless {
				left++
			} else {
				s.moveRobot(i, OnCancel, heldBack(b), s.now)
			}
		}
	}
	if left == 0 {
		s.Rollout.EndedAt, s.row = s.now, true
	}
}

// heldBack says what becomes of a robot that is cancelled; empty = nothing, as it was offered nothing.
func heldBack(b *Robot) string {
	if b.Rev == 0 {
		return ""
	}
	return "the rollout ended before it was decided; its desired document stays"
}

// endWaves ends the waves of a rollout that was aborted or is rolled back.
func (r *Run) endWaves(now time.Time) {
	for i := range r.Rollout.Waves {
		w := &r.Rollout.Waves[i]
		if !r.moveWave(w, OnWaveNotBegun, "", now) {
			r.moveWave(w, OnWaveEnd, "", now)
		}
	}
}

// restore gives robots back what they had, failed ones first, and ends the rollback when it is known of each whether it
// has it.
func (s *step) restore() {
	s.endWaves(s.now)
	var failed, others []int
	restoring := 0
	for i := range s.robots {
		b := &s.robots[i]
		_, restorable := RobotTable.Next(b.State, OnRestore)
		switch {
		case b.State == Restoring:
			restoring++
		case b.Rev == 0:
			s.moveRobot(i, OnCancel, "", s.now)
		case !restorable, b.State == NotRestored && b.RetryAt.IsZero():
		case b.State.HasFailed() || b.State == NotRestored:
			failed = append(failed, i)
		default:
			others = append(others, i)
		}
	}
	digests := map[string]int{} // index in s.back
	given := 0
	for _, i := range append(failed, others...) {
		if given == restoreBatch {
			break // the next step goes on
		}
		if s.restoreOne(i, digests) {
			given++
		}
	}
	if restoring+given == 0 {
		s.endRollback()
	}
}

// restoreOne adds a robot to those that get back what they had.
func (s *step) restoreOne(i int, digests map[string]int) bool {
	b := &s.robots[i]
	fact, there := s.facts.robot(b.ID)
	switch {
	case !there:
		s.moveRobot(i, OnDecommission, "", s.now)
		return false
	case fact.DesiredRev > b.Rev && !fact.Same:
		s.moveRobot(i, OnSupersede, "", s.now)
		return false
	case fact.Newer != "":
		s.moveRobot(i, OnSupersede, "rollout "+fact.Newer+" gives it something newer", s.now)
		return false
	case b.Had == nil:
		s.notBack(i, "what it had before is not known")
		return false
	}
	had := s.had(b)
	digest, err := had.Digest()
	if err != nil {
		s.notBack(i, err.Error())
		return false
	}
	at, ok := digests[digest]
	if !ok {
		at = len(s.back)
		digests[digest], s.back = at, append(s.back, Restore{Content: had})
	}
	s.back[at].Robots = append(s.back[at].Robots, b.ID)
	return true
}

// had is what a robot is given back. A story takes over when the one of the rollout did: if it were the robot's next
// start, as the earlier assignment may have said, the rollout's story would play until then.
func (s *step) had(b *Robot) content.Content {
	c := *b.Had
	if now := s.Rollout.Content.Story; now != nil && c.Story != nil && c.Story.ID != "" {
		story := *c.Story
		story.Apply = now.Apply
		c.Story = &story
	}
	return c
}

func (s *step) notBack(i int, why string) {
	if s.moveRobot(i, OnNotBack, why, s.now) {
		s.robots[i].RetryAt = time.Time{}
	}
}

// namesInWhy bounds the robots that a rollback names in its reason; the rows have all.
const namesInWhy = 10

func (s *step) endRollback() {
	on, why := OnRestored, ""
	var names []string
	for i := range s.robots {
		if b := &s.robots[i]; b.State == NotRestored {
			names = append(names, b.ID)
		}
	}
	if n := len(names); n > 0 {
		if n > namesInWhy {
			names = append(names[:namesInWhy], "...")
		}
		on, why = OnIncomplete, fmt.Sprintf("%s did not get back what they had: %s", robotsText(n), strings.Join(names, ", "))
	}
	if s.move(on, why, s.now) {
		s.note(on, s.Rollout.Why, "")
	}
}
