package brain

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"troupe/robotd/driver"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema"
)

// TestTextFromTheDriverIsMadePrintable lets it say bytes that are no text, and far too many.
// Everything that the robot publishes afterwards can be decoded and fits its topic.
func TestTextFromTheDriverIsMadePrintable(t *testing.T) {
	for _, word := range []string{"bus \xff error", strings.Repeat("long ", 5000), strings.Repeat("ä", 5000), "\xff" +
		strings.Repeat("\xe2", 9000)} {
		for _, ev := range []driver.Event{
			{Kind: driver.Unit, Unit: "drive", State: driver.Error, Detail: word},
			{Kind: driver.Unit, Unit: "face", State: driver.Error, Detail: word},
			{Kind: driver.Unit, Unit: "face", State: driver.State(word)},
			{Kind: driver.Unit, Unit: "drive", State: driver.State(word)},
			{Kind: driver.Sensed, Signal: driver.EStopInput, Name: word, On: true},
			{Kind: driver.Waits, Unit: word, Reason: schema.Reason(word)},
		} {
			r := newRig(t)
			documents := 0
			r.sent = func(p effect.Publish) {
				documents++
				if most := schema.TopicOf(p.Topic).MaxBytes; len(p.Payload) > most || !utf8.Valid(p.Payload) {
					t.Errorf("%s %s %.20q: %s has %d of %d bytes", ev.Kind, ev.Unit, word, p.Topic, len(p.Payload), most)
				}
			}
			r.calibTime = time.Hour // the end of the first calibration is given below
			r.bootConnected("a")
			r.give(event.Reported{Event: ev})
			r.give(event.Calibrated{Run: 1, Reason: schema.Reason(word), Detail: word})
			r.give(event.Command{Client: "op1", Group: "safety", Verb: "enable"})
			r.until(2 * time.Second)
			if documents == 0 {
				t.Error("the robot published nothing")
			}
		}
	}
}
