package intents

import (
	"maps"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

func parse(t *testing.T, text string) []Row {
	t.Helper()
	table, problems := Parse(jsontext.Value(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return table
}

// TestTheMostSpecificRowCounts has a table in an order in which neither the first nor the
// last row that fits is always the right one.
func TestTheMostSpecificRowCounts(t *testing.T) {
	table := parse(t, `[{"act":"default"},{"intent":"greet","act":"greet"},{"emotion":"joy","act":"joy"},{"intent":"greet","emotion":"joy","act":"greet-joy"},{"intent":"sad","resulting_emotion":"sad"}]`)
	for _, c := range []struct{ intent, emotion, want string }{
		{"greet", "", "greet"},
		{"greet", "sad", "greet"},
		{"greet", "joy", "greet-joy"},
		{"dance", "joy", "joy"},
		{"dance", "", "default"},
		{"sad", "joy", ""},
	} {
		if row := Match(table, c.intent, c.emotion); row == nil || row.Act != c.want {
			t.Errorf("%s in emotion %q: %+v, want %s", c.intent, c.emotion, row, c.want)
		}
	}
	if row := Match(table[1:2], "dance", ""); row != nil {
		t.Errorf("a table without default row has %+v for an intent that it does not name", row)
	}
	if does := Match(table, "sad", "").Reaction(); does != nil {
		t.Errorf("a row that changes only the emotion does %+v", does)
	}
}

func TestSlotsAreValuesOfTheAct(t *testing.T) {
	table := parse(t, `[{"intent":"greet","act":"welcome","with":{"guest":"${title} ${guest}","place":"here","room":"${room}"}}]`)
	got := table[0].Values(map[string]string{"guest": "${room}", "title": "Dr", "else": "x"})
	if want := map[string]string{"guest": "Dr ${room}", "place": "here"}; !maps.Equal(got, want) {
		t.Errorf("the values are %v, want %v", got, want)
	}
}

func TestWrongTablesAreRefused(t *testing.T) {
	for _, c := range []struct{ table, pointer, says string }{
		{`{}`, "", "does not fit"},
		{`null`, "", "list"},
		{`[{"act":"a"}` + strings.Repeat(`,{"act":"a"}`, MaxRows) + `]`, "", "at most 64"},
		{`[{"intent":"a","does":"b"}]`, "/0/does", "does"},
		{`[{"intent":"a b","act":"c"}]`, "/0/intent", "not a name"},
		{`[{"emotion":"` + strings.Repeat("x", 65) + `","act":"c"}]`, "/0/emotion", "not a name"},
		{`[{"resulting_emotion":"\n"}]`, "/0/resulting_emotion", "not a name"},
		{`[{"intent":"a","act":"B"}]`, "/0/act", "not a name"},
		{`[{"intent":"a","activity":"B"}]`, "/0/activity", "not a name"},
		{`[{"intent":"a","interrupt":"B"}]`, "/0/interrupt", "not a name"},
		{`[{"intent":"a","mode":"B"}]`, "/0/mode", "not a name"},
		{`[{"intent":"a","act":"b","mode":"ato"}]`, "/0", "2 of act"},
		{`[{"intent":"a"}]`, "/0", "nothing"},
		{`[{"intent":"a","mode":"ato","clear":true}]`, "/0", "no"},
		{`[{"intent":"a","mode":"ato","with":{"x":"y"}}]`, "/0", "none"},
		{`[{"intent":"a","act":"b","with":{"x":"${a b}"}}]`, "/0/with/x", "slot"},
		{`[{"intent":"a","act":"b"},{"intent":"a","act":"c"}]`, "/1", "same intent"},
	} {
		problems := CheckSetting(TableSetting, jsontext.Value(c.table))
		if len(problems) == 0 || problems[0].Pointer != c.pointer || !strings.Contains(problems[0].String(), c.says) {
			t.Errorf("%.60s: %v, want %q at %q", c.table, problems, c.says, c.pointer)
		}
	}
	if problems := CheckSetting("labels", jsontext.Value(`{}`)); len(problems) > 0 {
		t.Errorf("another setting: %v", problems)
	}
}

func TestIntentsAreBounded(t *testing.T) {
	high, slots := 1.5, map[string]string{}
	for i := range schema.MaxSlots + 1 {
		slots[strings.Repeat("s", i+1)] = ""
	}
	for _, c := range []struct {
		u       schema.Utterance
		pointer string
	}{
		{schema.Utterance{}, "/name"},
		{schema.Utterance{Name: "two words"}, "/name"},
		{schema.Utterance{Name: strings.Repeat("x", 65)}, "/name"},
		{schema.Utterance{Name: "a", Emotion: "b c"}, "/emotion"},
		{schema.Utterance{Name: "a", Text: strings.Repeat("x", 1001)}, "/text"},
		{schema.Utterance{Name: "a", Text: "a\nb"}, "/text"},
		{schema.Utterance{Name: "a", Confidence: &high}, "/confidence"},
		{schema.Utterance{Name: "a", Slots: slots}, "/slots"},
		{schema.Utterance{Name: "a", Slots: map[string]string{"a b": "c"}}, "/slots/a b"},
		{schema.Utterance{Name: "a", Slots: map[string]string{"b": strings.Repeat("x", 257)}}, "/slots/b"},
	} {
		if problems := c.u.Problems(""); len(problems) != 1 || problems[0].Pointer != c.pointer {
			t.Errorf("%.80v: %v, want one problem at %s", c.u, problems, c.pointer)
		}
	}
	low := 0.0
	u := schema.Utterance{Name: "makeDogNeutral", Text: strings.Repeat("ü", 1000), Emotion: "joy", Confidence: &low,
		Slots: map[string]string{"guest": "Ann"}}
	if problems := u.Problems(""); len(problems) > 0 {
		t.Error(problems)
	}
}
