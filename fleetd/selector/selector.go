// Package selector selects robots: by name, by terms about their labels and their present
// state, or all. Lists and bulk requests, from the command line to the database, use this one
// type and its one text form.
//
// A selector has exactly one of the three forms. Names and terms together are refused,
// because readers could take the combination for "or" as well as "and". An empty selector is
// refused too and never means all.
//
// The store evaluates names and labels in SQL, and gets selectors with other terms as names;
// property tests verify that all evaluations agree.
package selector

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"troupe/schema"
)

// MaxIDs bounds the names in a selector; for more robots, use a label.
const MaxIDs = 1000

// MaxLabels bounds the labels in a selector.
const MaxLabels = 16

// MaxValueBytes bounds the value of a label.
const MaxValueBytes = 63

// Label is a key=value pair of a robot.
type Label struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

func (l Label) String() string { return l.Key + "=" + l.Value }

// Selector selects robots by id, robots for which all terms hold, or all robots.
type Selector struct {
	All    bool     `json:"all,omitempty"`
	IDs    []string `json:"ids,omitempty"`
	Labels []Label  `json:"labels,omitempty" doc:"robots that have all of these"`
	StateTerms
}

// All selects every robot.
func All() Selector { return Selector{All: true} }

// IDs selects robots by name.
func IDs(ids ...string) Selector { return Selector{IDs: ids} }

// Labelled selects the robots that have every one of labels.
func Labelled(labels ...Label) Selector { return Selector{Labels: labels} }

// Match reports whether s selects the robot.
func (s Selector) Match(r Robot) bool {
	switch {
	case s.All:
		return true
	case len(s.IDs) > 0:
		return slices.Contains(s.IDs, r.ID)
	case len(s.Labels) > 0 || s.NeedsView():
		for _, l := range s.Labels {
			if value, ok := r.Labels[l.Key]; !ok || value != l.Value {
				return false
			}
		}
		return s.match(r)
	}
	return false
}

// Parse parses the text form, which is that of the command line: robot ids, or terms such as
// `-l key=value` and `--doing=performing,paused`, or `--all`.
func Parse(words ...string) (Selector, []schema.Problem) {
	var s Selector
	var problems []schema.Problem
	for i := 0; i < len(words); i++ {
		word := words[i]
		pair, isLabel := strings.CutPrefix(word, "--label=")
		switch {
		case word == "--all":
			s.All = true
			continue
		case word == "-l" || word == "--label":
			if i++; i == len(words) {
				return s, append(problems, schema.NewProblem("", "missing", word+" has no value", "write -l key=value"))
			}
			pair, isLabel = words[i], true
		}
		if !isLabel {
			if s.parse(word) {
				continue
			}
			if strings.HasPrefix(word, "-") {
				problems = append(problems, schema.NewProblem("", "bad_value", "unknown option "+word, hintWrite))
				continue
			}
			s.IDs = append(s.IDs, word)
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			problems = append(problems, schema.NewProblem("", "bad_value", fmt.Sprintf("%q is not a label", pair), "write -l key=value"))
			continue
		}
		s.Labels = append(s.Labels, Label{key, value})
	}
	return s, append(problems, s.Problems()...)
}

const hintWrite = "write robot ids, or -l key=value, or --all"

// String returns the text form, which Parse reads back after splitting at spaces, unless a
// value contains a space.
func (s Selector) String() string {
	var words []string
	if s.All {
		words = append(words, "--all")
	}
	words = append(words, s.IDs...)
	for _, l := range s.Labels {
		words = append(words, "-l", l.String())
	}
	return strings.Join(append(words, s.words()...), " ")
}

// Problems reports why s is not valid; none if it is.
func (s Selector) Problems() []schema.Problem {
	var found []schema.Problem
	shapes := 0
	for _, used := range []bool{s.All, len(s.IDs) > 0, len(s.Labels) > 0 || s.NeedsView()} {
		if used {
			shapes++
		}
	}
	switch {
	case shapes == 0:
		found = append(found, schema.NewProblem("", "missing", "no robot is selected", hintWrite))
	case shapes > 1:
		found = append(found, schema.NewProblem("", "ambiguous", "robots are selected in more than one way",
			"use one of: robot ids, -l key=value, --all"))
	}
	if len(s.IDs) > MaxIDs {
		found = append(found, schema.NewProblem("/ids", "too_many", fmt.Sprintf("%d robots are named, at most %d are allowed", len(s.IDs),
			MaxIDs), "give them a label and select by it"))
	}
	for i, id := range s.IDs {
		if !schema.ValidID(id) {
			found = append(found, schema.NewProblem(fmt.Sprintf("/ids/%d", i), "bad_id", fmt.Sprintf("%q cannot name a robot", id),
				"write a to z, 0 to 9 and -, at most 63 characters"))
		}
	}
	if len(s.Labels) > MaxLabels {
		found = append(found, schema.NewProblem("/labels", "too_many", fmt.Sprintf("%d labels are named, at most %d are allowed", len(s.Labels),
			MaxLabels), ""))
	}
	for i, l := range s.Labels {
		found = append(found, l.problems(fmt.Sprintf("/labels/%d", i))...)
	}
	return found
}

// LabelProblems reports why a robot cannot have these labels; none if it can.
func LabelProblems(labels map[string]string) []schema.Problem {
	var found []schema.Problem
	for key, value := range labels {
		found = append(found, Label{key, value}.problems("/labels/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key))...)
	}
	slices.SortFunc(found, func(a, b schema.Problem) int { return strings.Compare(a.Pointer, b.Pointer) })
	return found
}

func (l Label) problems(at string) []schema.Problem {
	var found []schema.Problem
	if !schema.ValidID(l.Key) {
		found = append(found, schema.NewProblem(at+"/key", "bad_id", fmt.Sprintf("%q cannot be a label's key", l.Key),
			"write a to z, 0 to 9 and -, at most 63 characters"))
	}
	if l.Value == "" || len(l.Value) > MaxValueBytes || !utf8.ValidString(l.Value) || strings.ContainsFunc(l.Value, unicode.IsControl) {
		found = append(found, schema.NewProblem(at+"/value", "bad_value", fmt.Sprintf("%q cannot be a label's value", l.Value),
			fmt.Sprintf("write printable text of 1 to %d bytes", MaxValueBytes)))
	}
	return found
}
