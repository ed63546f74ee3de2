package selector

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"troupe/schema"
)

func codes(problems []schema.Problem) string {
	var all []string
	for _, p := range problems {
		all = append(all, strings.TrimSpace(p.Pointer+" "+p.Code))
	}
	return strings.Join(all, ", ")
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		words string
		want  Selector
		codes string
	}{
		{"r1 r2", IDs("r1", "r2"), ""},
		{"-l site=museum", Labelled(Label{"site", "museum"}), ""},
		{"--label site=museum --label=floor=2", Labelled(Label{"site", "museum"}, Label{"floor", "2"}), ""},
		{"-l note=a=b", Labelled(Label{"note", "a=b"}), ""},
		{"--all", All(), ""},
		{"", Selector{}, "missing"},
		{"--all r1", Selector{All: true, IDs: []string{"r1"}}, "ambiguous"},
		{"r1 -l site=museum", Selector{IDs: []string{"r1"}, Labels: []Label{{"site", "museum"}}}, "ambiguous"},
		{"R1", IDs("R1"), "/ids/0 bad_id"},
		{"-l site", Selector{}, "bad_value, missing"},
		{"-l", Selector{}, "missing"},
		{"-l site=", Labelled(Label{"site", ""}), "/labels/0/value bad_value"},
		{"-l Site=x", Labelled(Label{"Site", "x"}), "/labels/0/key bad_id"},
		{"--everything", Selector{}, "bad_value, missing"},
	} {
		s, problems := Parse(strings.Fields(c.words)...)
		if s.String() != c.want.String() || codes(problems) != c.codes {
			t.Errorf("%q: got %q with %q, want %q with %q", c.words, s, codes(problems), c.want, c.codes)
		}
	}
}

func TestSelectorIsBounded(t *testing.T) {
	if got := codes(IDs(slices.Repeat([]string{"r1"}, MaxIDs+1)...).Problems()); got != "/ids too_many" {
		t.Errorf("got %q", got)
	}
	if got := codes(IDs(slices.Repeat([]string{"r1"}, MaxIDs)...).Problems()); got != "" {
		t.Errorf("got %q", got)
	}
	if got := codes(Labelled(slices.Repeat([]Label{{"a", "b"}}, MaxLabels+1)...).Problems()); got != "/labels too_many" {
		t.Errorf("got %q", got)
	}
}

func TestMatch(t *testing.T) {
	museum := map[string]string{"site": "museum", "floor": "2"}
	for _, c := range []struct {
		s    Selector
		want bool
	}{
		{All(), true},
		{IDs("r1"), true},
		{IDs("r2", "r1"), true},
		{IDs("r2"), false},
		{Labelled(Label{"site", "museum"}), true},
		{Labelled(Label{"site", "museum"}, Label{"floor", "2"}), true},
		{Labelled(Label{"site", "museum"}, Label{"floor", "3"}), false},
		{Labelled(Label{"wing", ""}), false},
		{Selector{}, false},
	} {
		if got := c.s.Match("r1", museum); got != c.want {
			t.Errorf("%q matches r1: %v", c.s, got)
		}
	}
}

func TestParseReadsStringBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.StringMatching(`[a-z0-9][a-z0-9-]{0,9}`)
		var s Selector
		switch rapid.IntRange(0, 2).Draw(rt, "shape") {
		case 0:
			s = All()
		case 1:
			s = IDs(rapid.SliceOfN(id, 1, 5).Draw(rt, "ids")...)
		case 2:
			for range rapid.IntRange(1, 4).Draw(rt, "labels") {
				s.Labels = append(s.Labels, Label{id.Draw(rt, "key"), rapid.StringMatching(`[!-~]{1,9}`).Draw(rt, "value")})
			}
		}
		again, problems := Parse(strings.Fields(s.String())...)
		if len(problems) > 0 || again.String() != s.String() || again.All != s.All || !slices.Equal(again.IDs, s.IDs) || !slices.Equal(again.Labels, s.Labels) {
			rt.Fatalf("%q was read back as %+v, %v", s, again, problems)
		}
	})
}

func TestLabelProblems(t *testing.T) {
	if got := codes(LabelProblems(map[string]string{"site": "museum", "no/te": "x", "empty": ""})); got != "/labels/empty/value bad_value, /labels/no~1te/key bad_id" {
		t.Errorf("got %q", got)
	}
}
