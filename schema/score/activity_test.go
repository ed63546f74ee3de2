package score

import (
	"strings"
	"testing"
)

func TestProblemOfActivityNamesIDsAsWritten(t *testing.T) {
	a := Activity{ID: "look", Nature: NatureSolitary, Repeat: Repeat{Times: 1}, Acts: []Step{{Act: "tell-story"}}}
	found := ValidateActivity(a, In(nil))
	details := map[string]string{}
	for _, p := range found {
		details[p.Pointer] = p.Detail
	}
	if got, want := details["/acts/0/act"], "there is no act tell-story"; got != want {
		t.Errorf("unknown act: %q, want %q", got, want)
	}
	if got, want := details["/name"], "an activity has a name"; got != want {
		t.Errorf("missing name: %q, want %q", got, want)
	}
	a.Acts, a.Repeat = nil, Repeat{}
	for _, p := range append(found, ValidateActivity(a, In(nil))...) {
		text := strings.ReplaceAll(p.Detail+" "+p.Hint, "tell-story", "")
		if strings.Contains(text, "story") || strings.Contains(text, "Museum") {
			t.Errorf("%s: a problem of an activity is worded for a story: %q", p.Pointer, text)
		}
	}
}
