package desired

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/fleetd/audit"
	"troupe/schema"
	"troupe/schema/sign"
)

var by = audit.Attribution{Who: "ann", At: time.UnixMilli(1_700_000_000_000)}

// applyChanges returns the rows after applying a plan.
func applyChanges(rows Rows, c Changes) Rows {
	for _, w := range c.Documents {
		for i := range rows.Robots {
			if rows.Robots[i].ID == w.ID {
				rows.Robots[i].Current = w.Current
			}
		}
	}
	rows.Signer.Counter = c.Counter
	return rows
}

func value(text string) map[string]jsontext.Value {
	return map[string]jsontext.Value{"boot_mode": jsontext.Value(text)}
}

func TestUnchangedDocumentIsNotPublishedAgain(t *testing.T) {
	places := []byte(`{"schema":1,"points":{"door":{"x_m":1,"y_m":2}}}`)
	for _, c := range []struct {
		name          string
		ask, other    Request
		updatedAgain  int // how many robots get a document when the same is requested again
		wantedPayload string
	}{
		{"settings", Request{Config: &Config{Set: value(`"ato"`)}}, Request{Config: &Config{Set: value(`"mnl"`)}}, 0, `{"rev":1,"fleet_id":"fleetd","values":{"boot_mode":"ato","labels":{"site":"museum"}},"by":"ann","ts":"2023-11-14T22:13:20.000Z"}`},
		{"mode", Request{Mode: &Mode{Mode: "ato"}}, Request{Mode: &Mode{Mode: "mnl"}}, 0, `{"rev":1,"fleet_id":"fleetd","mode":"ato","apply":"boot","by":"ann","ts":"2023-11-14T22:13:20.000Z"}`},
		{"mode, apply now", Request{Mode: &Mode{Mode: "ato", Apply: schema.ApplyModeNow}}, Request{Mode: &Mode{Mode: "ato"}}, 1, `{"rev":1,"fleet_id":"fleetd","mode":"ato","apply":"now","by":"ann","ts":"2023-11-14T22:13:20.000Z"}`},
		{"places", Request{Places: &Set{ID: "hall", Body: places}}, Request{Places: &Set{}}, 0, ""},
	} {
		rows := Rows{FleetID: "fleetd", Robots: []Robot{{ID: "r1", Labels: map[string]string{"site": "museum"}}}}
		first, found := Plan(rows, c.ask, by)
		if len(found) > 0 || len(first.Updated) != 1 {
			t.Errorf("%s: %v %+v", c.name, found, first)
			continue
		}
		if got := string(first.Documents[0].Current.Payload); c.wantedPayload != "" && got != c.wantedPayload {
			t.Errorf("%s: published\n%s, want\n%s", c.name, got, c.wantedPayload)
		}
		rows = applyChanges(rows, first)
		if same, _ := Plan(rows, c.ask, by); len(same.Updated) != c.updatedAgain {
			t.Errorf("%s: requested again, %d robots get a document", c.name, len(same.Updated))
		}
		next, _ := Plan(rows, c.other, by)
		if len(next.Updated) != 1 || next.Documents[0].Current.Rev != 2 {
			t.Errorf("%s: another request led to %+v", c.name, next.Documents)
		}
	}
}

// TestLongValuesAreComparedInFull changes a table behind what the audit has room for.
func TestLongValuesAreComparedInFull(t *testing.T) {
	table := func(last string) Request {
		var rows strings.Builder
		for i := range 60 {
			fmt.Fprintf(&rows, `{"intent":"greet-%d","act":"greet-the-visitors-of-this-hall"},`, i)
		}
		return Request{Config: &Config{Set: map[string]jsontext.Value{"intents": jsontext.Value("[" + rows.String() + `{"intent":"` + last + `","act":"greet"}]`)}}}
	}
	rows := Rows{FleetID: "fleetd", Robots: []Robot{{ID: "r1"}}}
	first, found := Plan(rows, table("wave"), by)
	if len(found) > 0 {
		t.Fatal(found)
	}
	rows = applyChanges(rows, first)
	next, _ := Plan(rows, table("nods"), by)
	if len(next.Documents) != 1 || !bytes.Equal(next.Documents[0].Previous, first.Documents[0].Current.Payload) {
		t.Errorf("a revert does not lead back to the table before: %+v", next.Documents)
	}
	if len(next.After) > 3000 {
		t.Errorf("the audit gets %d bytes", len(next.After))
	}
}

func TestSetIsPinnedByDigest(t *testing.T) {
	rows := Rows{FleetID: "fleetd", Robots: []Robot{{ID: "r1"}, {ID: "r2"}}}
	c, found := Plan(rows, Request{Places: &Set{ID: "hall", Body: []byte(`{"schema":1,"points":{}}`)}}, by)
	if len(found) > 0 || c.Blob == nil || len(c.Documents) != 2 {
		t.Fatalf("%v %+v", found, c)
	}
	d, problems := schema.Decode[schema.DesiredSet](c.Documents[1].Current.Payload)
	if len(problems) > 0 || d.Set == nil || d.Set.SHA256 != c.SHA256 || d.Set.Size != int64(len(c.Blob)) {
		t.Errorf("%+v does not name the bytes %s", d.Set, c.SHA256)
	}
}

func TestSetWithUnknownFileIsRefused(t *testing.T) {
	gong, bell := strings.Repeat("a", 64), strings.Repeat("b", 64)
	rows := Rows{FleetID: "fleetd", Robots: []Robot{{ID: "r1"}}, Files: map[string]int64{gong: 9}}
	set := func(digest string) Request {
		return Request{Places: &Set{ID: "hall", Body: fmt.Appendf(nil, `{"schema":1,"points":{},"map":{"name":"hall","kind":"map","sha256":%q,"size":9}}`, digest)}}
	}
	c, found := Plan(rows, set(gong), by)
	if len(found) > 0 || len(c.Files) != 1 || c.Files[0].SHA256 != gong {
		t.Errorf("with a known file: %v, %+v", found, c.Files)
	}
	if c, found = Plan(rows, set(bell), by); len(found) != 1 || found[0].Pointer != "/places/body/map/sha256" || found[0].Hint == "" ||
		c.Blob != nil {
		t.Errorf("with an unknown one: %v", found)
	}
	rows.Files[gong] = 8
	if _, found = Plan(rows, set(gong), by); len(found) != 1 {
		t.Errorf("with another size: %v", found)
	}
}

func TestUnnamedSettingsStayAndLabelsAreAdded(t *testing.T) {
	rows := Rows{FleetID: "fleetd", Robots: []Robot{{ID: "r1"}}}
	one, _ := Plan(rows,
		Request{Config: &Config{Set: map[string]jsontext.Value{"low_battery": jsontext.Value("0.1"), "event_rate": jsontext.Value("2")}}}, by)
	rows = applyChanges(rows, one)
	rows.Robots[0].Labels = map[string]string{"site": "shop"}
	two, _ := Labels(rows, by)
	rows = applyChanges(rows, two)
	if none, _ := Labels(rows, by); len(none.Updated) != 0 {
		t.Errorf("unchanged labels are published again")
	}
	three, _ := Plan(rows, Request{Config: &Config{Unset: []string{"low_battery"}}}, by)
	d, _ := schema.Decode[schema.DesiredConfig](three.Documents[0].Current.Payload)
	if got := fmt.Sprintln(d.Rev, string(d.Values["event_rate"]), string(d.Values["labels"]), len(d.Values)); got !=
		"3 2 {\"site\":\"shop\"} 2\n" {
		t.Errorf("desired %s", got)
	}
	if _, found := Plan(rows, Request{Config: &Config{Set: map[string]jsontext.Value{"labels": jsontext.Value(`{}`)}}}, by); len(found) != 1 || found[0].Code != CodeReserved {
		t.Errorf("labels are accepted as a setting: %v", found)
	}
	if quiet, _ := Labels(Rows{Robots: []Robot{{ID: "r2"}}}, by); len(quiet.Updated) != 0 {
		t.Error("a document without labels is published to a robot that never had one")
	}
}

func TestInvalidRequestIsRefusedWithPointer(t *testing.T) {
	rows := Rows{Robots: []Robot{{ID: "r1"}}}
	two := 2
	for _, c := range []struct {
		rows    Rows
		ask     Request
		pointer string
	}{
		{Rows{}, Request{Mode: &Mode{Mode: "ato"}}, "/selector"},
		{rows, Request{Mode: &Mode{Mode: "ato"}, Expected: &two}, "/expected_count"},
		{rows, Request{Mode: &Mode{Mode: "safe"}}, "/mode/mode"},
		{rows, Request{Mode: &Mode{Mode: "str"}}, "/mode/mode"},
		{rows, Request{Mode: &Mode{Mode: "ato", Apply: "soon"}}, "/mode/apply"},
		{rows, Request{Config: &Config{}}, "/config"},
		{rows, Request{Config: &Config{Set: value(`ato`)}}, "/config/set/boot_mode"},
		{rows, Request{Config: &Config{Set: value(`"flying"`)}}, "/config/set/boot_mode"},
		{rows, Request{Config: &Config{Set: map[string]jsontext.Value{"interrupts.rules": jsontext.Value(`[{"rule":"r","when":"peple > 0","interrupter":"ai","handler":"h"}]`)}}}, "/config/set/interrupts.rules/0/when"},
		{rows, Request{Config: &Config{Set: map[string]jsontext.Value{"langauge": jsontext.Value(`"de"`)}}}, "/config/set/langauge"},
		{rows, Request{Config: &Config{Unset: []string{"langauge"}}}, "/config/unset"},
		{rows, Request{Places: &Set{ID: "Hall", Body: []byte(`{}`)}}, "/places/id"},
		{rows, Request{Places: &Set{ID: "hall", Body: []byte(`{"schema":9,"points":{}}`)}}, "/places/body/schema"},
	} {
		made, found := Plan(c.rows, c.ask, by)
		if len(found) == 0 || found[0].Pointer != c.pointer || len(made.Documents) != 0 {
			t.Errorf("%+v: refused with %v, want %s; %d desired documents", c.ask, found, c.pointer, len(made.Documents))
		}
	}
}

func TestSignedDocumentsHaveDistinctCountersAndVerify(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	ring := sign.Ring{sign.PublicKey(sign.SignsDesired, key)}
	rows := Rows{FleetID: "fleetd", Signer: sign.Signer{Key: key, Counter: 40}, Robots: []Robot{{ID: "r1"}, {ID: "r2"}}}
	c, found := Plan(rows, Request{Config: &Config{Set: value(`"ato"`)}}, by)
	first := max(41, by.At.UnixMilli())
	if len(found) > 0 || c.Counter != first+1 {
		t.Fatalf("counter %d, %v", c.Counter, found)
	}
	for i, w := range c.Documents {
		d, problems := schema.Decode[schema.DesiredConfig](w.Current.Payload)
		if len(problems) > 0 || d.Counter != first+int64(i) {
			t.Errorf("%s has counter %d, %v", w.ID, d.Counter, problems)
		}
		sum, err := sign.Digest(w.Current.Payload)
		said := sign.Subject{Kind: sign.Config, Robot: w.ID, Document: sum}
		if err == nil {
			err = ring.Verify(said, d.Sig)
		}
		if err != nil {
			t.Errorf("%s: %v", w.ID, err)
		}
		if said.Robot = "r9"; ring.Verify(said, d.Sig) == nil {
			t.Error("the signature verifies for another robot")
		}
	}
}

// A robot that trusts release keys refuses content whose release nobody signed.
func TestReleaseOfPlacesIsSigned(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := Rows{FleetID: "fleetd", Signer: sign.Signer{Key: key, Release: key}, Robots: []Robot{{ID: "r1"}}}
	c, found := Plan(rows, Request{Places: &Set{ID: "hall", Body: []byte(`{"schema":1,"points":{}}`)}}, by)
	if len(found) > 0 {
		t.Fatal(found)
	}
	d, _ := schema.Decode[schema.DesiredSet](c.Documents[0].Current.Payload)
	ring := sign.Ring{sign.PublicKey(sign.SignsReleases, key)}
	if err := ring.VerifyRelease(sign.ReleaseOf(sign.Places, *d.Set), d.Released); err != nil {
		t.Error(err)
	}
}

func TestUnsignedDocumentsArePublishedAgainWithKey(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]Request{
		"settings":  {Config: &Config{Set: value(`"ato"`)}},
		"a mode":    {Mode: &Mode{Mode: "ato"}},
		"places":    {Places: &Set{ID: "hall", Body: []byte(`{"schema":1,"points":{}}`)}},
		"no places": {Places: &Set{}},
	} {
		rows := Rows{FleetID: "fleetd", Robots: []Robot{{ID: "r1"}}}
		if ask.Places != nil {
			set, _ := Plan(rows, Request{Places: &Set{ID: "shop", Body: []byte(`{"schema":1,"points":{}}`)}}, by)
			rows = applyChanges(rows, set)
		}
		first, _ := Plan(rows, ask, by)
		rows = applyChanges(rows, first)
		rows.Signer.Key = key
		second, _ := Plan(rows, ask, by)
		if len(second.Updated) != 1 {
			t.Errorf("%s: the document stays unsigned", name)
			continue
		}
		rows = applyChanges(rows, second)
		if third, _ := Plan(rows, ask, by); len(third.Updated) != 0 {
			t.Errorf("%s: the signed document is published again", name)
		}
		rows.Signer.Release = key
		released, _ := Plan(rows, ask, by)
		if withContent := name == "places"; len(released.Updated) == 1 != withContent {
			t.Errorf("%s: with a release key %v is published again", name, released.Updated)
		}
		rows = applyChanges(rows, released)
		if again, _ := Plan(rows, ask, by); len(again.Updated) != 0 {
			t.Errorf("%s: the released document is published again", name)
		}
	}
}

func TestPlacesOfARobotWithoutPlacesAreNotClearedWithKey(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := Rows{FleetID: "fleetd", Signer: sign.Signer{Key: key}, Robots: []Robot{{ID: "r1"}}}
	if c, found := Plan(rows, Request{Places: &Set{}}, by); len(found) > 0 || len(c.Unchanged) != 1 {
		t.Errorf("%v %+v", found, c)
	}
}

// A mode that is published again only for its signature is no change: a revert leads to the mode before.
func TestModeWithoutApplyIsApplyBoot(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := Rows{FleetID: "fleetd", Robots: []Robot{{ID: "r1"}}}
	ask := Request{Mode: &Mode{Mode: "ato"}}
	first, _ := Plan(rows, ask, by)
	if first.Note != "mode ato boot" || first.After != `{"apply":"boot","mode":"ato"}` {
		t.Errorf("the audit says %q, %s", first.Note, first.After)
	}
	rows = applyChanges(rows, first)
	rows.Robots[0].Previous = []byte(`{"mode":"mnl"}`)
	rows.Signer.Key = key
	again, _ := Plan(rows, ask, by)
	if len(again.Documents) != 1 || string(again.Documents[0].Previous) != `{"mode":"mnl"}` {
		t.Errorf("a revert leads to another mode than the one before: %+v", again.Documents)
	}
	if ask.Mode.Apply != "" {
		t.Error("the request was changed, with which the transaction may run again")
	}
}

func TestUnknownSettingNamesTheNearest(t *testing.T) {
	for key, want := range map[string]string{"lowbattery": "did you mean low_battery? settings are labels, ", "x": "settings are labels, "} {
		if p := unknownKey("/config/set/"+key, key); !strings.HasPrefix(p.Hint, want) {
			t.Errorf("%s: %s", key, p.Hint)
		}
	}
}

func TestModeIsGivenBackNowOnlyIfTheRolloutAppliedNow(t *testing.T) {
	for _, c := range []struct{ asked, had, want schema.ApplyMode }{
		{schema.ApplyModeBoot, schema.ApplyModeNow, schema.ApplyModeBoot},
		{"", schema.ApplyModeNow, schema.ApplyModeBoot},
		{schema.ApplyModeNow, schema.ApplyModeNow, schema.ApplyModeNow},
		{schema.ApplyModeNow, schema.ApplyModeBoot, schema.ApplyModeBoot},
	} {
		got := Before(Request{Mode: &Mode{Mode: "mnl", Apply: c.asked}}, []byte(`{"mode":"ato","apply":"`+string(c.had)+`"}`))
		if want := (Mode{Mode: "ato", Apply: c.want}); *got.Mode != want {
			t.Errorf("a mode was asked for with apply %q after ato with %q: %+v is given back, not %+v", c.asked, c.had, *got.Mode, want)
		}
	}
}
