package verb

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"troupe/schema"
)

var seeds = []string{"", "ato", "{}", "{{{", `{"id":"k1","args":{"mode":"ato","restart":true}}`, `{"ts":"2026-01-01T00:00:00Z","ttl_ms":5}`,
	`{"args":{"echo":[1,{"a":null}]}}`, `{"id":"00","args":{"mode":""}}`,
	`{"args":{"actions":[{"type":"face","start_ms":1.50e3}],"with":{"b":"\u0041","a":""}}}`, "\x00", "7"}

// FuzzDecode feeds arbitrary payloads to every verb: what is accepted is written
// and read again as the same request.
func FuzzDecode(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		for _, v := range All {
			r, ps := Decode(v, payload)
			if len(ps) != 0 {
				continue
			}
			b, err := Encode(v, r)
			if err != nil {
				t.Fatalf("%s: %q was read as %+v, which cannot be written: %v", v.ID(), payload, r, err)
			}
			if r2, ps := Decode(v, b); len(ps) != 0 || r2 != r {
				t.Fatalf("%s: %q\n%+v\nwritten %s\n%+v %v", v.ID(), payload, r, b, r2, ps)
			}
		}
	})
}

func TestEveryExampleIsAccepted(t *testing.T) {
	for _, v := range All {
		if len(v.Examples) == 0 {
			t.Errorf("%s has no example", v.ID())
		}
		for _, payload := range v.Examples {
			if _, ps := Decode(v, []byte(payload)); len(ps) > 0 {
				t.Errorf("%s %q: %v", v.ID(), payload, ps)
			}
		}
	}
}

// The robot answers with the first problem, and a replay must give the same answer.
func TestProblemsOfACommandAreInAFixedOrder(t *testing.T) {
	for _, payload := range []string{
		`{"ts":"noon","ttl_ms":0,"by":1,"why":2,"seq":0,"if":3,"other":4,"args":{"mode":5,"restart":6,"more":7,"yet":8}}`,
		`{"if":{"mode":"","state_seq":0,"session":"","story_rev":0},"args":{"mode":"ato"}}`,
	} {
		_, first := Decode(Must("mode", "set"), []byte(payload))
		for range 50 {
			if _, again := Decode(Must("mode", "set"), []byte(payload)); !slices.Equal(first, again) {
				t.Fatalf("%s\n%q, then %q", payload, first, again)
			}
		}
	}
}

func TestBareWordEqualsJSONArgument(t *testing.T) {
	v := Must("mode", "set")
	word, ps := Decode(v, []byte("ato\n"))
	if len(ps) != 0 {
		t.Fatal(ps)
	}
	obj, ps := Decode(v, []byte(`{"args":{"mode":"ato"}}`))
	if len(ps) != 0 || word != obj || word.Args != (SetMode{Mode: schema.ModeAto}) {
		t.Errorf("word %+v, object %+v, %v", word, obj, ps)
	}
}

func TestBadCommandIsRefusedAtPointer(t *testing.T) {
	set := Must("mode", "set")
	start := Must("auto", "start")
	pause := Must("auto", "pause")
	say := Must("manual", "say")
	adopt := Must("sys", "adopt")
	long := strings.Repeat("x", schema.MaxShortText+1)
	for _, c := range []struct {
		v             Verb
		payload       string
		pointer, code string
		id            string
	}{
		{set, ``, "/args/mode", "missing", ""},
		{set, `{}`, "/args/mode", "missing", ""},
		{set, `{{{`, "", "syntax", ""},
		{set, `{"args":{"mode":"ato"}} x`, "", "trailing_data", ""},
		{set, `{"args":{"mode":"ato","mode":"mnl"}}`, "/args/mode", "duplicate_key", ""},
		{set, `{"id":"k1","Args":{"mode":"ato"}}`, "/Args", "unknown_field", "k1"},
		{set, `{"id":"k1","args":{"mode":7}}`, "/args/mode", "bad_type", "k1"},
		{set, `{"id":"k1","args":{"mode":"ato","force":true}}`, "/args/force", "unknown_argument", "k1"},
		{set, `{"id":"no spaces","args":{"mode":"ato"}}`, "/id", "bad_id", ""},
		{set, `{"id":"k1","ttl_ms":99999999,"args":{"mode":"ato"}}`, "/ttl_ms", "out_of_range", "k1"},
		{set, `{"id":"k1","ts":"yesterday","args":{"mode":"ato"}}`, "/ts", "bad_value", "k1"},
		{set, "a\x00b", "", "syntax", ""},
		{set, strings.Repeat("a", 300), "", "too_long", ""},
		{start, "now", "", "unknown_argument", ""},
		{start, `{"id":"k1","seq":7}`, "/session", "missing", "k1"},
		{start, `{"id":"k1","seq":0,"session":"s"}`, "/seq", "out_of_range", "k1"},
		{start, `{"id":"k1","if":{"state":7}}`, "/if/state", "unknown_field", "k1"},
		{start, `{"id":"k1","if":{"state_seq":"7"}}`, "/if/state_seq", "bad_type", "k1"},
		{start, `{"id":"k1","if":null}`, "/if", "bad_type", "k1"},
		{start, `{"id":"k1","if":{"mode":null}}`, "/if/mode", "out_of_range", "k1"},
		{start, `{"id":"k1","ts":null}`, "/ts", "bad_type", "k1"},
		{start, `{"id":null}`, "/id", "bad_type", ""},
		{start, `{"id":"k1","args":null}`, "/args", "bad_type", "k1"},
		{set, `{"id":"k1","args":{"mode":null}}`, "/args/mode", "bad_type", "k1"},
		{set, `{"id":"k1","args":{"mode":"ato","restart":null}}`, "/args/restart", "bad_type", "k1"},
		{start, `{"id":"k1","by":"` + long + `"}`, "/by", "too_long", "k1"},
		{start, `{"id":"k1","why":"` + long + `"}`, "/why", "too_long", "k1"},
		{start, `{"id":"k1","batch":"` + long + `"}`, "/batch", "too_long", "k1"},
		{start, `{"id":"k1","session":"` + long + `","seq":1}`, "/session", "too_long", "k1"},
		{start, `{"id":"k1","by":"\u001b[2J"}`, "/by", "unprintable", "k1"},
		{pause, `{"id":"k1","args":{"why":"a\nb"}}`, "/args/why", "unprintable", "k1"},
		{pause, `{"id":"k1","args":{"why":"` + "\u202e" + `live"}}`, "/args/why", "unprintable", "k1"},
		{say, `{"id":"k1","args":{"text":"` + strings.Repeat("ä", schema.MaxText+1) + `"}}`, "/args/text", "too_long", "k1"},
		{say, "\ufeffhello", "", "syntax", ""},
		{adopt, `{"id":"k1","args":{"fleet_id":"home"}}`, "/args/fleet_id", "bad_id", "k1"},
		{adopt, `{"id":"k1","args":{"fleet_id":""}}`, "/args/fleet_id", "bad_id", "k1"},
		{adopt, `B108326F-f261-4a6b-ad48-fee8efb991ba`, "/args/fleet_id", "bad_id", ""},
	} {
		r, ps := Decode(c.v, []byte(c.payload))
		found := false
		for _, p := range ps {
			found = found || p.Pointer == c.pointer && p.Code == c.code
		}
		if !found || r.ID != c.id {
			t.Errorf("%s %.40q: id %q, problems %q; want %s at %q, id %q", c.v.ID(), c.payload, r.ID, ps, c.code, c.pointer, c.id)
		}
	}
}

// Senders may add fields of their own with the prefix x_.
func TestFieldsWithPrefixXAreIgnored(t *testing.T) {
	v := Must("mode", "set")
	r, ps := Decode(v, []byte(`{"id":"k1","x_ticket":{"deep":[1,null]},"x_none":null,"args":{"mode":"ato","x_colour":"blue"}}`))
	if want := (Request{Envelope: schema.Envelope{ID: "k1"}, Args: SetMode{Mode: schema.ModeAto}}); len(ps) != 0 || r != want {
		t.Errorf("%+v, %v", r, ps)
	}
}

// Texts have a greater limit than words.
func TestTextsHaveTheirOwnLimit(t *testing.T) {
	say := Must("manual", "say")
	text := strings.Repeat("ä", schema.MaxText)
	for _, payload := range []string{text, `{"args":{"text":"` + text + `"}}`} {
		if r, ps := Decode(say, []byte(payload)); len(ps) != 0 || r.Args != (Say{Text: Text(text)}) {
			t.Errorf("%.20s...: %.20v, %v", payload, r.Args, ps)
		}
	}
}

// A stop with any texts is accepted, and its texts become printable and short.
func TestTextsOfStopAreTruncatedNotRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom([]string{"stop", "halt", "estop"}).Draw(t, "verb")
		verb := Must("safety", v)
		text := rapid.OneOf(rapid.String(),
			rapid.SampledFrom([]string{strings.Repeat("x", 17000), strings.Repeat("\x01", 256), strings.Repeat("\"", 300), "\x1b[2J", "\ufeff"}))
		sent := schema.Envelope{ID: "k1", By: text.Draw(t, "by"), Why: text.Draw(t, "why"), Batch: text.Draw(t, "batch"),
			Session: text.Draw(t, "session")}
		why := text.Draw(t, "reason")
		payload, err := Encode(verb, Request{sent, Stop{Why: why, Latch: "l1"}})
		if err != nil {
			t.Fatal(err)
		}
		got, ps := Decode(verb, payload)
		want := Request{
			schema.Envelope{ID: "k1", By: schema.SanitizeText(sent.By), Why: schema.SanitizeText(sent.Why), Batch: schema.SanitizeText(sent.Batch),
				Session: schema.SanitizeText(sent.Session)},
			Stop{Why: schema.SanitizeText(why), Latch: "l1"},
		}
		if len(ps) != 0 || got != want {
			t.Fatalf("%+v became %+v, %v", sent, got, ps)
		}
	})
}

func TestRequestSurvivesEncoding(t *testing.T) {
	v := Must("mode", "set")
	want := Request{schema.Envelope{ID: "k1", TS: 1_700_000_000_123, TTLMS: 500, By: "ann", Why: "opening", Batch: "b1", Session: "s1", Seq: 3,
		If: schema.Precondition{Mode: schema.ModeMnl, StateSeq: 8, Session: "s2", StoryRev: 2}}, SetMode{Mode: schema.ModeAto, Restart: true}}
	b, err := Encode(v, want)
	if err != nil {
		t.Fatal(err)
	}
	got, ps := Decode(v, b)
	if len(ps) != 0 || got != want {
		t.Errorf("%s: got %+v, %v", b, got, ps)
	}
}

// Brokers of older releases rely on this when they let an operator's unknown verb through.
// The two exceptions exist since the first release.
func TestVerbsOfOpenGroupsAreForOperators(t *testing.T) {
	for _, v := range All {
		known := v.ID() == "mode/enable" || v.ID() == "mode/disable"
		if slices.Contains(OpenGroups, v.Group) && !v.Allows(schema.RoleOperator) && !known {
			t.Errorf("%s is only for administrators; it belongs in a group that is not open", v.ID())
		}
		if v.Group == IntentGroup && !v.Allows(schema.RoleResponder) {
			t.Errorf("%s is not for responders; it belongs in another group", v.ID())
		}
	}
	if AllowsUnknown("safety", schema.RoleStop) || AllowsUnknown("sys", schema.RoleOperator) || AllowsUnknown("robot", schema.RoleOperator) ||
		!AllowsUnknown("mode", schema.RoleOperator) ||
		!AllowsUnknown("intent", schema.RoleResponder) || AllowsUnknown("act", schema.RoleResponder) ||
		AllowsUnknown("mode", schema.RoleResponder) || AllowsUnknown("intent", schema.RoleStop) || AllowsUnknown("intent", schema.RoleObserver) {
		t.Error("the roles that may send unlisted verbs have changed")
	}
}
