package selector

import (
	"encoding/json"
	"os"
	"reflect"
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
		{"--doing=performing,paused -l site=museum", Selector{Labels: []Label{{"site", "museum"}},
			StateTerms: StateTerms{Doing: []Doing{Performing, Paused}}}, ""},
		{"--presence=lost --all", Selector{All: true, StateTerms: StateTerms{Presence: []string{"lost"}}}, "ambiguous"},
		{"--presence=", Selector{}, "bad_value, missing"},
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
		if got := c.s.Match(Robot{ID: "r1", Labels: museum}); got != c.want {
			t.Errorf("%q matches r1: %v", c.s, got)
		}
	}
}

func TestParseReadsStringBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.StringMatching(`[a-z0-9][a-z0-9-]{0,9}`)
		var s Selector
		switch rapid.IntRange(0, 3).Draw(rt, "shape") {
		case 3:
			s.Text = rapid.StringMatching(`[!-~]{0,9}`).Draw(rt, "text")
			s.Doing = rapid.SliceOfN(rapid.SampledFrom([]Doing{Performing, Paused, NoStory}), 0, 2).Draw(rt, "doing")
			s.Presence = rapid.SliceOfN(rapid.SampledFrom([]string{"online", "lost"}), 0, 2).Draw(rt, "presence")
			s.Modes = rapid.SliceOfN(rapid.SampledFrom([]schema.ModeID{"ato", "mnl"}), 0, 2).Draw(rt, "modes")
			s.StoryState = rapid.SliceOfN(rapid.SampledFrom([]StoryState{StoryNone, StoryRefused}), 0, 2).Draw(rt, "story state")
			s.Story = rapid.SampledFrom([]string{"welcome", "goodbye"}).Draw(rt, "story")
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
		if len(problems) > 0 || again.String() != s.String() || !reflect.DeepEqual(withoutEmpty(again), withoutEmpty(s)) {
			rt.Fatalf("%q was read back as %+v, %v", s, again, problems)
		}
	})
}

// withoutEmpty makes lists without values nil.
func withoutEmpty(s Selector) Selector {
	s.Doing, s.Modes, s.Presence, s.StoryState = append([]Doing(nil), s.Doing...), append([]schema.ModeID(nil), s.Modes...),
		append([]string(nil), s.Presence...), append([]StoryState(nil), s.StoryState...)
	return s
}

// The console filters its list with the same cases, which are in a file for that reason.
func TestMatchOfState(t *testing.T) {
	text, err := os.ReadFile("testdata/match.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Robots map[string]Robot
		Cases  []struct {
			Selector Selector
			Want     []string
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) == 0 {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		got := []string{}
		for id, r := range file.Robots {
			r.ID = id
			if c.Selector.Match(r) {
				got = append(got, id)
			}
		}
		slices.Sort(got)
		if problems := c.Selector.Problems(); len(problems) > 0 || !slices.Equal(got, c.Want) {
			t.Errorf("%q selects %v, want %v; %v", c.Selector, got, c.Want, problems)
		}
	}
}

func TestLabelProblems(t *testing.T) {
	if got := codes(LabelProblems(map[string]string{"site": "museum", "no/te": "x", "empty": ""})); got !=
		"/labels/empty/value bad_value, /labels/no~1te/key bad_id" {
		t.Errorf("got %q", got)
	}
}
