package score

import (
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	yamlv3 "go.yaml.in/yaml/v3"

	"troupe/schema"
)

// CheckAct parses and validates the file of an act. It returns all problems at once, with
// their places, in the order of the file. If the act is not readable, a has only those parts of
// the file that could be read.
func CheckAct(text []byte, lookup Lookup) (a Act, readable bool, problems []schema.Problem) {
	a, unread := ParseAct(text)
	return a, len(unread) == 0, joinProblems(text, unread, ValidateActWith(a, lookup))
}

// CheckStory checks the file of a story as CheckAct that of an act.
func CheckStory(text []byte, lookup Lookup) (s Story, readable bool, problems []schema.Problem) {
	s, unread := ParseStory(text)
	return s, len(unread) == 0, joinProblems(text, unread, ValidateStory(s, lookup))
}

// CheckActivity checks the file of an activity as CheckAct that of an act.
func CheckActivity(text []byte, lookup Lookup) (a Activity, readable bool, problems []schema.Problem) {
	a, unread := ParseActivity(text)
	return a, len(unread) == 0, joinProblems(text, unread, ValidateActivity(a, lookup))
}

// joinProblems joins what is wrong with the syntax of a file and with the rest of its content. It
// leaves out what only follows from the former: of a field that could not be read, nothing
// else is said.
func joinProblems(text []byte, unread, found []schema.Problem) []schema.Problem {
	if len(unread) > MaxProblems || slices.ContainsFunc(unread, func(p schema.Problem) bool {
		return p.Pointer == "" || !canContinueAfter(p)
	}) {
		return Locate(text, unread) // nothing of it was read, or more than the list has room for is wrong
	}
	found = slices.DeleteFunc(found, func(p schema.Problem) bool {
		return slices.ContainsFunc(unread, func(u schema.Problem) bool { return follows(p, u) })
	})
	return Locate(text, append(slices.Clip(unread), found...))
}

// canContinueAfter reports whether decodeAll can continue after p.
func canContinueAfter(p schema.Problem) bool {
	return p.Code == "unknown_field" || p.Code == "bad_type" || p.Code == CodeBadValue
}

// follows reports whether p may be wrong only because u was not read.
func follows(p, u schema.Problem) bool {
	switch p.Code {
	case CodeUnknownParameter: // a list of parameters that was not read
		if strings.Count(u.Pointer, "/") == 1 || strings.HasPrefix(u.Pointer, "/parameters/") {
			return true
		}
	case CodeOverlap, CodeStarvation, CodeMayWait, CodeUnusedParameter, CodeZeroLength, CodeStoryEmpty, CodeMissingLanguage:
		return true // they depend on other parts of the file
	case CodeTooLong:
		if p.Pointer == "/actions" { // its time
			return true
		}
	}
	where, unread := jsontext.Pointer(p.Pointer), jsontext.Pointer(u.Pointer)
	if unread.Contains(where) || where == unread.Parent() {
		return true
	}
	missing := p.Code == CodeMissing || p.Code == CodeNeedsEnd || strings.HasPrefix(p.Detail, `""`)
	return missing && where.Parent() == unread.Parent()
}

// NameOf returns the kind of a file, act, story or activity, and the name that it declares.
// They are empty if the file does not tell. It reads a file as ParseAct does, within the same limits.
func NameOf(text []byte) (kind, id string) {
	top := map[string]string{}
	n, found := &yamlv3.Node{}, unreadable(text, MaxBytes)
	if len(found) == 0 {
		n, found = parseYAML(text)
	}
	if len(found) > 0 { // one with a wrong line may tell
		for _, m := range topField.FindAllSubmatch(text[:min(len(text), MaxBytes)], -1) {
			top[string(m[1])] = string(m[2])
		}
	} else if n.Kind == yamlv3.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			top[n.Content[i].Value] = textOf(n.Content[i+1])
		}
	}
	for _, kind := range []string{"act", "story", "activity"} {
		if id, ok := top[kind]; ok {
			return kind, id
		}
	}
	for _, hint := range []struct{ field, kind string }{{"nature", "activity"}, {"launch", "activity"}, {"acts", "story"},
		{"actions", "act"}} {
		if _, ok := top[hint.field]; ok {
			return hint.kind, ""
		}
	}
	return "", ""
}

var topField = regexp.MustCompile(`(?m)^\{?"?([a-z_]+)"?[ \t]*:[ \t]*"?([^\s"#,{}]*)`)
