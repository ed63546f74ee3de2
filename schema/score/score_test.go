package score

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"troupe/schema"
)

func TestPublishedStoriesAreValidated(t *testing.T) {
	story := Story{ID: "s", Name: Text{"en": "S"}, Repeat: Repeat{Loop: true}, Acts: []Step{{Act: "known"}, {Act: "taught"}}}
	sound := PublishedStory{Schema: 1, Rev: 1, Story: story, Acts: map[string]Act{"known": known}}
	if ps := schema.Errors(ValidatePublishedStory(sound)); len(ps) != 0 {
		t.Errorf("a story whose act is taught on the robot is valid, got %q", ps)
	}
	for code, b := range map[string]PublishedStory{
		CodeUnsupported: {Schema: 2, Rev: 1, Story: story, Acts: sound.Acts},
		CodeOutOfRange:  {Schema: 1, Story: story, Acts: sound.Acts},
		CodeWrongKey:    {Schema: 1, Rev: 1, Story: story, Acts: map[string]Act{"taught": known}},
		CodeUnreached:   {Schema: 1, Rev: 1, Story: story, Acts: map[string]Act{"known": known, "spare": {ID: "spare", Actions: known.Actions}}},
		CodeZeroLength:  {Schema: 1, Rev: 1, Story: story, Acts: map[string]Act{"known": {ID: "known"}}},
	} {
		if ps := ValidatePublishedStory(b); !slices.ContainsFunc(ps, func(p schema.Problem) bool { return p.Code == code }) {
			t.Errorf("want %s, got %q", code, ps)
		}
	}
}

func TestFitStoryPrunesMissingActs(t *testing.T) {
	story := Story{ID: "s", Acts: []Step{{Act: "known", With: map[string]string{"guest": "Ann"}}, {Act: "gone"}, {Act: "taught"},
		{Act: "gone"}}}
	b := PublishedStory{Schema: 1, Rev: 1, Story: story, Acts: map[string]Act{"known": known}}
	e, ps := FitStory(b, small, map[string]Act{"taught": known})
	if len(ps) != 0 || len(e.Steps) != 2 || len(e.Acts) != 2 || !slices.Equal(e.Pruned, []string{"gone"}) {
		t.Fatalf("%+v %q", e, ps)
	}
	if got := e.Acts[0].Actions[0].Text()["en"]; got != "hello Ann" {
		t.Errorf("the parameter was not replaced: %q", got)
	}
	if got := known.Actions[0].Text()["en"]; got != "hello ${guest}" {
		t.Errorf("the library's act was changed: %q", got)
	}
	if e.Moves() {
		t.Error("saying hello moves nothing")
	}
	if _, ps := FitStory(PublishedStory{Schema: 1, Rev: 1, Story: story}, small, nil); len(ps) != 1 || ps[0].Code != CodeStoryEmpty {
		t.Errorf("a story without any available act: %q", ps)
	}
	if _, ps := FitStory(b, schema.Caps{}, nil); len(ps) != 1 || ps[0].Code != CodeNoUnit || ps[0].Pointer != "/acts/known/actions/0/type" {
		t.Errorf("a body without a speaker: %q", ps)
	}
}

// A robot performs a taught act as a step of a story, but never as its shutdown act.
func TestTaughtActIsNoShutdownAct(t *testing.T) {
	speaker := schema.Caps{Languages: small.Languages, Units: small.Units[:1]}
	turn := Act{ID: "turn", Actions: []Action{{Do: Head{Axes: Axes{YawRad: new(0.5)}}}}}
	b := PublishedStory{Schema: 1, Rev: 1, Story: Story{ID: "s", Acts: []Step{{Act: "known"}}, Shutdown: "turn"},
		Acts: map[string]Act{"known": known}}
	if _, ps := FitStory(b, speaker, map[string]Act{"turn": turn}); len(ps) != 0 {
		t.Errorf("the story is judged by an act that is not performed: %q", ps)
	}
	b.Acts["turn"] = turn
	if _, ps := FitStory(b, speaker, nil); len(ps) == 0 {
		t.Error("a body without what the published shutdown act needs fits")
	}
}

func TestLoopNeedsActWithDuration(t *testing.T) {
	face := Act{ID: "face", Actions: []Action{{Do: Face{Face: "smile"}}}}
	b := PublishedStory{Schema: 1, Rev: 1, Acts: map[string]Act{"face": face},
		Story: Story{ID: "s", Name: Text{"en": "S"}, Repeat: Repeat{Loop: true}, Acts: []Step{{Act: "face"}, {Act: "elsewhere"}}}}
	if ps := schema.Errors(ValidatePublishedStory(b)); len(ps) != 0 {
		t.Errorf("an act that is taught on a robot may have a duration: %q", ps)
	}
	if _, ps := FitStory(b, schema.Caps{Units: small.Units}, map[string]Act{"elsewhere": known}); len(schema.Errors(ps)) != 0 {
		t.Errorf("the act has a duration on this robot: %q", ps)
	}
	if _, ps := FitStory(b, schema.Caps{Units: small.Units}, nil); len(ps) != 1 || ps[0].Code != CodeZeroLength ||
		ps[0].Pointer != "/story/acts" {
		t.Errorf("without the act the loop takes no time: %q", ps)
	}
	b.Story.Repeat = Repeat{Times: 1}
	if _, ps := FitStory(b, schema.Caps{Units: small.Units}, nil); len(ps) != 0 {
		t.Errorf("performed once, the story needs no duration: %q", ps)
	}
}

func TestNewerVersionIsReportedAsOnlyProblem(t *testing.T) {
	for _, data := range []string{`{"schema":2,"rev":1,"story":{"story":"s","mood":"grey"},"acts":{}}`, `{"schema":3,"chapters":[]}`} {
		_, ps := ParsePublishedStory([]byte(data))
		if len(ps) != 1 || ps[0].Code != CodeUnsupported || ps[0].Pointer != "/schema" {
			t.Errorf("%s: %q", data, ps)
		}
	}
	if _, ps := ParsePublishedStory([]byte(`{"schema":1,"chapters":[]}`)); len(ps) != 1 || ps[0].Code == CodeUnsupported {
		t.Errorf("a supported version: %q", ps)
	}
}

func TestExclusiveGroupStopsClockOfParent(t *testing.T) {
	text := `{act: a, actions: [
	  {type: group, method: exclusive, start_ms: 1000, actions: [{type: wait, start_ms: 0, end_ms: 5000}]},
	  {type: face, start_ms: 2000, end_ms: 4000, face: smile}]}`
	a, ps := ParseAct([]byte(text))
	if ps = append(ps, ValidateAct(a)...); len(ps) != 0 {
		t.Fatal(ps)
	}
	// 1 s, then 5 s with the clock stopped, then 3 s more.
	if got := a.DurationMS(); got != 9000 {
		t.Errorf("lasts %d ms, want 9000", got)
	}
}

func fuzzSeeds(f *testing.F) {
	files, _ := filepath.Glob(corpus + "/*/*.yaml")
	more, _ := filepath.Glob("../../deploy/library/*/*.yaml")
	for _, name := range append(files, more...) {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
}

// FuzzParse checks that no text makes parsing or validation panic, and that valid values
// survive publishing and parsing.
func FuzzParse(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		acts := map[string]Act{"known": known, "instant": instant}
		if a, ps := ParseAct(text); len(ps) == 0 && len(schema.Errors(ValidateActWith(a, In(acts)))) == 0 {
			Fit(a, small)
			a.DurationMS()
			acts[a.ID] = a
			story := Story{ID: "s", Name: Text{"en": "S"}, Repeat: Repeat{Times: 1}, Acts: []Step{{Act: a.ID}}}
			roundTrip(t, story, acts)
		}
		if s, ps := ParseStory(text); len(ps) == 0 && len(schema.Errors(ValidateStory(s, shelf))) == 0 {
			roundTrip(t, s, acts)
		}
	})
}

func roundTrip(t *testing.T, s Story, acts map[string]Act) {
	data, sum, err := EncodePublishedStory(s, acts, 1)
	if err != nil {
		t.Fatalf("publish: %v", err)
	}
	b, ps := ParsePublishedStory(data)
	if ps = append(ps, ValidatePublishedStory(b)...); len(schema.Errors(ps)) > 0 {
		t.Fatalf("published %s, which is refused: %q", data, ps)
	}
	if _, again, err := EncodePublishedStory(b.Story, b.Acts, b.Rev); err != nil || again != sum {
		t.Fatalf("two digests of the same value: %v", err)
	}
}

// FuzzParsePublishedStory checks that validation of arbitrary bytes does not panic.
func FuzzParsePublishedStory(f *testing.F) {
	data, _, err := EncodePublishedStory(Story{ID: "s", Name: Text{"en": "S"}, Repeat: Repeat{Times: 3}, Acts: []Step{{Act: "known"}}},
		map[string]Act{"known": known}, 1)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		if b, ps := ParsePublishedStory(data); len(ps) == 0 && len(schema.Errors(ValidatePublishedStory(b))) == 0 {
			FitStory(b, small, nil)
		}
	})
}

func TestWrongTypeHasHint(t *testing.T) {
	for text, want := range map[string]string{
		"act: a\nactions: [{type: say, start_ms: 0, timeout_ms: 900, text: hi}]":      "texts are by language",
		"act: a\nactions: [{type: say, start_ms: 0, timeout_ms: 1s, text: {en: hi}}]": "milliseconds",
		"act: a\nactions: [hello]": "an action has a type",
		"act: a\nactions: [{type: head, start_ms: 0, timeout_ms: 9, yaw_rad: left}]": "a number",
	} {
		if _, ps := ParseAct([]byte(text)); len(ps) != 1 || !strings.Contains(ps[0].Hint, want) {
			t.Errorf("%s: got %q, want a hint with %q", text, ps, want)
		}
	}
	if _, ps := ParseStory([]byte("story: s\nacts: [hello]")); len(ps) != 1 || !strings.Contains(ps[0].Hint, "{act: hello}") {
		t.Errorf("a story whose act is a word: %q", ps)
	}
}
