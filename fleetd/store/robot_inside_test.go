package store

import (
	"strings"
	"testing"

	"troupe/schema"
)

func TestRepeatedDocumentIsRecognized(t *testing.T) {
	const was = `{"ts":"2026-05-17T09:30:00Z","session":"s1","state_seq":7,"mode":{"active":"ato"},"battery":{"percent":80}}`
	for name, c := range map[string]struct {
		body    string
		repeats bool
	}{
		"the same bytes":  {was, true},
		"another time":    {strings.Replace(was, "09:30", "09:31", 1), true},
		"another number":  {strings.Replace(was, ":7", ":8", 1), true},
		"another session": {strings.Replace(was, "s1", "s2", 1), true},
		"all three":       {`{"ts":"x","session":"y","state_seq":9,"mode":{"active":"ato"},"battery":{"percent":80}}`, true},
		"no session":      {strings.Replace(was, `"session":"s1",`, "", 1), false},
		"another order": {`{"session":"s1","ts":"2026-05-17T09:30:00Z","state_seq":7,"mode":{"active":"ato"},"battery":{"percent":80}}`,
			false},
		"it ends in its time":    {was[:len(was)-1] + `,"ts":"x"}`, false},
		"another value":          {strings.Replace(was, "80", "79", 1), false},
		"a time further inside":  {strings.Replace(was, `"percent"`, `"ts"`, 1), false},
		"a member less":          {strings.Replace(was, `,"battery":{"percent":80}`, "", 1), false},
		"a member more":          {strings.Replace(was, `"mode"`, `"x":1,"mode"`, 1), false},
		"a member more, at last": {strings.Replace(was, `80}}`, `80},"x":1}`, 1), false},
		"nothing":                {"", false},
		"no object":              {`[1]`, false},
		"half of it":             {was[:60], false},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := Document{Robot: "r1", Kind: schema.TopicState, Body: []byte(was)},
				Document{Robot: "r1", Kind: schema.TopicState, Body: []byte(c.body)}
			if after.Repeats(before) != c.repeats || before.Repeats(after) != c.repeats {
				t.Errorf("repeats: %v, and the other way %v", after.Repeats(before), before.Repeats(after))
			}
		})
	}
	const text = `{"word":"a \\\"ts\\\": \\\\","ts":"%","last":["ts",{"ts":"x"}],"state_seq":%}`
	said := func(with string) Document { return Document{Body: []byte(strings.ReplaceAll(text, "%", with))} }
	if !said("1").Repeats(said("22")) {
		t.Error("names in strings and lists hide the members")
	}
	if (Document{Body: []byte(was)}).Repeats(Document{}) {
		t.Error("the first document repeats nothing")
	}
}

func BenchmarkRepeats(b *testing.B) {
	body := `{"ts":"2026-05-17T09:30:00Z","session":"s1","state_seq":7` + strings.Repeat(`,"member":{"of":["some","length"],"n":12}`, 1)
	for i := range 40 {
		body += `,"m` + strings.Repeat("x", i) + `":{"of":["some","length"]}`
	}
	body += "}"
	was, is := Document{Body: []byte(body)}, Document{Body: []byte(strings.Replace(body, ":7", ":8", 1))}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if !is.Repeats(was) {
			b.Fatal("it differs")
		}
	}
}
