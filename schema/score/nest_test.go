package score

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"troupe/schema"
)

// library parses acts, each in one line of YAML.
func library(t *testing.T, texts ...string) map[string]Act {
	acts := map[string]Act{}
	for _, text := range texts {
		a, ps := ParseAct([]byte(text))
		if len(ps) > 0 {
			t.Fatalf("%s: %q", text, ps)
		}
		acts[a.ID] = a
	}
	return acts
}

const (
	hello = `{act: hello, parameters: {guest: {type: string, default: friend}}, method: exclusive, actions: [
	  {type: say, id: words, start_ms: 0, timeout_ms: 5000, text: {en: "Hello ${guest}"}}, {type: wait, start_ms: 0, end_ms: 1000}]}`
	twice = `{act: twice, parameters: {who: {type: string}}, actions: [
	  {type: act, id: first, start_ms: 0, act: hello, with: {guest: "dear ${who}"}}, {type: act, start_ms: 500, act: hello}, {type: face, start_ms: 0, face: smile}]}`
)

func TestNestedActIsAGroupWithItsParameters(t *testing.T) {
	acts := library(t, hello, twice, `{act: outer, actions: [{type: act, start_ms: 100, act: twice, with: {who: Ada}}]}`)
	for id, a := range acts {
		if ps := schema.Errors(ValidateActWith(a, In(acts))); len(ps) > 0 {
			t.Errorf("%s: %q", id, ps)
		}
	}
	whole, ps := acts["outer"].Expand(In(acts))
	if len(ps) > 0 || whole.nests() {
		t.Fatalf("%+v: %q", whole, ps)
	}
	var got []string
	whole.walk(func(p string, x *Action, _ int) {
		got = append(got, fmt.Sprintf("%s %s %s %s %s", p, x.Type(), x.ID, x.Method, x.Text()["en"]))
	})
	want := strings.Join([]string{
		"/actions/0 group   ",
		"/actions/0/actions/0 group twice/first exclusive ",
		"/actions/0/actions/0/actions/0 say twice/first/words  Hello dear Ada",
		"/actions/0/actions/0/actions/1 wait   ",
		"/actions/0/actions/1 group  exclusive ",
		"/actions/0/actions/1/actions/0 say twice/hello/words  Hello friend",
		"/actions/0/actions/1/actions/1 wait   ",
		"/actions/0/actions/2 face   ",
	}, "\n")
	if all := strings.Join(got, "\n"); all != want {
		t.Errorf("expanded to\n%s\nwant\n%s", all, want)
	}
	if x := acts["twice"].Actions[0]; x.Type() != TypeAct || x.Do.(PerformAct).With["guest"] != "dear ${who}" {
		t.Errorf("the library's act was changed: %+v", x)
	}
	if moved, ps := acts["twice"].Expand(In(acts)); len(ps) > 0 || moved.Resolve(Step{With: map[string]string{"who": "Bea"}}).
		Actions[0].Inner()[0].Text()["en"] != "Hello dear Bea" {
		t.Errorf("the parameter of the act around it was not filled in: %+v %q", moved, ps)
	}
}

func TestNestedActIsRefusedAtTheActionThatPerformsIt(t *testing.T) {
	wide := `{act: wide, actions: [` + strings.Repeat(`{type: wait, start_ms: 0, end_ms: 900},`, 250) + `{type: wait, start_ms: 0, end_ms: 9}]}`
	deep := `{type: face, start_ms: 0, face: smile}`
	for range 5 {
		deep = `{type: group, start_ms: 0, actions: [` + deep + `]}`
	}
	long := `{act: long, actions: [` + strings.Repeat(`{type: say, start_ms: 0, end_ms: 100, text: {en: "`+strings.Repeat("x", 1000)+`"}, method: exclusive},`, 40) + `{type: wait, start_ms: 0, end_ms: 9}]}`
	acts := library(t, hello, twice, wide, long,
		`{act: a, actions: [{type: act, start_ms: 0, act: b}]}`,
		`{act: b, actions: [{type: group, start_ms: 0, actions: [{type: act, start_ms: 0, act: c}]}]}`,
		`{act: c, actions: [{type: wait, start_ms: 0, end_ms: 9}, {type: act, start_ms: 0, act: a}]}`,
		`{act: self, actions: [{type: act, start_ms: 0, act: self}]}`,
		`{act: smiles, actions: [{type: face, start_ms: 500, face: smile}]}`,
		`{act: deep, actions: [`+deep+`]}`)
	for text, want := range map[string]string{
		`{act: a, actions: [{type: act, start_ms: 0, act: b}]}`:                                                                                  "cycle /actions/0/act a > b > c > a",
		`{act: self, actions: [{type: act, start_ms: 0, act: self}]}`:                                                                            "cycle /actions/0/act self > self",
		`{act: x, actions: [{type: wait, start_ms: 0, end_ms: 9}, {type: act, start_ms: 0, act: c}]}`:                                            "cycle /actions/1/act x > c > a > b > c",
		`{act: x, actions: [{type: act, start_ms: 0, act: gone}]}`:                                                                               "unknown_act /actions/0/act gone",
		`{act: x, actions: [{type: act, start_ms: 0, act: hello, with: {name: Ada}}]}`:                                                           "unknown_parameter /actions/0/with/name",
		`{act: x, actions: [{type: act, start_ms: 0, act: hello, with: {guest: "${who}"}}]}`:                                                     "unknown_parameter /actions/0/with/guest",
		`{act: x, actions: [{type: act, start_ms: 0, act: wide}, {type: act, start_ms: 0, act: wide}]}`:                                          "too_many /actions/1",
		`{act: x, actions: [{type: group, start_ms: 0, actions: [{type: group, start_ms: 0, actions: [{type: act, start_ms: 0, act: deep}]}]}]}`: "too_deep /actions/0/actions/0/actions/0 x > deep",
		`{act: x, actions: [{type: act, start_ms: 0, act: long}, {type: act, start_ms: 0, act: long}]}`:                                          "too_big /actions",
		`{act: x, actions: [{type: act, start_ms: 0, act: smiles}, {type: face, start_ms: 0, end_ms: 501, face: sad}]}`:                          "overlap /actions/1/start_ms /actions/0/actions/0",
		`{act: x, actions: [{type: face, start_ms: 0, end_ms: 501, face: sad}, {type: act, start_ms: 0, act: smiles}]}`:                          "overlap /actions/1 in the act smiles, /actions/0/start_ms",
		`{act: x, actions: [{type: act, start_ms: 0, act: hello, end_ms: 900}]}`:                                                                 "wrong_end /actions/0/end_ms",
		`{act: x, actions: [{type: act, start_ms: 0}]}`:                                                                                          "missing /actions/0/act",
	} {
		a, ps := ParseAct([]byte(text))
		ps = append(ps, ValidateActWith(a, In(acts))...)
		f := strings.SplitN(want, " ", 3)
		if len(ps) != 1 || ps[0].Code != f[0] || ps[0].Pointer != f[1] || len(f) == 3 && !strings.Contains(ps[0].Detail, f[2]) {
			t.Errorf("%s: got %q, want %s", text, ps, want)
		}
	}
}

func TestProblemsOfNestedActsAreInAFixedOrder(t *testing.T) {
	b := PublishedStory{Acts: map[string]Act{}}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		b.Acts[id] = library(t, fmt.Sprintf(`{act: %s, actions: [{type: act, start_ms: 0, act: %[1]s}]}`, id))[id]
	}
	_, first := b.Expand()
	for range 50 {
		if _, again := b.Expand(); !slices.Equal(first, again) {
			t.Fatalf("%q, then %q", first, again)
		}
	}
}

func TestPublishedStoryHasTheActsThatItsActsPerform(t *testing.T) {
	acts := library(t, hello, twice, `{act: spare, actions: [{type: wait, start_ms: 0, end_ms: 9}]}`)
	data, _, err := EncodePublishedStory(Story{ID: "s", Name: Text{"en": "S"}, Repeat: Repeat{Loop: true},
		Acts: []Step{{Act: "twice", With: map[string]string{"who": "Ada"}}}}, acts, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, ps := ParsePublishedStory(data)
	if ps = append(ps, ValidatePublishedStory(b)...); len(ps) != 0 || len(b.Acts) != 2 {
		t.Fatalf("%d acts: %q", len(b.Acts), ps)
	}
	caps := small
	e, ps := FitStory(b, caps, nil)
	if len(schema.Errors(ps)) != 0 || len(e.Acts) != 1 || e.Acts[0].nests() {
		t.Fatalf("%+v %q", e, ps)
	}
	caps.Units = caps.Units[1:] // without a speaker
	if _, ps := FitStory(b, caps, nil); len(ps) == 0 || ps[0].Code != CodeNoUnit || ps[0].Pointer != "/acts/twice/actions/0" {
		t.Errorf("a body without a speaker: %q", ps)
	}
	delete(b.Acts, "hello")
	if ps := schema.Errors(ValidatePublishedStory(b)); len(ps) == 0 || ps[0].Code != CodeUnknownAct {
		t.Errorf("a story whose act performs a missing one: %q", ps)
	}
}
