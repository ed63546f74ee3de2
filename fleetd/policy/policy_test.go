package policy

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"troupe/fleetd/content"
	"troupe/fleetd/desired"
	"troupe/fleetd/library"
	"troupe/fleetd/selector"
	"troupe/schema"
)

// contents are of different kinds; those of one kind differ.
var contents = []content.Content{
	{Story: &content.Story{ID: "museum", Rev: 1}}, {Story: &content.Story{ID: "museum", Rev: 2}}, {Story: &content.Story{}},
	{Mode: &desired.Mode{Mode: schema.ModeAto, Apply: schema.ApplyModeBoot}},
	{Activities: &content.Activities{Pins: []library.Pin{{ID: "greet", Rev: 1}}}},
}

var somePolicies = rapid.Custom(func(t *rapid.T) []Policy {
	var all []Policy
	for i := range rapid.IntRange(0, 8).Draw(t, "policies") {
		p := Policy{ID: fmt.Sprintf("p%d", i), Place: rapid.IntRange(0, 3).Draw(t, "place"), Content: rapid.SampledFrom(contents).Draw(t,
			"content"),
			Enabled: rapid.IntRange(0, 4).Draw(t, "enabled") > 0, Selector: selector.All()}
		if labels := someLabels.Draw(t, "labels"); len(labels) > 0 {
			p.Selector = selector.Selector{}
			for key, value := range labels {
				p.Selector.Labels = append(p.Selector.Labels, selector.Label{Key: key, Value: value})
			}
		}
		all = append(all, p)
	}
	return all
})

var someLabels = rapid.MapOf(rapid.SampledFrom([]string{"site", "floor"}), rapid.SampledFrom([]string{"a", "b"}))

// Of the enabled policies that select a robot, exactly one decides each kind of document: none comes before it. Every other one
// that selects the robot is named with a reason, whatever the order of the policies.
func TestOnePolicyDecides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies, labels := somePolicies.Draw(t, "policies"), someLabels.Draw(t, "robot")
		set := SetOf(policies)
		shuffled := SetOf(rapid.Permutation(policies).Draw(t, "order"))
		for _, topic := range content.Topics {
			d := set.Decide(topic, labels, false)
			if other := shuffled.Decide(topic, labels, false); !reflect.DeepEqual(d, other) {
				t.Fatalf("%s: %+v, and in another order %+v", topic, d, other)
			}
			var selecting, told []string
			for _, p := range policies {
				if p.Topic() != topic || !p.Selector.Match(selector.Robot{Labels: labels}) {
					continue
				}
				selecting = append(selecting, p.ID)
				if p.Enabled && (d.Policy == nil || p.Place < d.Policy.Place || p.Place == d.Policy.Place && p.ID < d.Policy.ID) {
					t.Fatalf("%s: %v decides, though %v comes first", topic, d.Policy, p)
				}
			}
			if d.Policy != nil {
				told = append(told, d.Policy.ID)
			}
			for _, l := range d.Losers {
				if l.Why == "" {
					t.Fatalf("%s does not decide, without a reason", l.Policy)
				}
				told = append(told, l.Policy)
			}
			slices.Sort(told)
			if !slices.Equal(told, selecting) {
				t.Fatalf("%s: %q select the robot, told are %q", topic, selecting, told)
			}
			if d.Policy != nil && !d.Policy.Enabled {
				t.Fatalf("%s decides, and is disabled", d.Policy.ID)
			}
		}
	})
}

// A pin always wins: no policy decides, and the explanation still says which one would.
func TestPinWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, labels := SetOf(somePolicies.Draw(t, "policies")), someLabels.Draw(t, "robot")
		topic := rapid.SampledFrom(content.Topics).Draw(t, "topic")
		pinned, free := set.Decide(topic, labels, true), set.Decide(topic, labels, false)
		if pinned.Policy != nil {
			t.Fatalf("%s decides in spite of the pin", pinned.Policy.ID)
		}
		want := len(free.Losers)
		if free.Policy != nil {
			want++
		}
		if len(pinned.Losers) != want {
			t.Fatalf("with the pin %+v do not decide, without it %+v decides", pinned.Losers, free)
		}
		e := set.Explain(topic, labels, true, content.Content{})
		if e.By != ByPin || (e.Policy == nil) != (free.Policy == nil) || e.Policy != nil && e.Policy.ID != free.Policy.ID {
			t.Fatalf("explained as %+v, without the pin %+v decides", e, free)
		}
	})
}

func TestExplanationSaysWhoDecided(t *testing.T) {
	story := func(id string, rev int64) content.Content {
		return content.Content{Story: &content.Story{ID: id, Rev: rev}}
	}
	lobby := Policy{ID: "lobby", Place: 10, Enabled: true, Content: story("museum", 3),
		Selector: selector.Labelled(selector.Label{Key: "site", Value: "lobby"})}
	fleet := Policy{ID: "fleet", Place: 20, Enabled: true, Content: story("other", 1), Selector: selector.All()}
	off := Policy{ID: "off", Place: 1, Content: story("none", 1), Selector: selector.All()}
	set := SetOf([]Policy{fleet, off, lobby})
	in, out := map[string]string{"site": "lobby"}, map[string]string{}
	for _, c := range []struct {
		what   string
		set    Set
		labels map[string]string
		pinned bool
		has    content.Content
		by     Decider
		policy string
		differ bool
		losers string
	}{
		{"a policy", set, in, false, story("museum", 3), ByPolicy, "lobby", false,
			"off: it is disabled; fleet: lobby comes first: place 10, and this has 20"},
		{"a policy that the robot was not given", set, in, false, story("museum", 2), ByPolicy, "lobby", true,
			"off: it is disabled; fleet: lobby comes first: place 10, and this has 20"},
		{"the policy for all", set, out, false, story("other", 1), ByPolicy, "fleet", false, "off: it is disabled"},
		{"a pin against a policy", set, in, true, story("mine", 1), ByPin, "lobby", true,
			"off: it is disabled; lobby: a person pinned what the robot has; fleet: lobby comes first: place 10, and this has 20"},
		{"a pin without a policy", SetOf(nil), in, true, story("mine", 1), ByPin, "", false, ""},
		{"a person", SetOf(nil), in, false, story("mine", 1), ByPerson, "", false, ""},
		{"nobody", SetOf(nil), in, false, content.Content{}, ByNobody, "", false, ""},
	} {
		e := c.set.Explain(schema.TopicDesiredStory, c.labels, c.pinned, c.has)
		id := ""
		if e.Policy != nil {
			id = e.Policy.ID
		}
		var losers []string
		for _, l := range e.Losers {
			losers = append(losers, l.Policy+": "+l.Why)
		}
		if e.By != c.by || id != c.policy || e.Differ != c.differ || strings.Join(losers, "; ") != c.losers {
			t.Errorf("%s: by %s, policy %q, differs %v, losers %q", c.what, e.By, id, e.Differ, losers)
		}
	}
}

// Every problem of a policy is reported at once, at its place, with a way out.
func TestWrongPoliciesAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":            {`{}`, `/content/one_of /policy/bad_id /selector/missing`},
		"no JSON":            {`{"policy":`, `/policy/syntax`},
		"an unknown field":   {`{"policy":"a","robots":"x","selector":{"all":true},"content":{"mode":{"mode":"ato"}}}`, `/robots/unknown_field`},
		"an upper-case name": {`{"policy":"Lobby","selector":{"all":true},"content":{"mode":{"mode":"ato"}}}`, `/policy/bad_id`},
		"a place below 0":    {`{"policy":"a","place":-1,"selector":{"all":true},"content":{"mode":{"mode":"ato"}}}`, `/place/bad_value`},
		"a place too high":   {`{"policy":"a","place":1000001,"selector":{"all":true},"content":{"mode":{"mode":"ato"}}}`, `/place/bad_value`},
		"robots by name":     {`{"policy":"a","selector":{"ids":["r1"]},"content":{"mode":{"mode":"ato"}}}`, `/selector/ids/not_labels`},
		"a wrong name, too":  {`{"policy":"a","selector":{"ids":["R1"]},"content":{"mode":{"mode":"ato"}}}`, `/selector/ids/0/bad_id /selector/ids/not_labels`},
		"robots by state":    {`{"policy":"a","selector":{"doing":["paused"]},"content":{"mode":{"mode":"ato"}}}`, `/selector/not_labels`},
		"all and a label":    {`{"policy":"a","selector":{"all":true,"labels":[{"key":"site","value":"a"}]},"content":{"mode":{"mode":"ato"}}}`, `/selector/ambiguous`},
		"a wrong label":      {`{"policy":"a","selector":{"labels":[{"key":"Site","value":""}]},"content":{"mode":{"mode":"ato"}}}`, `/selector/labels/0/key/bad_id /selector/labels/0/value/bad_value`},
		"no content":         {`{"policy":"a","selector":{"all":true},"content":{}}`, `/content/one_of`},
		"two contents":       {`{"policy":"a","selector":{"all":true},"content":{"mode":{"mode":"ato"},"story":{"id":"x"}}}`, `/content/one_of`},
		"all of it": {`{"policy":"","place":-1,"selector":{"ids":["r1"]},"content":{"mode":{"mode":"ato"},"story":{"id":"x"}}}`,
			`/content/one_of /place/bad_value /policy/bad_id /selector/ids/not_labels`},
	} {
		_, found := Parse([]byte(c.text))
		var got []string
		for _, p := range found {
			got = append(got, p.Pointer+"/"+p.Code)
			if p.Detail == "" || p.Hint == "" && p.Code != "syntax" {
				t.Errorf("%s: %+v has no way out", name, p)
			}
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got %s, want %s", name, text, c.want)
		}
	}
}

func TestTextOfAPolicyIsReadBack(t *testing.T) {
	for _, enabled := range []bool{true, false} {
		p := Policy{ID: "lobby", Place: 10, Enabled: enabled, Selector: selector.Labelled(selector.Label{Key: "site", Value: "lobby"}),
			Content: contents[0]}
		text, err := schema.Encode(TextOf(p))
		if err != nil {
			t.Fatal(err)
		}
		if got, found := Parse(text); len(found) > 0 || !reflect.DeepEqual(got, p) {
			t.Errorf("%s: %+v %v", text, got, found)
		}
	}
}

func TestOverlapsAreCounted(t *testing.T) {
	lobby := selector.Labelled(selector.Label{Key: "site", Value: "lobby"})
	b := Policy{ID: "b", Place: 10, Enabled: true, Content: contents[0], Selector: selector.All()}
	set := SetOf([]Policy{b, {ID: "a", Place: 10, Enabled: true, Content: contents[1], Selector: lobby}, {ID: "c", Place: 20, Enabled: true,
		Content: contents[1], Selector: lobby},
		{ID: "off", Place: 5, Content: contents[1], Selector: lobby}, {ID: "mode", Place: 5, Enabled: true, Content: contents[3],
			Selector: lobby}})
	got := set.Overlaps(b, []map[string]string{{"site": "lobby"}, {"site": "lobby"}, {}})
	if want := []Overlap{{"a", 10, 2, true, true}, {"c", 20, 2, false, false}}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if found := Warnings(b, got, 3, 0); len(found) != 2 || found[0].Code != CodeSamePlace || !strings.Contains(found[0].Detail,
		"2 of these robots; a decides") || found[1].Code != CodeOutranked {
		t.Errorf("warnings %+v", found)
	}
	if found := Warnings(b, got[1:], 3, 1); len(found) > 0 {
		t.Errorf("warnings %+v", found)
	}
}

// What a person gives robots contradicts a policy only if they no longer have what it says.
func TestContradictionsOfSettings(t *testing.T) {
	config := func(unset []string, pairs ...string) content.Content {
		c := desired.Config{Set: map[string]jsontext.Value{}, Unset: unset}
		for i := 0; i < len(pairs); i += 2 {
			c.Set[pairs[i]] = jsontext.Value(pairs[i+1])
		}
		return content.Content{Config: &c}
	}
	p := config([]string{"d"}, "a", "1", "b", `{"x": 1, "y": 2}`)
	for _, c := range []struct {
		what  string
		other content.Content
		want  bool
	}{
		{"another setting", config(nil, "c", "1"), false},
		{"the same value, written otherwise", config(nil, "b", `{"y":2,"x":1}`), false},
		{"another value", config(nil, "a", "2"), true},
		{"the default of a setting that it sets", config([]string{"a"}), true},
		{"a value of a setting whose default it wants", config(nil, "d", "1"), true},
		{"the same default", config([]string{"d"}), false},
		{"another kind", contents[0], false},
	} {
		if got := p.Contradicts(c.other); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
	if has := config(nil, "a", "1", "b", `{"x":1,"y":2}`, "c", "7"); !p.Within(has) || p.Within(config(nil, "a", "1")) || p.Within(config(nil, "a", "1", "b", `{"x":1,"y":2}`, "d", "7")) {
		t.Error("what settings a robot has")
	}
}
