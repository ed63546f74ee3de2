package library

import (
	"fmt"
	"slices"

	"troupe/schema"
	"troupe/schema/score"
)

// Validate returns every problem of a text, checked against the library, and the id that
// it names if it can be parsed.
func Validate(rows Rows, kind Kind, text []byte) (id string, problems []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return "", problems
	}
	return s.validate(kind, text)
}

func (s *snapshot) validate(kind Kind, text []byte) (id string, problems []schema.Problem) {
	switch kind {
	case KindAct:
		a, problems := score.ParseAct(text)
		if len(schema.Errors(problems)) > 0 {
			return "", problems
		}
		id, problems = a.ID, append(problems, score.ValidateAct(a)...)
		problems = append(problems, s.unknownNames(a, func(n score.Named) string { return n.Pointer })...)
		return s.checkID(id, "/act", problems)
	case KindStory:
		story, problems := score.ParseStory(text)
		if len(schema.Errors(problems)) > 0 {
			return "", problems
		}
		problems = append(problems, s.addHints(story, score.ValidateStory(story, s.act))...)
		for i, step := range story.Acts {
			problems = append(problems, s.unknownNames(s.acts[step.Act], func(score.Named) string { return fmt.Sprintf("/acts/%d/act", i) })...)
		}
		return s.checkID(story.ID, "/story", problems)
	}
	return "", []schema.Problem{schema.Fault("", CodeNotFound, fmt.Sprintf("%q is neither act nor story", kind), "")}
}

// checkID refuses a text without a valid id.
func (s *snapshot) checkID(id, pointer string, problems []schema.Problem) (string, []schema.Problem) {
	if schema.ValidID(id) {
		return id, problems
	}
	if !slices.ContainsFunc(problems, func(p schema.Problem) bool { return p.Pointer == pointer }) {
		problems = append(problems, schema.Fault(pointer, score.CodeBadID, fmt.Sprintf("%q cannot be an id", id), "write a to z, 0 to 9 and -, at most 63 characters"))
	}
	return "", problems
}

// addHints adds hints to problems of unknown acts: acts that are only drafts, and deleted ones.
func (s *snapshot) addHints(story score.Story, problems []schema.Problem) []schema.Problem {
	for i, p := range problems {
		if p.Code != score.CodeUnknownAct {
			continue
		}
		var at int
		if _, err := fmt.Sscanf(p.Pointer, "/acts/%d", &at); err != nil || at >= len(story.Acts) {
			continue
		}
		e, ok := s.entries[Ref{KindAct, story.Acts[at].Act}]
		switch {
		case ok && e.Deleted():
			problems[i].Hint = fmt.Sprintf("it was deleted%s: recover it, or leave it out", byWhom(e.DeletedBy))
		case ok && e.Rev == 0:
			problems[i].Hint = "it is only a draft: publish the act first"
		}
	}
	return problems
}
