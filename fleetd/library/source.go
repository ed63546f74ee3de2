package library

import (
	"fmt"
	"regexp"

	"troupe/schema"
	"troupe/schema/score"
)

// Content returns a draft as JSON with its fields in order, without comments.
func Content(kind Kind, text []byte) ([]byte, []schema.Problem) {
	v, problems := parsed(kind, text)
	return encode(v), problems
}

// Formatted returns a text as YAML in the form in which fleetd writes it. A text that cannot be
// parsed is returned with its problems.
func Formatted(kind Kind, text []byte) ([]byte, []schema.Problem) {
	v, problems := parsed(kind, text)
	if len(problems) > 0 {
		return text, score.Locate(text, problems)
	}
	return yamlOf(v), nil
}

func parsed(kind Kind, text []byte) (any, []schema.Problem) {
	if kind == KindAct {
		return score.ParseAct(text)
	}
	s, problems := parseSequence(kind, text)
	if s.activity != nil {
		return s.asActivity(), problems
	}
	return s.Story, problems
}

func yamlOf(v any) []byte {
	text, err := score.ToYAML(v)
	if err != nil {
		panic(err) // impossible: it was parsed before
	}
	return text
}

// SourceOf returns the published revision of an entry as YAML, as a draft has it: of a story or
// an activity without the acts that the revision contains.
func SourceOf(v Revision) ([]byte, error) {
	var content any
	var problems []schema.Problem
	if v.Kind == KindAct {
		content, problems = score.ParseAct(v.Body)
	} else {
		var b publishedSequence
		if b, problems = parsePublished(v.Kind, v.Body); len(problems) == 0 {
			content, problems = parsed(v.Kind, b.sequence().source())
		}
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("read revision %d of %s %s: %s", v.Rev, v.Kind, v.ID, problems[0].Detail)
	}
	return score.ToYAML(content)
}

// Renamed returns a text under another id. It keeps the comments, if the line with the id can be
// found.
func Renamed(kind Kind, text []byte, id string) ([]byte, []schema.Problem) {
	line := regexp.MustCompile(`(?m)^` + string(kind) + `:[ \t]*["']?[a-z0-9-]*["']?`)
	if at := line.FindIndex(text); at != nil {
		renamed := append(append(append([]byte{}, text[:at[0]]...), string(kind)+": "+id...), text[at[1]:]...)
		if k, got := score.NameOf(renamed); k == string(kind) && got == id {
			return renamed, nil
		}
	}
	v, problems := parsed(kind, text)
	if len(problems) > 0 {
		return nil, problems
	}
	switch v := v.(type) {
	case score.Act:
		v.ID = id
		return yamlOf(v), nil
	case score.Activity:
		v.ID = id
		return yamlOf(v), nil
	case score.Story:
		v.ID = id
		return yamlOf(v), nil
	}
	return nil, nil
}
