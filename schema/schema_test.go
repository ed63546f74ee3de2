package schema

import (
	"strings"
	"testing"

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

// What keeps an activity from starting passes by itself, except that the robot lacks it.
func TestRefusedActivityMayBeAskedForLater(t *testing.T) {
	for _, r := range []Reason{ReasonInteractiveFocused, ReasonLacksPermission, ReasonCooldown} {
		if r.Describe().Retry != RetryLater {
			t.Errorf("%s: asking again is %s", r, r.Describe().Retry)
		}
	}
	if ReasonUnknownActivity.Describe().Retry != RetryAfterFix {
		t.Error("an activity that the robot lacks appears by itself")
	}
}

func TestEveryEventHasLevel(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Events {
		if seen[e.Type] || e.Text == "" || EventOf(e.Type) != e {
			t.Errorf("event %q: twice, or without text", e.Type)
		}
		seen[e.Type] = true
		switch e.Level {
		case EventInfo, EventWarn, EventError, EventSafety:
		default:
			t.Errorf("event %q has the level %q", e.Type, e.Level)
		}
	}
}

func TestEveryAlertHasText(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range Alerts {
		if seen[a.Type] || a.Type == "" || a.Text == "" {
			t.Errorf("alert %q: twice, or without text", a.Type)
		}
		seen[a.Type] = true
	}
}

func TestTopicsAreBuiltAndMatched(t *testing.T) {
	const ns = DefaultNamespace
	params := map[string]string{"{rid}": "r1", "{cid}": "op1", "{group}": "mode", "{verb}": "set", "{name}": "drive",
		"{sha256}": strings.Repeat("ab", 32)}
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

// The length is that in JSON.
func TestSanitizedTextIsPrintableAndShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringN(100, 400, 1200), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 600),
			func(b []byte) string { return string(b) })).Draw(t, "text")
		got := SanitizeText(text)
		encoded, err := Encode(got)
		if err != nil {
			t.Fatal(err)
		}
		if !Printable(got) || len(encoded) > MaxShortText+len(`""`) {
			t.Fatalf("%q became %q: %d bytes", text, got, len(encoded))
		}
		if again := SanitizeText(got); again != got {
			t.Fatalf("%q, once more %q", got, again)
		}
		if whole, err := Encode(text); err == nil && Printable(text) && (!strings.HasPrefix(text, got) ||
			len(encoded) < min(len(whole), MaxShortText-1)) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func TestPrintedAddressHasNoPassword(t *testing.T) {
	for address, want := range map[string]string{
		"mqtt://127.0.0.1:1883": "mqtt://127.0.0.1:1883", "127.0.0.1:1883": "127.0.0.1:1883",
		"mqtt://app:s3cr@host": "mqtt://...", "app:s3cr@host": "(not", "s3cr@h://x": "(not", "https://h/?key=s3cr": "https://...",
		"https://a:p#s3cr": "https://...",
	} {
		if got := PrintableURL(address); !strings.HasPrefix(got, want) || strings.Contains(got, "s3cr") {
			t.Errorf("%s is printed as %s", address, got)
		}
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
