package score

import (
	"strings"
	"testing"

	"troupe/schema"
)

var spoken = map[string]Act{
	"both": {ID: "both", Actions: []Action{{TimeoutMS: ms(900), Do: Say{Text: Text{"en": "hello", "de": "hallo"}}}}},
	"one":  {ID: "one", Actions: []Action{{TimeoutMS: ms(900), Do: Say{Text: Text{"en": "hello"}}}}},
	"some": {ID: "some", Actions: []Action{
		{TimeoutMS: ms(900), Do: Say{Text: Text{"en": "hello", "de": "hallo"}}}, {TimeoutMS: ms(900), Do: Say{Text: Text{"de": "hallo"}}},
		{TimeoutMS: ms(900), Do: Screen{Choices: []Choice{{Text: Text{"de": "hallo"}}, {Text: Text{"en": "hello", "de": "hallo"}}}}},
	}},
	"silent": {ID: "silent", Actions: []Action{{Do: Face{Face: "smile"}}}},
}

func inLanguages(languages []string, acts ...string) Story {
	s := Story{ID: "s", Name: Text{"en": "s"}, Languages: languages, Repeat: Repeat{Times: 1}}
	for _, id := range acts {
		s.Acts = append(s.Acts, Step{Act: id})
	}
	return s
}

// A story that declares no languages has those of its texts.
func TestActWithoutALanguageOfTheOthersIsAWarning(t *testing.T) {
	lookup := In(spoken)
	for _, c := range []struct {
		story Story
		want  string
	}{
		{inLanguages(nil, "both", "one", "silent"), "/acts/1/act: the act one has no text in de at /actions/0/text"},
		{inLanguages([]string{"en"}, "some"), "/acts/0/act: the act some has no text in en at /actions/1/text, and 1 more"},
		{inLanguages(nil, "one", "silent"), ""},
		{inLanguages([]string{"en"}, "both", "one"), ""},
	} {
		var got []string
		for _, p := range ValidateStory(c.story, lookup) {
			if p.Code != CodeMissingLanguage || p.Severity != schema.SeverityWarning {
				t.Fatal(p)
			}
			got = append(got, p.Pointer+": "+p.Detail)
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%v: %q, want %q", c.story.Acts, text, c.want)
		}
	}
}

func TestFitLanguageWarnsOfAMixtureOnly(t *testing.T) {
	for _, c := range []struct {
		speaks []string
		acts   []string
		want   int
	}{
		{[]string{"de", "en"}, []string{"both", "one", "silent"}, 1},
		{[]string{"de-AT", "en"}, []string{"both", "one"}, 1},
		{[]string{"en", "de"}, []string{"both", "one"}, 0},
		{[]string{"de", "en"}, []string{"one"}, 0},
		{nil, []string{"both", "one"}, 0},
	} {
		got := FitLanguage(PublishedStory{Story: inLanguages(nil, c.acts...), Acts: spoken}, schema.Caps{Languages: c.speaks})
		if len(got) != c.want || len(schema.Errors(got)) > 0 {
			t.Errorf("%v, %v: %v", c.speaks, c.acts, got)
		}
	}
}
