package interrupts

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// rule is a valid rule with other or more fields.
func rule(fields string) string {
	return `[{"rule":"r","interrupter":"touch","handler":"h",` + fields + `}]`
}

func TestRefusedRulesSayWhere(t *testing.T) {
	for _, c := range []struct{ value, pointer, detail string }{
		{`{}`, "", ""},
		{`null`, "", "list"},
		{`[` + strings.Repeat(`{},`, MaxRules) + `{}]`, "", "at most 32"},
		{rule(`"signal":"touch"`), "/0/signal", "unknown field"},
		{`[{"rule":"R 1","on":"touch","interrupter":"touch","handler":"h"}]`, "/0/rule", "not a name"},
		{`[{"rule":"a","on":"touch","interrupter":"touch","handler":"h"},{"rule":"a","on":"touch","interrupter":"touch","handler":"h"}]`, "/1/rule", "twice"},
		{rule(`"for":"1s"`), "/0/on", "nothing says when"},
		{rule(`"on":"smell"`), "/0/on", "not a signal"},
		{rule(`"when":"touch","name":"head"`), "/0/on", "there is none"},
		{rule(`"on":"press","for":"1s"`), "/0/for", "cannot last"},
		{rule(`"on":"touch","above":1`), "/0/above", "no level"},
		{rule(`"on":"heat"`), "/0/above", "temperature"},
		{rule(`"on":"push","name":"x"`), "/0/name", "no name"},
		{rule(`"on":"touch","for":"soon"`), "/0/for", "not a duration"},
		{rule(`"on":"touch","cooldown":"25h"`), "/0/cooldown", "not a duration"},
		{rule(`"when":"peple > 0"`), "/0/when", "no key or function peple"},
		{rule(`"when":"since_s(\"tuch\") > 1.0"`), "/0/when", `no signal "tuch"`},
		{rule(`"when":"since_s(\"activity:Greet\") > 1.0"`), "/0/when", `no signal "activity:Greet"`},
		{rule(`"when":"people"`), "/0/when", "neither true nor false"},
		{`[{"rule":"r","on":"touch","interrupter":"operator","handler":"h"}]`, "/0/interrupter", "not an interrupter"},
	} {
		refused(t, RulesSetting, c.value, c.pointer, c.detail)
	}
	for _, fields := range []string{`"on":"heat","above":70,"when":"mode == \"ato\"","for":"2s","cooldown":"1m"`, `"when":"since_s(\"activity:greet\") > 60.0"`} {
		if _, problems := ParseRules(jsontext.Value(rule(fields))); len(problems) > 0 {
			t.Error(problems)
		}
	}
}

func TestRefusedHandlersSayWhere(t *testing.T) {
	one := func(fields string) string { return `[{"handler":"h",` + fields + `}]` }
	for _, c := range []struct{ value, pointer, detail string }{
		{one(`"act":"greet","do":1`), "/0/do", "unknown field"},
		{one(`"priority":5`), "/0", "0 of act"},
		{one(`"act":"greet","activity":"tour"`), "/0", "2 of act"},
		{`[{"handler":"power","act":"greet"}]`, "/0/handler", "cannot be replaced"},
		{one(`"actions":[]`), "/0/actions", "no action"},
		{one(`"actions":[{"type":"fly","start_ms":0}]`), "/0/actions/0/type", "not a type"},
		{one(`"actions":[{"type":"act","start_ms":0,"act":"greet"}]`), "/0/actions", "perform the act greet"},
		{one(`"activity":"tour","with":{"a":"b"}`), "/0/with", "no act"},
		{one(`"act":"greet","when":"touched"`), "/0/when", "no key or function touched"},
		{one(`"act":"greet","priority":101`), "/0/priority", "101"},
		{one(`"act":"greet","deadline":"2d"`), "/0/deadline", "not a duration"},
		{one(`"http":{"url":"ftp://host/"}`), "/0/http/url", "not an address"},
		{one(`"http":{"url":"http:///x"}`), "/0/http/url", "not an address"},
		{one(`"http":{"url":"http://me:secret@host/"}`), "/0/http/url", "password"},
		{one(`"http":{"url":"http://host/","timeout":"2m"}`), "/0/http/timeout", "not a duration"},
		{`[{"handler":"h","act":"a"},{"handler":"h","act":"a"}]`, "/1/handler", "twice"},
	} {
		refused(t, HandlersSetting, c.value, c.pointer, c.detail)
	}
	for _, fields := range []string{
		`"act":"greet","with":{"house":"library"},"when":"battery > 0.2","idle":"1m","deadline":"5m","priority":20,"preempt":true`,
		`"actions":[{"type":"face","start_ms":0,"face":"smile"}]`,
		`"activity":"tour"`, `"http":{"url":"https://host:8443/ask?x=1","timeout":"10s"}`,
	} {
		if _, problems := ParseHandlers(jsontext.Value(one(fields))); len(problems) > 0 {
			t.Error(fields, problems)
		}
	}
}

func refused(t *testing.T, setting, value, pointer, detail string) {
	t.Helper()
	problems := CheckSetting(setting, jsontext.Value(value))
	if len(problems) == 0 || problems[0].Pointer != pointer || !strings.Contains(problems[0].Detail, detail) ||
		problems[0].Severity != schema.SeverityError {
		t.Errorf("%s: %v, want one at %q about %q", value, problems, pointer, detail)
	}
}

func TestSignalsAreComplete(t *testing.T) {
	for _, row := range Signals {
		if row.Doc == "" || (row.Why == "") != (row.On+row.Off == 0) || row.Pulse && row.Off != 0 {
			t.Errorf("%+v", row)
		}
	}
}
