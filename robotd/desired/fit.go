package desired

import (
	"fmt"

	"troupe/robotd/delivery"
	"troupe/schema"
	"troupe/schema/score"
)

// judge decides whether this robot can perform a story.
func (s *State) judge() delivery.Judge[score.Blob] {
	return delivery.Judge[score.Blob]{
		Read: readBlob, Fit: s.fit,
		Identity: func(b *score.Blob) (string, int64) { return b.Story.ID, b.Rev },
		Files:    func(b *score.Blob) []score.Asset { return b.Assets },
	}
}

// readBlob decodes and validates a story.
func readBlob(data []byte) (*score.Blob, []schema.Problem) {
	b, problems := score.ParseBlob(data)
	if len(schema.Errors(problems)) == 0 {
		problems = append(problems, score.ValidateBlob(b)...)
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
func (s *State) fit(b *score.Blob) delivery.Fit[score.Blob] {
	taught, _ := s.robot.Taught()
	e, problems := score.FitStory(*b, s.robot.Capabilities(), taught)
	own := b.WithActs(taught)
	own.Story.Acts = e.Steps
	f := delivery.Fit[score.Blob]{Content: &own, Pruned: e.Pruned}
	for _, step := range e.Steps {
		f.Names = append(f.Names, step.Act)
	}
	switch errs := schema.Errors(problems); {
	case len(e.Steps) == 0:
		f.Reason, f.Detail = schema.ReasonStoryEmpty, fmt.Sprintf("none of its acts can be found here: %v", e.Pruned)
	case len(errs) > 0:
		f.Reason, f.Pointer, f.Detail = schema.ReasonStoryInvalid, errs[0].Pointer, errs[0].String()
	default:
		s.selfCheck(e.Acts, &f)
	}
	return f
}

// selfCheck lets the executor check every act.
func (s *State) selfCheck(acts []score.Act, f *delivery.Fit[score.Blob]) {
	for i := range acts {
		if no := s.robot.Check(&acts[i]); no != nil {
			f.Reason, f.Pointer, f.Detail = schema.ReasonStoryInvalid, "/acts/"+acts[i].ID, "the self-check of "+acts[i].ID+" failed: "+no.Detail
			return
		}
	}
}

// RobotChanged fits the story again, because the robot's points or taught acts changed.
func (t Step) RobotChanged() { t.stepStory(delivery.RobotChanged{ActsDigest: t.actsDigest()}) }

// actsDigest is the digest of the acts that the robot was taught.
func (s *State) actsDigest() string {
	_, digest := s.robot.Taught()
	return digest
}
