package schema

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestEveryReasonIsDescribedOnce(t *testing.T) {
	seen := map[Reason]bool{}
	for _, r := range Reasons {
		if seen[r.Reason] || r.Text == "" || r.Retry == "" {
			t.Errorf("reason %q: twice, or without text or retry", r.Reason)
		}
		seen[r.Reason] = true
	}
}

func TestTopicsAreBuiltAndMatched(t *testing.T) {
	const ns = DefaultNamespace
	params := map[string]string{"{rid}": "r1", "{cid}": "op1", "{group}": "mode", "{verb}": "set", "{name}": "drive", "{sha256}": strings.Repeat("ab", 32)}
	for _, row := range Topics {
		var fill []string
		for _, l := range strings.Split(row.Pattern, "/") {
			if v, ok := params[l]; ok {
				fill = append(fill, v)
			}
		}
		topic := ns.Topic(row.Kind, fill...)
		got, p, ok := ns.Match(topic)
		if row.Kind == TopicTeleop && (p.Group != "" || p.Verb != "") {
			t.Errorf("%s: its pattern has no group and verb, got %+v", topic, p)
		}
		if !ok || got.Kind != row.Kind {
			t.Errorf("%s: found as %v %v", topic, got.Kind, ok)
		}
		for brace, want := range params {
			if strings.Contains(row.Pattern, brace) && p.Get(strings.Trim(brace, "{}")) != want {
				t.Errorf("%s: %s = %q", topic, brace, p.Get(strings.Trim(brace, "{}")))
			}
		}
	}
	for _, topic := range []string{"", "troupe/v1/", "troupe/v2/robots/r1/state", "troupe/v1/robots/R1/state", "troupe/v1/robots/r1/state/x",
		"troupe/v1/robots/r1", "troupe/v1/robots//state", "troupe/v1/robots/+/state", "troupe/v1/blobs/abc", "/troupe/v1/robots/r1/state"} {
		if row, _, ok := ns.Match(topic); ok {
			t.Errorf("%q is not a topic, but matches %s", topic, row.Kind)
		}
	}
}

func TestBareWordEqualsJSONArgument(t *testing.T) {
	v, _ := VerbOf("mode", "set")
	word, ps := DecodeRequest(v, []byte("ato\n"))
	if len(ps) != 0 {
		t.Fatal(ps)
	}
	obj, ps := DecodeRequest(v, []byte(`{"args":{"mode":"ato"}}`))
	if len(ps) != 0 || word != obj || word.Args.Mode != ModeAto {
		t.Errorf("word %+v, object %+v, %v", word, obj, ps)
	}
}

func TestBadCommandIsRefusedAtPointer(t *testing.T) {
	set, _ := VerbOf("mode", "set")
	start, _ := VerbOf("auto", "start")
	pause, _ := VerbOf("auto", "pause")
	say, _ := VerbOf("manual", "say")
	adopt, _ := VerbOf("sys", "adopt")
	long := strings.Repeat("x", MaxWord+1)
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
		{say, `{"id":"k1","args":{"text":"` + strings.Repeat("ä", MaxText+1) + `"}}`, "/args/text", "too_long", "k1"},
		{say, "\ufeffhello", "", "syntax", ""},
		{adopt, `{"id":"k1","args":{"fleet_id":"home"}}`, "/args/fleet_id", "bad_id", "k1"},
		{adopt, `{"id":"k1","args":{"fleet_id":""}}`, "/args/fleet_id", "bad_id", "k1"},
		{adopt, `B108326F-f261-4a6b-ad48-fee8efb991ba`, "/args/fleet_id", "bad_id", ""},
	} {
		r, ps := DecodeRequest(c.v, []byte(c.payload))
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
	v, _ := VerbOf("mode", "set")
	r, ps := DecodeRequest(v, []byte(`{"id":"k1","x_ticket":{"deep":[1,null]},"x_none":null,"args":{"mode":"ato","x_colour":"blue"}}`))
	if want := (Request{ID: "k1", Args: Args{Mode: ModeAto}}); len(ps) != 0 || r != want {
		t.Errorf("%+v, %v", r, ps)
	}
}

// Texts have a greater limit than words.
func TestTextsHaveTheirOwnLimit(t *testing.T) {
	say, _ := VerbOf("manual", "say")
	text := strings.Repeat("ä", MaxText)
	for _, payload := range []string{text, `{"args":{"text":"` + text + `"}}`} {
		if r, ps := DecodeRequest(say, []byte(payload)); len(ps) != 0 || r.Args.Text != text {
			t.Errorf("%.20s...: %d characters, %v", payload, utf8.RuneCountInString(r.Args.Text), ps)
		}
	}
}

// A stop with any texts is accepted, and its texts become printable and short.
func TestTextsOfStopAreTruncatedNotRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom([]string{"stop", "halt", "estop"}).Draw(t, "verb")
		verb, _ := VerbOf("safety", v)
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{strings.Repeat("x", 17000), strings.Repeat("\x01", 256), strings.Repeat("\"", 300), "\x1b[2J", "\ufeff"}))
		sent := Request{ID: "k1", By: text.Draw(t, "by"), Why: text.Draw(t, "why"), Batch: text.Draw(t, "batch"), Session: text.Draw(t, "session"), Args: Args{Why: text.Draw(t, "reason"), Latch: "l1"}}
		payload, err := EncodeRequest(verb, sent)
		if err != nil {
			t.Fatal(err)
		}
		got, ps := DecodeRequest(verb, payload)
		want := Request{ID: "k1", By: SanitizeText(sent.By), Why: SanitizeText(sent.Why), Batch: SanitizeText(sent.Batch), Session: SanitizeText(sent.Session), Args: Args{Why: SanitizeText(sent.Args.Why), Latch: "l1"}}
		if len(ps) != 0 || got != want {
			t.Fatalf("%+v became %+v, %v", sent, got, ps)
		}
	})
}

// The length is that in JSON.
func TestLegibleTextIsPrintableAndShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringN(100, 400, 1200), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 600), func(b []byte) string { return string(b) })).Draw(t, "text")
		got := SanitizeText(text)
		encoded, err := Encode(got)
		if err != nil {
			t.Fatal(err)
		}
		if !Printable(got) || len(encoded) > MaxWord+len(`""`) {
			t.Fatalf("%q became %q: %d bytes", text, got, len(encoded))
		}
		if again := SanitizeText(got); again != got {
			t.Fatalf("%q, once more %q", got, again)
		}
		if whole, err := Encode(text); err == nil && Printable(text) && (!strings.HasPrefix(text, got) || len(encoded) < min(len(whole), MaxWord-1)) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func TestRequestSurvivesEncoding(t *testing.T) {
	v, _ := VerbOf("mode", "set")
	want := Request{ID: "k1", TS: 1_700_000_000_123, TTLMS: 500, By: "ann", Why: "opening", Batch: "b1", Session: "s1", Seq: 3, If: Precondition{Mode: ModeMnl, StateSeq: 8, Session: "s2", StoryRev: 2}, Args: Args{Mode: ModeAto, Restart: true}}
	b, err := EncodeRequest(v, want)
	if err != nil {
		t.Fatal(err)
	}
	got, ps := DecodeRequest(v, b)
	if len(ps) != 0 || got != want {
		t.Errorf("%s: got %+v, %v", b, got, ps)
	}
}

func TestDocumentsIgnoreUnknownFields(t *testing.T) {
	doc := []byte(`{"state":"online","session":"s","boot":"b","new_in_1_2":{"deep":[1]}}`)
	if p, ps := Decode[Presence](doc); len(ps) != 0 || p.State != PresenceOnline {
		t.Errorf("%+v %v", p, ps)
	}
	if _, ps := DecodeStrict[Presence](doc); len(ps) != 1 || ps[0].Pointer != "/new_in_1_2" {
		t.Errorf("strict: %v", ps)
	}
	for _, bad := range []string{`[]`, `{"state":1}`, `{"state":"online"}`, `{"State":"online","session":"s"}`, "\xef\xbb\xbf{}", `{"a":9007199254740993}`, strings.Repeat(`{"a":`, 17) + "1" + strings.Repeat("}", 17)} {
		if _, ps := Decode[Presence]([]byte(bad)); len(ps) == 0 {
			t.Errorf("%s was accepted", bad)
		}
	}
}

// Brokers of older releases rely on this when they let an operator's unknown verb through.
// The two exceptions exist since the first release.
func TestVerbsOfOpenGroupsAreForOperators(t *testing.T) {
	for _, v := range Verbs {
		known := v.ID() == "mode/enable" || v.ID() == "mode/disable"
		if slices.Contains(OpenGroups, v.Group) && !v.Allows(RoleOperator) && !known {
			t.Errorf("%s is only for administrators; it belongs in a group that is not open", v.ID())
		}
		if v.Group == IntentGroup && !v.Allows(RoleResponder) {
			t.Errorf("%s is not for responders; it belongs in another group", v.ID())
		}
	}
	if MayAskUnknown("safety", RoleStop) || MayAskUnknown("sys", RoleOperator) || MayAskUnknown("robot", RoleOperator) || !MayAskUnknown("mode", RoleOperator) ||
		!MayAskUnknown("intent", RoleResponder) || MayAskUnknown("act", RoleResponder) || MayAskUnknown("mode", RoleResponder) || MayAskUnknown("intent", RoleStop) || MayAskUnknown("intent", RoleObserver) {
		t.Error("the roles that may send unlisted verbs have changed")
	}
}
