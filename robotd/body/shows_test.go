package body

import (
	"strings"
	"testing"

	"troupe/robotd/act"
	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/safety"
	"troupe/schema"
	"troupe/schema/score"
)

func TestStateSaysWhatUnitsShow(t *testing.T) {
	b := New(driver.Body{Units: []schema.Unit{{ID: "face", Kind: schema.UnitFace}, {ID: "speaker", Kind: schema.UnitSpeaker}}})
	command := func(key uint64, unit, text string, holds bool, do score.Face) {
		t.Helper()
		o := act.Effect{Key: key, Unit: unit, Text: text, Holds: holds, Do: &score.Action{Do: do}}
		if _, why, detail := b.Command(enabled, safety.Act, &o, &effect.List{}); why != "" {
			t.Fatalf("%s: %s %s", unit, why, detail)
		}
	}
	shows := func(when, face, speaker string) {
		t.Helper()
		if now := b.UnitStates(); now[0].Shows != face || now[1].Shows != speaker {
			t.Errorf("%s: the face shows %q and the speaker %q, want %q and %q", when, now[0].Shows, now[1].Shows, face, speaker)
		}
	}
	shows("at first", "", "")
	command(1, "face", "", false, score.Face{Face: "smile"})
	b.Ended(1)
	shows("after a face was set", "smile", "")
	command(2, "face", "", true, score.Face{Face: "laugh"})
	command(3, "speaker", "Hello", true, score.Face{})
	shows("while two commands hold", "laugh", "Hello")
	b.Ended(3)
	shows("when nothing is said any more", "laugh", "")
	b.Ended(2)
	shows("when the face that was held is over", "smile", "")
	command(4, "speaker", strings.Repeat("ä", 200), true, score.Face{})
	shows("a long text", "smile", strings.Repeat("ä", 60))
	b.Failed(4)
	shows("after a text that was not said to its end", "smile", "")
	command(5, "face", "", false, score.Face{Face: "wink"})
	b.Failed(1)
	shows("after a report about an earlier command", "wink", "")
	b.Failed(5)
	shows("after a face that could not be set", "", "")
}

// A kind that is added later shows what was set, too, but for those that are quiet or at rest afterwards.
func TestUnitsOfEveryKindButSpeakersAndDrivesShowWhatWasSet(t *testing.T) {
	for _, kind := range append([]schema.UnitKind{"added-later"}, schema.UnitKinds...) {
		b := New(driver.Body{Units: []schema.Unit{{ID: "unit", Kind: kind}}})
		o := act.Effect{Key: 1, Unit: "unit", Do: &score.Action{Do: score.Face{Face: "smile"}}}
		if _, why, detail := b.Command(enabled, safety.Act, &o, &effect.List{}); why != "" {
			t.Fatalf("%s: %s %s", kind, why, detail)
		}
		b.Ended(1)
		want := "smile"
		if kind == schema.UnitSpeaker || kind == schema.UnitDrive {
			want = ""
		}
		if now := b.UnitStates(); now[0].Shows != want {
			t.Errorf("a %s shows %q, want %q", kind, now[0].Shows, want)
		}
	}
}

func TestStateIsPublishedForThePositionAfterAMetre(t *testing.T) {
	b := newBody()
	for _, c := range []struct {
		x         float64
		published bool
	}{{0, true}, {0.4, false}, {0.9, false}, {1.1, true}, {1.9, false}, {0.2, false}, {0.05, true}} {
		var out effect.List
		Step(&b, driver.Event{Kind: driver.Position, X: c.x}, &out)
		if published := out.Len() > 0; published != c.published || b.Place().XM != c.x {
			t.Errorf("at %g m: published: %t, want %t; the state has %+v", c.x, published, c.published, b.Place())
		}
	}
}
