package score

import (
	"slices"
	"strings"
	"testing"

	"troupe/schema"
)

func checked(text string) []string {
	var lines []string
	_, _, found := CheckAct([]byte(text), shelf)
	for _, p := range found {
		lines = append(lines, p.String())
	}
	return lines
}

func TestEveryProblemOfAFileAtOnce(t *testing.T) {
	_, readable, found := CheckAct([]byte(`act: a
nam: {en: A}
actions:
  - {type: head, start_ms: 0, yaw_rad: left, timeout_ms: 900}
  - {type: say, start_ms: 0, text: hello, timeout_ms: 1.5}
  - {type: face, start_ms: -1, face: smile}
  - bow
`), shelf)
	var got []string
	for _, p := range found {
		if p.Line == 0 || p.Column == 0 || p.Hint == "" {
			t.Errorf("%s has no place or no advice", p)
		}
		got = append(got, p.Pointer)
	}
	want := []string{"/nam", "/actions/0/yaw_rad", "/actions/1/text", "/actions/1/timeout_ms", "/actions/2/start_ms", "/actions/3"}
	if readable || !slices.Equal(got, want) {
		t.Errorf("readable %v, problems at %q, want %q", readable, got, want)
	}
}

// Of what could not be read nothing else is said.
func TestNothingFollowsFromAnUnreadField(t *testing.T) {
	for _, text := range []string{
		"act: a\nactions: [{type: head, start_ms: 0, yaw_rad: left, timeout_ms: 900}]",
		"act: a\nactions: [{type: say, start_ms: 0, txt: {en: hi}, timeout_ms: 900}]",
		"act: a\nactions: [{type: say, start_ms: 0, text: {en: hi}, timeout: 900}]",
		"act: a\nparameter: {who: {type: string}}\nactions: [{type: say, start_ms: 0, text: {en: \"${who}\"}, timeout_ms: 900}]",
		"act: a\nactions: hello",
	} {
		if got := checked(text); len(got) != 1 {
			t.Errorf("%s\n%q", text, got)
		}
	}
}

func TestPlaceInYAMLAndJSON(t *testing.T) {
	for text, want := range map[string][2]int{
		"act: a\nactions:\n  - {type: wait, start_ms: 0, end_ms: -5}\n":                                   {3, 31},
		"{\"act\": \"a\",\n\t\"actions\": [\n\t\t{\"type\": \"wait\", \"start_ms\": 0, \"end_ms\": -5}]}": {3, 35},
		"act: a\nactions:\n  - type: wait\n    start_ms: 0\n    end_ms: -5\n":                             {5, 5},
		"act: a\nname: {no: Hei}\nactions: [{type: wait, start_ms: 0, end_ms: 9}]":                        {2, 8},
	} {
		_, _, found := CheckAct([]byte(text), shelf)
		if len(found) != 1 || [2]int{found[0].Line, found[0].Column} != want {
			t.Errorf("%s\n%+v, want a problem at %v", text, found, want)
		}
	}
}

// The parser's own line is often that of another one.
func TestLineOfBadSyntax(t *testing.T) {
	for _, c := range []struct {
		text string
		line int
		says string
	}{
		{"act: a\nactions:\n  - {type: wait, start_ms: 0, end_ms: 9\n  - {type: wait}\n", 3, "a bracket is not closed"},
		{"act: a\nactions:\n  - type: wait\n   start_ms: 0\n", 4, "indented differently"},
		{"act: a\nname: {en: 'it's'}\nactions: []\n", 2, "the ' within it"},
		{"act: \"a\nactions:\n  - {type: wait}\n", 1, "never closed"},
		{"act: a\nactions\n  - {type: wait}\n", 2, "has no :"},
		{"act: a\nactions:\n\t- {type: wait}\n", 3, "a tab"},
		{"act: a\nactions:\n  - type: wait\n\tstart_ms: 0\n", 4, "a tab"},
		{"act: a\nactions:\n  - {type: led, start_ms: 0, colour: #20c0ff}\n", 3, "# begins a comment"},
		{"act: a\nname: {de: Begr\xfc\xdfen}\n", 2, `'ü' in Latin-1`},
		{"act: a\n---\nact: b\n", 2, "a second document"},
		{"act: a\nact: b\n", 2, "written twice, first in line 1"},
		{"{\"act\": \"a\",\n \"actions\": [\n  {\"type\": \"wait\" \"start_ms\": 0}]}", 3, ""},
	} {
		_, _, found := CheckAct([]byte(c.text), shelf)
		if len(found) != 1 || found[0].Line != c.line || found[0].Column == 0 || found[0].Hint == "" ||
			!strings.Contains(found[0].Detail, c.says) {
			t.Errorf("%q\n%+v, want line %d: %s", c.text, found, c.line, c.says)
		}
	}
}

func TestAdviceAboutFieldsAndUnits(t *testing.T) {
	const head = "act: a\nactions: [{type: head, start_ms: 0, timeout_ms: 900, "
	for field, want := range map[string]string{
		"yaw_deg: 30":      "write yaw_rad: 0.524 (30 degrees are 0.524 radians)",
		"yaw: 1":           "write yaw_rad, in radians",
		"yaw_rad: 30":      "yaw_rad is in radians: 30 degrees are 0.524",
		"yaw_rad: 30deg":   "write it as a number of radians: 0.524",
		`yaw_rad: "0.5"`:   "write it without quotes: 0.5",
		"yw_rad: 1":        "did you mean yaw_rad?",
		"speed: 80":        "80 % is 0.8",
		"tilt: 1":          "write pitch_rad",
		"comment: turn":    "write it as a comment, behind #",
		"on_resume: skipp": "did you mean skip?",
	} {
		got := checked(head + field + "}]")
		if len(got) == 0 || !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
	for text, want := range map[string]string{
		"act: a\nactions: [{type: wait, start_ms: 0, end_s: 2}]":       "write end_ms: 2000 (2 seconds are 2000 milliseconds)",
		"act: a\nactions: [{type: wait, start_ms: 0, end_ms: 1.5}]":    "1.5 seconds are 1500",
		"act: a\nactions: [{type: wait, start_ms: 0, end_ms: 1.5s}]":   "milliseconds: 1500",
		"act: My Act\nactions: [{type: wait, start_ms: 0, end_ms: 1}]": "write my-act",
		"act: a\nactions: [{type: wiat, start_ms: 0, end_ms: 1}]":      "did you mean wait?",
	} {
		if got := checked(text); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// Whatever the bytes of a file are: it is read, or there is an error, and no error lacks a
// line if the file has one.
func FuzzCheckAct(f *testing.F) {
	f.Add([]byte("act: a\nactions:\n  - {type: head, start_ms: 0, yaw_deg: 30, timeout_ms: 1.5}\n  - bow\n"))
	f.Add([]byte("act: a\nact: b\nactions: [{type: say, text: *x}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, readable, found := CheckAct(text, shelf)
		if !readable && len(schema.Errors(found)) == 0 {
			t.Errorf("%q cannot be read, and nothing says why", text)
		}
	})
}
