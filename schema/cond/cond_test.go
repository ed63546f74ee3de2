package cond_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"troupe/schema/cond"
)

func TestConditionOverFacts(t *testing.T) {
	facts := cond.Facts{
		"people": int64(2), "touch": false, "battery": 0.5, "weekday": "sun", "hour": int64(14),
		"labels":   map[string]string{"site": "museum"},
		cond.Since: map[string]float64{"touch": 3},
	}
	for _, c := range []struct {
		text string
		want bool
	}{
		{`people > 0`, true},
		{`people > 2`, false},
		{`people > 0 && battery >= 0.5`, true},
		{`touch`, false},
		{`!touch`, true},
		{`weekday in ["sat", "sun"]`, true},
		{`hour >= 9 && hour < 18`, true},
		{`labels.site == "museum"`, true},
		{`labels.floor == "1"`, false},
		{`has(labels.floor)`, false},
		{`since_s("touch") < 5.0`, true},
		{`since_s("touch") < 1.0`, false},
		{`since_s("push") < 5.0`, false},
		{`dark`, false},
		{`!dark`, false}, // whether it is dark is not known
		{`dark || people > 0`, true},
		{`people > 0 || dark`, true},
		{`dark && people > 0`, false},
		{`battery / 0.0 > 1.0`, true}, // as in IEEE 754
		{`people / 0 > 1`, false},
	} {
		t.Run(c.text, func(t *testing.T) {
			condition, problems := cond.Parse(c.text)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if got := condition.Eval(facts); got != c.want {
				t.Errorf("it is %v, want %v", got, c.want)
			}
		})
	}
}

func TestRefusedCondition(t *testing.T) {
	for _, c := range []struct{ text, code, detail, hint string }{
		{``, "empty_condition", "empty", "people"},
		{`peple > 0`, "unknown_key", `conditions have no key or function peple (character 1 of "peple > 0")`, "people, touch"},
		{`touch && nobody`, "unknown_key", "nobody (character 10", ""},
		{`people`, "not_a_condition", "people is a whole number, which is neither", "people > 0"},
		{`battery > "x"`, "bad_condition", "> has a number with a decimal point on its left and a text on its right", "a number, without quotes"},
		{`weekday == 1`, "bad_condition", "== has a text on its left and a whole number on its right", `weekday == "mon"`},
		{`battery < 1`, "bad_condition", "(character 9", "write 1.0 in place of 1"},
		{`people > 2.0`, "bad_condition", "", "write 2 in place of 2.0"},
		{`people = 1`, "bad_condition", "one = compares nothing (character 8", "=="},
		{`people > `, "bad_condition", "character", ""},
		{`[1, 2].all(x, x > 0)`, "unknown_key", "function all", ""},
		{`@since["x"] > 1.0`, "bad_condition", "", ""},
		{strings.Repeat("touch || ", 200) + "touch", "too_long", "1000 are allowed", ""},
		{strings.Repeat("(", 60) + "touch" + strings.Repeat(")", 60), "bad_condition", "", ""},
	} {
		t.Run(c.code+" "+c.text[:min(len(c.text), 20)], func(t *testing.T) {
			_, problems := cond.Parse(c.text)
			if len(problems) == 0 {
				t.Fatal("it was taken")
			}
			p := problems[0]
			if p.Code != c.code || !strings.Contains(p.Detail, c.detail) || !strings.Contains(p.Hint, c.hint) || p.Pointer != "" {
				t.Errorf("the problem is %+v", p)
			}
		})
	}
}

func TestExplanationNamesThePartThatIsNotTrue(t *testing.T) {
	condition, problems := cond.Parse(`people > 0 && (touch || sound) && battery>0.3 && since_s("push") > 60.0`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	parts := condition.Explain(cond.Facts{"people": int64(1), "touch": false, "battery": 0.2, cond.Since: map[string]float64{}})
	var got []string
	for _, p := range parts {
		got = append(got, p.String())
	}
	want := []string{
		`people > 0 is true`,
		`touch || sound is not true: sound unknown`,
		`battery > 0.3 is not true`,
		`since_s("push") > 60.0 is not true: no such key: push`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("it explains\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if parts[2].Facts["battery"] != 0.2 {
		t.Errorf("it read battery as %v", parts[2].Facts["battery"])
	}
}

// Whatever a condition is made of: it is true exactly when all of its parts are.
func TestConditionIsTrueWhenAllPartsAre(t *testing.T) {
	atoms := []string{"touch", "!touch", "dark", "people > 1", "people <= 1", "battery > 0.5", `mode == "ato"`, `since_s("x") > 2.0`, "(sound || touch)"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(atoms), 1, 5).Draw(t, "atoms"), " && ")
		facts := cond.Facts{cond.Since: map[string]float64{}}
		if rapid.Bool().Draw(t, "since known") {
			facts[cond.Since] = map[string]float64{"x": rapid.Float64Range(0, 4).Draw(t, "since")}
		}
		for _, key := range []string{"touch", "dark", "sound"} {
			if rapid.Bool().Draw(t, key+" known") {
				facts[key] = rapid.Bool().Draw(t, key)
			}
		}
		if rapid.Bool().Draw(t, "people known") {
			facts["people"] = rapid.Int64Range(0, 3).Draw(t, "people")
		}
		if rapid.Bool().Draw(t, "battery known") {
			facts["battery"] = rapid.Float64Range(0, 1).Draw(t, "battery")
		}
		condition, problems := cond.Parse(text)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		all := true
		for _, p := range condition.Explain(facts) {
			all = all && p.True
		}
		if got := condition.Eval(facts); got != all {
			t.Fatalf("%s is %v, its parts %v", text, got, condition.Explain(facts))
		}
	})
}

func TestHoldCountsFromTheLastInterruption(t *testing.T) {
	var h cond.Hold
	const d = 3 * time.Second
	for _, c := range []struct {
		at          time.Duration
		truth, want bool
	}{
		{0, true, false}, {2 * time.Second, true, false}, {3 * time.Second, true, true}, {4 * time.Second, true, true},
		{5 * time.Second, false, false}, {6 * time.Second, true, false}, {8 * time.Second, true, false}, {9 * time.Second, true, true},
	} {
		if got := h.Step(c.at, c.truth, d); got != c.want {
			t.Errorf("at %v it holds: %v, want %v", c.at, got, c.want)
		}
	}
	if got := h.TrueFor(10 * time.Second); got != 4*time.Second {
		t.Errorf("it has been true for %v, want 4s", got)
	}
	if !new(cond.Hold).Step(0, true, 0) {
		t.Error("without a time it does not hold at once")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`people > 0 && since_s("touch") < 5.0`)
	f.Add(`labels.site.matches("m.*") ? touch : !dark`)
	f.Fuzz(func(t *testing.T, text string) {
		c, problems := cond.Parse(text)
		if (c == nil) != (len(problems) > 0) {
			t.Fatalf("%q has a condition %v and problems %v", text, c, problems)
		}
		if c != nil {
			c.Eval(cond.Facts{})
			c.Explain(cond.Facts{"people": int64(1)})
		}
	})
}

func BenchmarkEval(b *testing.B) {
	c, problems := cond.Parse(`people > 0 && battery > 0.3 && since_s("touch") < 5.0`)
	if len(problems) > 0 {
		b.Fatal(problems)
	}
	facts := cond.Facts{"people": int64(1), "battery": 0.5, cond.Since: map[string]float64{"touch": 3}}
	b.ReportAllocs()
	for b.Loop() {
		if !c.Eval(facts) {
			b.Fatal("it is not true")
		}
	}
}

func TestUsesOfACondition(t *testing.T) {
	for _, c := range []struct {
		text   string
		keys   []string
		sinces []cond.SinceUse
	}{
		{`people > 0 && (touch || people > 3)`, []string{"people", "touch"}, nil},
		{`since_s("touch") < 5.0`, nil, []cond.SinceUse{{"touch", 5 * time.Second}}},
		{`60.0 <= since_s("touch") && sound`, []string{"sound"}, []cond.SinceUse{{"touch", time.Minute}}},
		{`since_s("a") - since_s("b") > 1.0`, nil, []cond.SinceUse{{"a", 0}, {"b", 0}}},
		{`since_s(touch_area) > 1.0`, []string{"touch_area"}, []cond.SinceUse{{"", 0}}},
		{`since_s("a") > battery`, []string{"battery"}, []cond.SinceUse{{"a", 0}}},
	} {
		condition, problems := cond.Parse(c.text)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if got := condition.Keys(); !slices.Equal(got, c.keys) {
			t.Errorf("%s names %v, want %v", c.text, got, c.keys)
		}
		if got := condition.Sinces(); !slices.Equal(got, c.sinces) {
			t.Errorf("%s has the times %v, want %v", c.text, got, c.sinces)
		}
	}
}
