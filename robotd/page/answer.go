package page

import (
	"fmt"
	"time"

	"troupe/schema"
)

// answer is what the page shows of the newest command.
type answer struct {
	At     schema.Time
	Action string        // a word of the page's texts
	Verb   string        // as sent; empty for what is no verb
	Status schema.Status // final or not
	Reason schema.Reason
	Detail string
	Silent bool // the robot did not answer

	situation string // of the robot, when the page showed the answer first; empty before
}

// shownLeast is how long an answer is shown at least, even if the robot is other than it was.
const shownLeast = 5 * time.Second

// applies reports whether an answer is still about the robot as it is. A refusal because of a
// stop that was released meanwhile would mislead, and so would "Let it move: done" after somebody else
// has stopped the robot.
func (a *answer) applies(now time.Time, situation string) bool {
	if a.situation == "" && !a.Silent {
		a.situation = situation
	}
	return a.situation == situation || now.Sub(a.At.Time()) < shownLeast
}

// situation is what answers depend on: whether the robot may move and what prevents that, the mode,
// who has control, and which units are out of order.
func (v *View) situation() string {
	if v.Waiting != nil {
		return fmt.Sprint("waiting ", len(v.Waiting.Latches))
	}
	all := []any{v.State.Safety.State, v.State.Safety.EStopInput, v.State.Mode.Active, v.State.Mode.Phase}
	for _, l := range v.State.Safety.Latches {
		all = append(all, l.ID)
	}
	if v.State.Control != nil {
		all = append(all, v.State.Control.Holder)
	}
	for _, u := range v.State.Units {
		if u.State == "error" {
			all = append(all, u.ID, u.Detail)
		}
	}
	for _, p := range v.State.Auto.PauseHolders {
		all = append(all, p.Token, p.NeedsContinue)
	}
	return fmt.Sprintln(all...)
}

// Good reports whether nothing was refused and nothing failed.
func (a answer) Good() bool {
	return !a.Silent && (a.Status == schema.StatusSucceeded || !a.Status.Final())
}
