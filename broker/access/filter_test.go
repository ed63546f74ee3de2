package access

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// naiveLevels follows the text of the specification: slow, recursive, on slices.
func naiveLevels(filter, topic []string, first bool) bool {
	switch {
	case len(filter) == 0:
		return len(topic) == 0
	case first && topic[0] != "" && topic[0][0] == '$' && (filter[0] == "+" || filter[0] == "#"):
		return false
	case filter[0] == "#":
		return true
	case len(topic) == 0:
		return false
	case filter[0] == "+" || filter[0] == topic[0]:
		return naiveLevels(filter[1:], topic[1:], false)
	}
	return false
}

func naiveMatch(filter, topic string) bool {
	return naiveLevels(strings.Split(filter, "/"), strings.Split(topic, "/"), true)
}

// The alphabet is small so that matches are common.
var (
	levels = []string{"a", "b", "", "$s"}
	topics = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(levels), 1, 4).Draw(t, "levels"), "/")
	})
	filters = rapid.Custom(func(t *rapid.T) string {
		ls := rapid.SliceOfN(rapid.SampledFrom(append([]string{"+", "+"}, levels...)), 0, 4).Draw(t, "levels")
		if len(ls) == 0 || rapid.Bool().Draw(t, "hash") {
			ls = append(ls, "#")
		}
		return strings.Join(ls, "/")
	})
)

func TestMatchesFollowsTheSpecification(t *testing.T) {
	for _, c := range []struct {
		filter, topic string
		want          bool
	}{
		{"a/b", "a/b", true}, {"a/b", "a/b/c", false}, {"a/b/c", "a/b", false},
		{"a/#", "a", true}, {"a/#", "a/b/c", true}, {"a/#", "ab", false},
		{"+", "a", true}, {"+", "/a", false}, {"/+", "/a", true}, {"+/+", "/a", true}, {"a/+", "a/", true}, {"a/+", "a", false},
		{"robots/+/cmd", "robots/r1/cmd/estop", false},
		{"#", "$SYS/x", false}, {"+/x", "$SYS/x", false}, {"$SYS/#", "$SYS/x", true}, {"#", "a/b", true},
	} {
		if got := Matches(c.filter, c.topic); got != c.want {
			t.Errorf("Matches(%q, %q) = %v, want %v", c.filter, c.topic, got, c.want)
		}
	}
}

func TestMatchesEqualsNaiveMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, topic := filters.Draw(t, "filter"), topics.Draw(t, "topic")
		if got, want := Matches(f, topic), naiveMatch(f, topic); got != want {
			t.Fatalf("Matches(%q, %q) = %v, want %v", f, topic, got, want)
		}
	})
}

// allTopics returns every topic of up to five levels over the alphabet plus one level that
// no filter contains.
func allTopics() []string {
	alphabet := append([]string{"z"}, levels...)
	all, last := []string(nil), []string{""}
	for depth := 0; depth < 5; depth++ {
		var next []string
		for _, p := range last {
			for _, l := range alphabet {
				if depth > 0 {
					l = p + "/" + l
				}
				next = append(next, l)
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

func TestIntersectsMeansACommonTopicExists(t *testing.T) {
	all := allTopics()
	rapid.Check(t, func(t *rapid.T) {
		a, b := filters.Draw(t, "a"), filters.Draw(t, "b")
		want := false
		for _, topic := range all {
			if naiveMatch(a, topic) && naiveMatch(b, topic) {
				want = true
				break
			}
		}
		if got := Intersects(a, b); got != want {
			t.Fatalf("Intersects(%q, %q) = %v, want %v", a, b, got, want)
		}
		if Intersects(a, b) != Intersects(b, a) {
			t.Fatalf("Intersects(%q, %q) depends on the order", a, b)
		}
	})
}

func TestInvalidFiltersAndTopicsAreRefused(t *testing.T) {
	for _, f := range []string{"", "a/#/b", "a#", "a/b+", "+a", "$share/g/a", "a\x00b", "a\nb", "\xff", strings.Repeat("a/", 8) + "a",
		strings.Repeat("a", 201)} {
		if ValidFilter(f) {
			t.Errorf("ValidFilter(%q) = true", f)
		}
	}
	for _, f := range []string{"#", "+", "+/a/#", "a", "$SYS/#", "troupe/v1/robots/+/reported/#"} {
		if !ValidFilter(f) {
			t.Errorf("ValidFilter(%q) = false", f)
		}
	}
	for _, topic := range []string{"", "a/+", "#", "a\tb", strings.Repeat("x", 201)} {
		if ValidTopic(topic) {
			t.Errorf("ValidTopic(%q) = true", topic)
		}
	}
}
