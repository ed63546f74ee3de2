package recorder

import (
	"slices"
	"strings"
	"testing"

	"troupe/schema"
)

func TestEachRecordIsALineForPeople(t *testing.T) {
	for i, want := range []string{
		"ENABLED ato performing, battery run, drive run, face run, head run, led run, screen run, speaker run, demanded 0.30 m/s -0.10 rad/s, " +
			"sent 0.30 m/s -0.10 rad/s, measured 0.30 m/s -0.10 rad/s",
		"head: error (too hot)",
		`start head: {"type":"head","start_ms":0,"yaw_rad":1.5} demanded {"type":"head","start_ms":0,"yaw_rad":9}`,
		"run",
		`op1 safety/stop {"text":"not JSON"}`,
		"op1 a1 SUCCEEDED",
		"info booted robotd",
		"safety: DISABLED -> ENABLED (it was requested)",
		"warn device_hot head",
		`heard {"name":"greet","confidence":0.8}`,
		"3 records are missing here: the disk was too slow or refused them, or they could not be encoded",
	} {
		r := oneOfEach()[i]
		text, err := encode(r)
		if err != nil {
			t.Fatal(err)
		}
		var lines Lines
		if got := lines.Of(channels[channelOf(r)-1].topic, text); got != want {
			t.Errorf("%s\n got %s\nwant %s", channels[channelOf(r)-1].topic, got, want)
		}
	}
	refused, err := encode(Answer{Client: "op1",
		Ack: []byte(`{"id":"a2","verb":"manual/goto","status":"REJECTED","reason":"out_of_range","pointer":"/args/x_m","detail":"100 is outside"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := (&Lines{}).Of("/answer", refused), "op1 manual/goto a2 REJECTED out_of_range (/args/x_m: 100 is outside)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTheEndOfAnActionNamesItsUnit(t *testing.T) {
	var lines Lines
	var got []string
	for _, a := range []Action{{What: "start", Key: 7, Unit: "speaker", Text: "hello"},
		{What: "failed", Key: 7, Reason: schema.ReasonTimeout, Detail: "no report"}} {
		text, err := encode(a)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, lines.Of("/action", text))
	}
	if want := []string{`start speaker: "hello"`, "failed speaker (timeout; no report)"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAnActionIsDemandedOnlyIfItDiffersFromWhatWasSent(t *testing.T) {
	const sent = `{"type":"say","text":{"en":"Hello","de":"Hallo"},"volume":0.5}`
	for demanded, want := range map[string]string{
		`{"type":"say","volume":0.5,"text":{"de":"Hallo","en":"Hello"}}`: "start speaker: " + sent,
		`{"type":"say","text":{"de":"Hallo","en":"Hello"},"volume":0.8}`: "start speaker: " + sent +
			` demanded {"type":"say","text":{"de":"Hallo","en":"Hello"},"volume":0.8}`,
	} {
		message := `{"what":"start","key":7,"unit":"speaker","demanded":` + demanded + `,"sent":` + sent + `}`
		if got := (&Lines{}).Of("/action", []byte(message)); got != want {
			t.Errorf("\n got %s\nwant %s", got, want)
		}
	}
}

func TestALineIsPrintableAndCutOff(t *testing.T) {
	var lines Lines
	if got := lines.Of("/later", []byte("{\"a\":\"\x1b[2J\"}")); got != `{"a":"?[2J"}` {
		t.Errorf("%q", got)
	}
	long := lines.Of("/later", []byte(strings.Repeat("x", maxLine+1)))
	if len(long) != maxLine+len(" ...") || !strings.HasSuffix(long, "x ...") {
		t.Errorf("%d characters, %q", len(long), long[maxLine-1:])
	}
}
