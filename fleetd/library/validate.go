package library

import (
	"fmt"
	"slices"

	"troupe/schema"
	"troupe/schema/score"
)

// Source is the text of an act, a story or an activity.
type Source struct {
	Kind Kind
	Body []byte
}

// Checked is the id that a text names, if it can be parsed, and its problems.
type Checked struct {
	ID       string
	Problems []schema.Problem
}

// Validate returns every problem of each text, as if the assets and then the acts among the
// texts had been published: a folder can be checked before anything of it is. Of an asset
// only the name and the media type count. Behind maxListed problems it lists the first of each text.
func Validate(rows Rows, texts []Source, assets []Asset) ([]Checked, []schema.Problem) {
	s, problems := newSnapshot(rows)
	if problems != nil {
		return nil, problems
	}
	return s.checkTexts(texts, assets), nil
}

func (s *snapshot) checkTexts(texts []Source, assets []Asset) []Checked {
	for _, a := range assets {
		s.assets[a.Name] = a
	}
	out := make([]Checked, len(texts))
	listed := 0
	check := func(i int) {
		out[i].ID, out[i].Problems = s.validate(texts[i].Kind, texts[i].Body)
		if errors := schema.Errors(out[i].Problems); len(errors) > 1 && listed >= maxListed {
			out[i].Problems = []schema.Problem{errors[0], schema.NewProblem("", score.CodeMore, fmt.Sprintf("%d more are not listed", len(errors)-1),
				"correct the other texts first, then check again")}
		}
		listed += len(out[i].Problems)
	}
	s.checkActs(texts, func(i int, a score.Act) {
		check(i)
		if id := out[i].ID; id != "" && len(schema.Errors(out[i].Problems)) == 0 {
			s.acts[id] = a
		} else if id != "" {
			s.faulty[id] = true
		}
	})
	for i, t := range texts {
		if t.Kind != KindAct {
			check(i)
		}
	}
	return out
}

// checkActs checks each act among texts after those that it performs.
func (s *snapshot) checkActs(texts []Source, check func(i int, a score.Act)) {
	acts, at := map[int]score.Act{}, map[string]int{}
	for i, t := range texts {
		if t.Kind == KindAct {
			acts[i], _ = score.ParseAct(t.Body)
			at[acts[i].ID] = i
			s.offered = append(s.offered, acts[i].ID)
		}
	}
	begun := map[int]bool{}
	var visit func(i int)
	visit = func(i int) {
		if begun[i] {
			return
		}
		begun[i] = true
		a := acts[i]
		s.checking[a.ID] = a
		for _, id := range a.Nested() {
			if j, ok := at[id]; ok {
				visit(j)
			}
		}
		check(i, a)
		delete(s.checking, a.ID)
	}
	for i, t := range texts {
		if t.Kind == KindAct {
			visit(i)
		}
	}
}

func (s *snapshot) validate(kind Kind, text []byte) (id string, problems []schema.Problem) {
	readable := false
	switch kind {
	case KindAct:
		var a score.Act
		if a, readable, problems = score.CheckAct(text, s.nested); readable {
			problems = append(problems, s.unknownNames(a, func(n score.Named) string { return n.Pointer })...)
		}
		id, problems = a.ID, s.addHints(Ref{kind, a.ID}, a.ActsAt(), problems)
	case KindStory, KindActivity:
		var story score.Story
		if kind == KindStory {
			story, readable, problems = score.CheckStory(text, s.act)
		} else {
			var a score.Activity
			a, readable, problems = score.CheckActivity(text, s.act)
			story = a.Story()
		}
		if readable {
			for i, step := range story.Acts {
				problems = append(problems, s.unknownNames(s.acts[step.Act], func(score.Named) string { return fmt.Sprintf("/acts/%d/act", i) })...)
			}
			problems = append(problems, s.unknownNames(s.acts[story.Shutdown], func(score.Named) string { return "/shutdown" })...)
		}
		id, problems = story.ID, s.addHints(Ref{kind, story.ID}, story.ActsAt(), problems)
	default:
		return "", []schema.Problem{schema.NewProblem("", CodeNotFound, fmt.Sprintf("%q is neither act nor story nor activity", kind), "")}
	}
	if !readable {
		return "", score.Locate(text, problems)
	}
	id, problems = s.checkID(id, "/"+string(kind), problems)
	return id, score.Locate(text, problems)
}

// checkID refuses a text without a valid id.
func (s *snapshot) checkID(id, pointer string, problems []schema.Problem) (string, []schema.Problem) {
	if schema.ValidID(id) {
		return id, problems
	}
	if !slices.ContainsFunc(problems, func(p schema.Problem) bool { return p.Pointer == pointer }) {
		problems = append(problems, schema.NewProblem(pointer, score.CodeBadID, fmt.Sprintf("%q cannot be an id", id),
			"write a to z, 0 to 9 and -, at most 63 characters"))
	}
	return "", problems
}

// addHints explains problems about unknown acts. An act may have errors in the same request, be
// only a draft, be deleted, or be similar to another id.
func (s *snapshot) addHints(by Ref, named map[string]string, problems []schema.Problem) []schema.Problem {
	for i, p := range problems {
		id, ok := named[p.Pointer]
		if !ok || p.Code != score.CodeUnknownAct {
			continue
		}
		e, ok := s.entries[Ref{KindAct, id}]
		switch {
		case s.faulty[id]:
			problems[i].Detail, problems[i].Hint = faultyAct(id)
		case ok && e.Deleted():
			problems[i].Hint = fmt.Sprintf("it was deleted%s: recover it, or leave it out", byWhom(e.DeletedBy))
		case ok && e.Rev == 0:
			problems[i].Code = CodeActDraft
			problems[i].Detail = fmt.Sprintf("act %s is only a draft", id)
			problems[i].Hint = fmt.Sprintf("publish it first: fleetd act publish %s; or both together: fleetd %s publish %s --with-act %[1]s", id,
				by.Kind, by.ID)
		default:
			switch near := schema.Closest(id, append(slices.Clip(s.offered), s.actIDs...)); near {
			case "":
			case id: // its file does not even decode, so nothing is known of it but its name
				problems[i].Detail, problems[i].Hint = faultyAct(id)
			default:
				problems[i].Hint = "did you mean " + near + "?"
			}
		}
	}
	return problems
}

// faultyAct says that an act is there, in this request, and cannot be used.
func faultyAct(id string) (detail, hint string) {
	return "the act " + id + " has errors", "correct these first"
}
