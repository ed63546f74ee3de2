package perform

import (
	"strings"
	"testing"

	"troupe/schema/score"
)

func TestAnotherRevisionOfAStoryKeepsItsPlace(t *testing.T) {
	steps := func(text string) (list []score.Step) { // act, or act:value of its parameter
		for _, w := range strings.Fields(text) {
			s := score.Step{}
			value, given := "", false
			if s.Act, value, given = strings.Cut(w, ":"); given {
				s.With = map[string]string{"x": value}
			}
			list = append(list, s)
		}
		return list
	}
	for _, c := range []struct {
		name, was string
		at        int
		next      string
		want      int
		kept      bool
	}{
		{"the act is still there", "a b c", 1, "a b c", 1, true},
		{"acts come before it", "a b c", 1, "x y a b c", 3, true},
		{"it is moved to the end", "a b c", 0, "b c a", 2, true},
		{"it is gone", "a b c", 1, "a c", 1, false},
		{"it and its successor are gone", "a b c d", 1, "a d", 1, false},
		{"it was the last", "a b c", 2, "a b", 2, false},
		{"it was the last, and another one is in its place", "a b c", 2, "a b d", 2, false},
		{"nothing is left", "a b c", 1, "x y", 0, false},
		{"its second repetition", "a b a c", 2, "a b a c d", 2, true},
		{"its second repetition, and the first is gone", "a b a c", 2, "b a c", 2, false},
		{"of several with other values the one with the same", "a:1 a:2 a:3", 2, "a:2 a:3", 1, true},
		{"its value has changed", "a:1 a:2 a:3", 1, "a:1 a:4 a:3", 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, kept := placeIn(steps(c.next), steps(c.was), c.at); got != c.want || kept != c.kept {
				t.Errorf("act %d of %q goes on at act %d of %q, kept %v; want %d, %v", c.at, c.was, got, c.next, kept, c.want, c.kept)
			}
		})
	}
}
