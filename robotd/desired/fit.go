package desired

import (
	"fmt"
	"slices"

	"troupe/robotd/delivery"
	"troupe/schema"
	"troupe/schema/score"
	"troupe/schema/sign"
)

// judge decides whether this robot can perform a story.
func (s *State) judge(read func([]byte) (*score.PublishedStory, []schema.Problem)) delivery.Judge[score.PublishedStory] {
	return delivery.Judge[score.PublishedStory]{
		Read: read, Fit: s.fit,
		Identity: func(b *score.PublishedStory) (string, int64) { return b.Story.ID, b.Rev },
		Files:    func(b *score.PublishedStory) []score.Asset { return b.Assets },
	}
}

// readStory decodes and validates the blob of a story.
func readStory(data []byte) (*score.PublishedStory, []schema.Problem) {
	b, problems := score.ParsePublishedStory(data)
	if len(schema.Errors(problems)) == 0 {
		problems = append(problems, score.ValidatePublishedStory(b)...)
	}
	if len(schema.Errors(problems)) == 0 {
		var unexpanded []schema.Problem
		b, unexpanded = b.Expand() // what is performed has no acts within acts
		problems = append(problems, unexpanded...)
	}
	return &b, problems
}

// fit returns the part of a story that this robot performs. Acts that do not exist are left
// out. A story is refused if the body lacks something that it needs, or if the executor
// would refuse one of its acts.
func (s *State) fit(b *score.PublishedStory) delivery.Fit[score.PublishedStory] {
	taught, _ := s.robot.Taught()
	e, problems := score.FitStory(*b, s.robot.Capabilities(), taught)
	own := b.WithActs(taught)
	own.Story.Acts = e.Steps
	f := delivery.Fit[score.PublishedStory]{Content: &own, Pruned: e.Pruned}
	for _, step := range e.Steps {
		f.Names = append(f.Names, step.Act)
	}
	if len(e.Steps) == 0 {
		f.Reason, f.Detail = schema.ReasonStoryEmpty, fmt.Sprintf("none of its acts can be found here: %v", e.Pruned)
		return f
	}
	f.Reason, f.Pointer, f.Detail = s.refuse(e, problems)
	return f
}

// refuse says why this robot cannot perform a story or an activity: its body lacks something,
// or the executor refuses an act. The reason is empty if it can.
func (s *State) refuse(e score.Effective, problems []schema.Problem) (_ schema.Reason, pointer, detail string) {
	if errs := schema.Errors(problems); len(errs) > 0 {
		return schema.ReasonStoryInvalid, errs[0].Pointer, errs[0].String()
	}
	for i := range e.Acts {
		if no := s.robot.Check(&e.Acts[i]); no != nil {
			return schema.ReasonStoryInvalid, "/acts/" + e.Acts[i].ID, "the self-check of " + e.Acts[i].ID + " failed: " + no.Detail
		}
	}
	return "", "", ""
}

// fitted is the last set of activities that was fitted to the body.
type fitted struct {
	from, to *score.Activities
	refused  []schema.RefusedPart
}

// fitActivities leaves out the activities that this robot cannot perform. The same ones of a
// set give the same content, so that life does not take in the set again.
func (s *State) fitActivities(a *score.Activities) delivery.Fit[score.Activities] {
	own, refused := *a, []schema.RefusedPart(nil)
	own.Activities = nil
	for _, one := range a.Activities {
		e, problems := score.FitStory(score.PublishedStory{Story: one.Story(), Acts: a.Acts, Assets: a.Assets}, s.robot.Capabilities(), nil)
		if reason, pointer, detail := s.refuse(e, problems); reason != "" {
			refused = append(refused, schema.RefusedPart{ID: one.ID, Reason: reason, Pointer: pointer, Detail: detail})
		} else {
			own.Activities = append(own.Activities, one)
		}
	}
	if s.fitted.from != a || !slices.Equal(s.fitted.refused, refused) {
		s.fitted = fitted{a, &own, refused}
	}
	return delivery.Fit[score.Activities]{Content: s.fitted.to, Refused: refused}
}

// RobotChanged fits the story and the activities again, because the robot's points or taught
// acts changed.
func (t Step) RobotChanged() {
	changed := delivery.RobotChanged{ActsDigest: t.actsDigest()}
	t.stepSet(sign.Activities, changed)
	t.stepStory(changed)
}

// actsDigest is the digest of the acts that the robot was taught.
func (s *State) actsDigest() string {
	_, digest := s.robot.Taught()
	return digest
}
