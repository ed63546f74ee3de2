package intent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"troupe/robotd/clock"
	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/intents"
)

// rig is the part with its effects.
type rig struct {
	State
	out effect.List
}

func newRig() *rig {
	c := Defaults()
	c.Rows = []intents.Row{{Intent: "go", Act: "walk"}, {Intent: "cheer-up", ResultingEmotion: "joy"}}
	return &rig{State: New(&c)}
}

func (r *rig) part(session string) Step {
	return Step{State: &r.State, Out: &r.out, Now: clock.Now{Wall: 1000}, Facts: Facts{Session: session, Boot: "boot"}}
}

// events lists the kinds of the events so far, and forgets all effects.
func (r *rig) events() string {
	var kinds []string
	for i := range r.out.Len() {
		if e, ok := r.out.At(i).(effect.Event); ok {
			kinds = append(kinds, e.Kind+" "+e.Cause)
		}
	}
	r.out.Cut(0)
	return strings.Join(kinds, ", ")
}

func TestBodyIsNotBelievedWhatNoClientMayPost(t *testing.T) {
	r := newRig()
	r.part("s").Heard(schema.Utterance{Name: "two words"})
	if got := r.events(); got != "intent_refused bad_request" || r.Document() != nil {
		t.Errorf("%s; the state is %+v", got, r.Document())
	}
}

func TestIntentIsPublishedWithinASession(t *testing.T) {
	for session, want := range map[string]int{"": 0, "s": 1} {
		r := newRig()
		r.part(session).Heard(schema.Utterance{Name: "cheer-up", Text: "It is your birthday"})
		published := 0
		for i := range r.out.Len() {
			if d, ok := r.out.At(i).(effect.Document); ok {
				published++
				if problems := d.Value.(*schema.Intent).Validate(); len(problems) > 0 || d.Topic != schema.TopicIntent {
					t.Errorf("%s %+v: %v", d.Topic, d.Value, problems)
				}
			}
		}
		if d := r.Document(); published != want || d.Emotion != "joy" || d.EmotionSince != 1000 || d.Newest.Source != body {
			t.Errorf("in session %q it publishes %d, and the state is %+v", session, published, d)
		}
	}
}

// TestRefusalOfEachReactionIsReported also lets many reactions wait: the newest ones are reported.
func TestRefusalOfEachReactionIsReported(t *testing.T) {
	r := newRig()
	var keys []command.Key
	heard := 0
	hear := func() {
		heard++
		p := r.part("s")
		p.Now.Mono = time.Duration(heard) * heardWithin
		p.Heard(schema.Utterance{Name: "go"})
	}
	for range 2 * maxReacting {
		hear()
		for i := range r.out.Len() {
			if p, ok := r.out.At(i).(effect.Dispatch); ok {
				keys = append(keys, p.Key)
			}
		}
		r.events()
	}
	if len(keys) != 2*maxReacting || len(r.reacting) != maxReacting || !FromBody(keys[0]) || FromBody("op1/x") {
		t.Fatalf("%d commands, %d remembered", len(keys), len(r.reacting))
	}
	reported := 0
	for _, k := range keys {
		r.part("s").Answered(k, schema.Verdict{Status: schema.StatusAccepted})
		r.part("s").Answered(k, schema.Verdict{Status: schema.StatusRejected, Reason: schema.ReasonNotInAto})
		if got := r.events(); got == fmt.Sprint("intent_refused ", schema.ReasonNotInAto) {
			reported++
		}
	}
	hear()
	r.events()
	r.part("s").Answered(r.reacting[0].key, schema.Verdict{Status: schema.StatusSucceeded})
	if got := r.events(); reported != maxReacting || got != "" || len(r.reacting) != 0 {
		t.Errorf("%d refusals were reported; success says %q; %d are remembered", reported, got, len(r.reacting))
	}
}

// TestBodyThatHearsTooMuchIsCutOff lets the body hear an intent every 10 ms for a minute.
func TestBodyThatHearsTooMuchIsCutOff(t *testing.T) {
	r := newRig()
	taken, refused := 0, 0
	for ms := range 6000 {
		p := r.part("s")
		p.Now.Mono = time.Duration(ms) * 10 * time.Millisecond
		p.Heard(schema.Utterance{Name: "cheer-up"})
		switch r.events() {
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
