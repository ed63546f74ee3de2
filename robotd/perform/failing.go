package perform

import (
	"cmp"

	"troupe/robotd/auto"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/schema"
)

// FailingAlert is raised while every act of the story fails, round after round.
const FailingAlert = "story_failing"

// storyActFailed reports to ato that an act of the story failed, and notes why.
func (t Step) storyActFailed(entry string, why schema.FailedAct) {
	t.failed = why
	t.toAuto.Add(autoInput{Input: auto.Input{What: auto.ActFailed, Reason: why.Reason}, entry: entry})
}

// reportFailing raises the alert with the last error of a round in which every act failed. It
// clears the alert when an act succeeds, when a person enables the robot or continues the
// story, when the story is stopped or replaced, and when the robot is in E_STOP: nothing fails
// then.
func (t Step) reportFailing(over auto.Round) {
	switch {
	case t.auto.FailedRounds == 0 || safety.NeedsReset(t.Safety): // in E_STOP, its cause says what is wrong
		if t.failing {
			t.Out.Clear(FailingAlert, "story")
		}
		t.failing = false
	case over.Number > 0:
		why := cmp.Or(t.failed.Act, "an act") + ": " + cmp.Or(t.failed.Detail, t.failed.Reason.Describe().Text)
		t.Out.Do(effect.RaiseAlert{Kind: FailingAlert, Level: schema.AlertError, Source: "story",
			Detail: "every act of the story " + t.auto.Story.ID + " fails; the last error is of " + why, Hint: failingHelp(t.failed.Reason),
			Params: schema.AlertParams{Story: t.auto.Story.ID, Act: t.failed.Act, Reason: t.failed.Reason}})
		t.failing = true
	}
}

// failingHelp is what to do about a story of which every act fails for a reason.
func failingHelp(why schema.Reason) string {
	if why == schema.ReasonDeviceDisabled { // the story is right, and the unit had an alert of its own
		return "repair that unit; this ends with the next act that succeeds, or when somebody continues the story"
	}
	return "repair what the error names, or assign a story that this body can perform"
}
