package intent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/config"
	"troupe/robotd/effect"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/intents"
)

// rig is the part with its effects.
type rig struct {
	State
	out effect.List
}

func newRig() *rig {
	c := config.Defaults("r1")
	c.Intents = []intents.Row{{Intent: "go", Act: "walk"}, {Intent: "cheer-up", ResultingEmotion: "joy"}}
	return &rig{State: New(&c)}
}

func (b *rig) part(session string) Step {
	return Step{State: &b.State, Out: &b.out, Now: clock.Now{Wall: 1000}, Facts: Facts{Session: session, Boot: "boot"}}
}

// events lists the kinds of the events so far, and forgets all effects.
func (b *rig) events() string {
	var kinds []string
	for i := range b.out.Len() {
		if e, ok := b.out.At(i).(effect.Event); ok {
			kinds = append(kinds, e.Kind+" "+e.Cause)
		}
	}
	b.out.Cut(0)
	return strings.Join(kinds, ", ")
}

func TestBodyIsNotBelievedWhatNoClientMayPost(t *testing.T) {
	b := newRig()
	b.part("s").Heard(schema.Utterance{Name: "two words"})
	if got := b.events(); got != "intent_refused bad_request" || b.Document() != nil {
		t.Errorf("%s; the state is %+v", got, b.Document())
	}
}

func TestIntentIsPublishedWithinASession(t *testing.T) {
	for session, want := range map[string]int{"": 0, "s": 1} {
		b := newRig()
		b.part(session).Heard(schema.Utterance{Name: "cheer-up", Text: "It is your birthday"})
		published := 0
		for i := range b.out.Len() {
			if d, ok := b.out.At(i).(effect.Document); ok {
				published++
				if problems := d.Value.(*schema.Intent).Validate(); len(problems) > 0 || d.Topic != schema.TopicIntent {
					t.Errorf("%s %+v: %v", d.Topic, d.Value, problems)
				}
			}
		}
		if d := b.Document(); published != want || d.Emotion != "joy" || d.EmotionSince != 1000 || d.Newest.Source != body {
			t.Errorf("in session %q it publishes %d, and the state is %+v", session, published, d)
		}
	}
}

// TestRefusalOfEachReactionIsReported also lets many reactions wait: the newest ones are reported.
func TestRefusalOfEachReactionIsReported(t *testing.T) {
	b := newRig()
	var keys []request.Key
	heard := 0
	hear := func() {
		heard++
		p := b.part("s")
		p.Now.Mono = time.Duration(heard) * heardWithin
		p.Heard(schema.Utterance{Name: "go"})
	}
	for range 2 * maxReacting {
		hear()
		for i := range b.out.Len() {
			if p, ok := b.out.At(i).(effect.Dispatch); ok {
				keys = append(keys, p.Key)
			}
		}
		b.events()
	}
	if len(keys) != 2*maxReacting || len(b.reacting) != maxReacting || !FromBody(keys[0]) || FromBody("op1/x") {
		t.Fatalf("%d commands, %d remembered", len(keys), len(b.reacting))
	}
	reported := 0
	for _, k := range keys {
		b.part("s").Answered(k, schema.Verdict{Status: schema.StatusAccepted})
		b.part("s").Answered(k, schema.Verdict{Status: schema.StatusRejected, Reason: schema.ReasonNotInAto})
		if got := b.events(); got == fmt.Sprint("intent_refused ", schema.ReasonNotInAto) {
			reported++
		}
	}
	hear()
	b.events()
	b.part("s").Answered(b.reacting[0].key, schema.Verdict{Status: schema.StatusSucceeded})
	if got := b.events(); reported != maxReacting || got != "" || len(b.reacting) != 0 {
		t.Errorf("%d refusals were reported; success says %q; %d are remembered", reported, got, len(b.reacting))
	}
}

// TestBodyThatHearsTooMuchIsCutOff lets the body hear an intent every 10 ms for a minute.
func TestBodyThatHearsTooMuchIsCutOff(t *testing.T) {
	b := newRig()
	taken, refused := 0, 0
	for ms := range 6000 {
		p := b.part("s")
		p.Now.Mono = time.Duration(ms) * 10 * time.Millisecond
		p.Heard(schema.Utterance{Name: "cheer-up"})
		switch b.events() {
		case "intent cheer-up":
			taken++
		case "intent_refused busy":
			refused++
		}
	}
	if taken != 6*maxHeard || refused != 6 {
		t.Errorf("of a minute %d intents were taken and %d events say that more are dropped, want %d and 6", taken, refused, 6*maxHeard)
	}
}
